"""Delays without an end, as far as a simulation can have them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tarry.checks import check_positive, check_whole
from tarry.errors import InputError
from tarry.problems.builders import Names, build, check_list
from tarry.problems.delays import check_max_delay, check_numbers
from tarry.problems.law import Law
from tarry.problems.problem import Problem

FINENESS = 1.05  # the ratio of two values of a law


def pareto(
    tails: Sequence[float], starts: Any = 1, *, max_delay: int = 2**20, names: Names = None
) -> Problem:
    """Arms whose delays have tails of a power: P(d >= x) = (start / x)^tail for x >= start.

    The mean is finite without an end of time for a tail above 1, and infinite for one up to 1;
    then what `max_delay` cuts off is most of it. It is a technical cap: choose it far above the
    horizon, so that no play can reach it. The law has values in steps of 5 %, each with the exact
    chance of a delay from there up to the next one: some hundred numbers, however large D is.

    Args:
        tails: One positive number per arm.
        starts: The least delay, one whole number for all arms or one for each, from 1.
        max_delay: D.
        names: Of the arms.

    >>> problem = pareto([3.0, 0.7], [20, 5])
    >>> problem.mean_delays.round(1).tolist()
    [29.3, 635.6]
    """
    most = check_max_delay(max_delay)
    powers = check_list("The tails", tails).tolist()
    sizes = check_numbers(starts, "The starts").ravel().tolist()
    if np.ndim(starts) == 0:
        sizes *= len(powers)
    if len(powers) != len(sizes):
        raise InputError(
            f"There are {len(powers)} tails and {len(sizes)} starts; give one start for all arms, "
            f"or one for each."
        )
    pairs = list(zip(powers, sizes, strict=True))
    return build("pareto", pairs, most, names, lambda pair: pareto_law(pair[0], pair[1], most))


def pareto_law(tail: float, start: int, most: int) -> Law:
    """One of these laws."""
    power = check_positive("tail", tail)
    least = check_whole("start of a tail", start, 1, most)
    count = int(np.log(most / least) / np.log(FINENESS)) + 2
    values = np.unique(np.rint(np.geomspace(least, most, count)).astype(np.int64))
    lasts = (least / values) ** power
    return Law(values, lasts - np.append(lasts[1:], 0.0))
