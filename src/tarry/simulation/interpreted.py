"""The loop without a compiler: step by step in Python, for debugging and for rules of any kind."""

from typing import Any

import numpy as np

from tarry.checks import as_index
from tarry.errors import PolicyError
from tarry.ledger import Ledger
from tarry.plays import Plays, wide
from tarry.policies.protocol import FIELDS, HOOKS, STOP
from tarry.randomness import Random
from tarry.simulation.calendar import Calendar
from tarry.simulation.loop import run_steps


class Watched:
    """A rule as it is, except that what it chooses must be a whole number.

    The compiler sees to this where a rule is compiled.
    """

    def __init__(self, rule: Any) -> None:
        self.rule = rule
        for name in (*(hook.__name__ for hook in HOOKS), *FIELDS):
            if hasattr(rule, name):
                setattr(self, name, getattr(rule, name))

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """The rule's choice."""
        choice = self.rule.select(ledger, plays, row, now, rng)
        arm = as_index(choice)
        if arm is None:
            raise PolicyError(
                f"{type(self.rule).__name__}.select returned {choice!r} at step "
                f"{plays.number[row]}; it must return the number of an arm, an int, or {STOP} "
                f"to stop."
            )
        return arm


def widened(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of the loop, with 64 bits for all whole numbers that a rule is handed."""
    rule, ledger, plays, ages, calendar, *rest = arguments
    rows = Calendar(*(column.astype(np.int64) for column in calendar))
    return (rule, ledger, wide(plays), ages, rows, *rest)


def run_interpreted(rule: Any, *arguments: Any) -> None:
    """`run_steps`, interpreted, for a rule that may be anything; the arguments are `widened`."""
    run_steps(Watched(rule), *arguments)
