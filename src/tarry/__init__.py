"""Bandits that learn while they wait: the payoff of a play is the delay of its answer.

The names below are loaded when they are first used, so that `import tarry` is quick and pulls in
neither a compiler nor a plotting library.
"""

import importlib
import time
from typing import TYPE_CHECKING, Any

from tarry._version import __version__

_imported_at = time.time()  # sources changed later are not those that this process runs

_HOME = {
    "Agent": "tarry.live",
    "Play": "tarry.live",
    "play": "tarry.simulation.play",
    "Run": "tarry.simulation.play",
    "InterpretedWarning": "tarry.simulation.play",
    "connect": "tarry.service.client",
    "compare": "tarry.experiments.compare",
    "identify": "tarry.experiments.identification",
    "plan": "tarry.experiments.identification",
    "Result": "tarry.experiments.result",
    "load": "tarry.experiments.result_folder",
    "Log": "tarry.logs",
    "cyclic": "tarry.live.features",
    "numeric": "tarry.live.features",
    "POLICIES": "tarry.policies",
    "Setting": "tarry.policies",
    "Uniform": "tarry.policies",
    "BDSE": "tarry.policies",
    "BHSE": "tarry.policies",
    "CensoredUCB": "tarry.policies",
    "CSE": "tarry.policies",
    "OPSE": "tarry.policies",
    "RSE": "tarry.policies",
    "SEPK": "tarry.policies",
    "SE": "tarry.policies",
    "DelayedUCB": "tarry.policies",
    "KLUCB": "tarry.policies",
    "MOSS": "tarry.policies",
    "IMED": "tarry.policies",
    "BayesUCB": "tarry.policies",
    "QPMD": "tarry.policies",
    "DelayedThompson": "tarry.policies",
    "SurvivalThompson": "tarry.policies",
    "SurvivalUCB": "tarry.policies",
    "IncrementUCB": "tarry.policies",
    "RegimeThompson": "tarry.policies",
    "DiscountedThompson": "tarry.policies",
    "WindowThompson": "tarry.policies",
    "FadingThompson": "tarry.policies",
    "CUSUMUCB": "tarry.policies",
    "SurvivalRegression": "tarry.policies",
    "SegmentThompson": "tarry.policies",
    "LinearThompson": "tarry.policies",
    "LinUCB": "tarry.policies",
    "DelayedFTRL": "tarry.policies",
    "AccrualFTRL": "tarry.policies",
}
_MODULES = (
    "errors",
    "experiments",
    "ledger",
    "live",
    "logs",
    "policies",
    "problems",
    "scenarios",
    "simulation",
    "theory",
)

if TYPE_CHECKING:
    from tarry import errors as errors
    from tarry import experiments as experiments
    from tarry import ledger as ledger
    from tarry import live as live
    from tarry import logs as logs
    from tarry import policies as policies
    from tarry import problems as problems
    from tarry import scenarios as scenarios
    from tarry import simulation as simulation
    from tarry import theory as theory
    from tarry.experiments.compare import compare as compare
    from tarry.experiments.identification import identify as identify
    from tarry.experiments.identification import plan as plan
    from tarry.experiments.result import Result as Result
    from tarry.experiments.result_folder import load as load
    from tarry.live import Agent as Agent
    from tarry.live import Play as Play
    from tarry.live.features import cyclic as cyclic
    from tarry.live.features import numeric as numeric
    from tarry.logs import Log as Log
    from tarry.policies import BDSE as BDSE
    from tarry.policies import BHSE as BHSE
    from tarry.policies import CSE as CSE
    from tarry.policies import CUSUMUCB as CUSUMUCB
    from tarry.policies import IMED as IMED
    from tarry.policies import KLUCB as KLUCB
    from tarry.policies import MOSS as MOSS
    from tarry.policies import OPSE as OPSE
    from tarry.policies import POLICIES as POLICIES
    from tarry.policies import QPMD as QPMD
    from tarry.policies import RSE as RSE
    from tarry.policies import SE as SE
    from tarry.policies import SEPK as SEPK
    from tarry.policies import AccrualFTRL as AccrualFTRL
    from tarry.policies import BayesUCB as BayesUCB
    from tarry.policies import CensoredUCB as CensoredUCB
    from tarry.policies import DelayedFTRL as DelayedFTRL
    from tarry.policies import DelayedThompson as DelayedThompson
    from tarry.policies import DelayedUCB as DelayedUCB
    from tarry.policies import DiscountedThompson as DiscountedThompson
    from tarry.policies import FadingThompson as FadingThompson
    from tarry.policies import IncrementUCB as IncrementUCB
    from tarry.policies import LinearThompson as LinearThompson
    from tarry.policies import LinUCB as LinUCB
    from tarry.policies import RegimeThompson as RegimeThompson
    from tarry.policies import SegmentThompson as SegmentThompson
    from tarry.policies import Setting as Setting
    from tarry.policies import SurvivalRegression as SurvivalRegression
    from tarry.policies import SurvivalThompson as SurvivalThompson
    from tarry.policies import SurvivalUCB as SurvivalUCB
    from tarry.policies import Uniform as Uniform
    from tarry.policies import WindowThompson as WindowThompson
    from tarry.service.client import connect as connect
    from tarry.simulation.play import InterpretedWarning as InterpretedWarning
    from tarry.simulation.play import Run as Run
    from tarry.simulation.play import play as play

__all__ = ["__version__", *_HOME, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"tarry.{name}")
    else:
        raise AttributeError(f"module 'tarry' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
