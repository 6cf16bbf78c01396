"""A world to simulate on, whose arms have the laws that a log estimates."""

from typing import TYPE_CHECKING

import numpy as np

from tarry.checks import check_positive
from tarry.errors import InputError
from tarry.problems.law import Law
from tarry.problems.problem import Problem
from tarry.survival_curve import SurvivalCurve

if TYPE_CHECKING:
    from tarry.logs.log import Log

PARTS = 1000  # of D, where times are no whole numbers


def problem_of(log: "Log", unit: float | None) -> Problem:
    """The problem with the Kaplan-Meier law of each arm; the rest of its mass is at D."""
    tick = unit_of(log, unit)
    most = ticks_of(log, tick)
    laws = [law_of(curve, log.max_delay, tick, most) for curve in log.kaplan_meier.values()]
    return Problem(laws, most, log.names, label="log")


def unit_of(log: "Log", unit: float | None) -> float:
    """How long one step of the world is, in the unit of the log."""
    if unit is not None:
        return check_positive("unit", unit)
    whole = log.max_delay.is_integer() and bool((log.times == np.floor(log.times)).all())
    return 1.0 if whole else log.max_delay / PARTS


def ticks_of(log: "Log", tick: float) -> int:
    """D in steps of the world."""
    most = round(log.max_delay / tick)
    if most < 1:
        raise InputError(
            f"The unit is {tick:g}; it must not be longer than the max_delay {log.max_delay:g}."
        )
    return most


def law_of(curve: SurvivalCurve, limit: float, tick: float, most: int) -> Law:
    """The law of an arm: the drops of its curve before D, and at D what is left."""
    before = curve.times < limit
    heights = np.concatenate([[1.0], curve.survival[before]])
    drops = -np.diff(heights)
    delays = np.minimum(np.rint(curve.times[before] / tick), most)
    return Law(np.append(delays, most).astype(np.int64), np.append(drops, heights[-1]))
