"""Scenarios in virtual time: routes that break, recover and drift, and who copes with it.

>>> from tarry.scenarios import LogNormal, Oracle, Scenario, simulate
>>> scenario = Scenario("calm", [LogNormal(0.05), LogNormal(0.08)], seconds=60.0)
>>> simulate(scenario, Oracle(), seed=1)
<Traffic of Oracle(), 'calm', seed 1: 5986 requests, 50.7 ms on average>
"""

from tarry.scenarios.catalogue import catalogue
from tarry.scenarios.laws import (
    Constant,
    Exponential,
    Fails,
    Hangs,
    LatencyLaw,
    LogNormal,
    Mixture,
    bimodal,
    slower,
)
from tarry.scenarios.measures import Measures, measure
from tarry.scenarios.routers import (
    EpsilonGreedy,
    LeastRequest,
    LocalityAware,
    LowestMean,
    Oracle,
    PeakEWMA,
    RoundRobin,
    RouterSetting,
    RunningRouter,
)
from tarry.scenarios.scenario import Backend, Bursts, Change, Scenario
from tarry.scenarios.simulate import simulate
from tarry.scenarios.traffic import Traffic

__all__ = [
    "Backend",
    "Bursts",
    "Change",
    "Constant",
    "EpsilonGreedy",
    "Exponential",
    "Fails",
    "Hangs",
    "LatencyLaw",
    "LeastRequest",
    "LocalityAware",
    "LogNormal",
    "LowestMean",
    "Measures",
    "Mixture",
    "Oracle",
    "PeakEWMA",
    "RoundRobin",
    "RouterSetting",
    "RunningRouter",
    "Scenario",
    "Traffic",
    "bimodal",
    "catalogue",
    "measure",
    "simulate",
    "slower",
]
