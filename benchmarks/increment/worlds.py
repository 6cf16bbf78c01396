"""The paper's families at its own size, in two sets: to choose on, and to report on."""

from collections.abc import Iterator
from typing import Any

import tarry
from tarry.problems.problem import Problem

HORIZON, ARMS, MAX_DELAY = 150_000, 30, 5000
TUNING, FRESH = 8110, 61_000  # first seeds
FAMILIES = {"truncated_normal": "normal", "bernoulli": "Bernoulli"}


def columns(first: int, count: int) -> Iterator[tuple[str, Any, list[Problem]]]:
    """Name, payoff and instances."""
    for payoff in ("cost", "reward"):
        for family, name in FAMILIES.items():
            make = tarry.problems.by_name(family)
            seeds = range(first, first + count)
            yield f"{payoff}, {name}", payoff, [make(ARMS, MAX_DELAY, seed=s) for s in seeds]
