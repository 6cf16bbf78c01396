"""Routers that others use, written anew from their sources, as a yardstick."""

from tarry.scenarios.routers.epsilon_greedy import EpsilonGreedy
from tarry.scenarios.routers.least_request import LeastRequest
from tarry.scenarios.routers.locality_aware import LocalityAware
from tarry.scenarios.routers.lowest_mean import LowestMean
from tarry.scenarios.routers.oracle import Oracle
from tarry.scenarios.routers.peak_ewma import PeakEWMA
from tarry.scenarios.routers.protocol import RouterSetting, RouterSettings, RunningRouter
from tarry.scenarios.routers.round_robin import RoundRobin

__all__ = [
    "EpsilonGreedy",
    "LeastRequest",
    "LocalityAware",
    "LowestMean",
    "Oracle",
    "PeakEWMA",
    "RoundRobin",
    "RouterSetting",
    "RouterSettings",
    "RunningRouter",
]
