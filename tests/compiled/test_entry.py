"""Entry points: machine code that Python calls without a dispatcher."""

import math
from typing import Any, NamedTuple

import numpy as np

from tarry.arrays import FloatArray
from tarry.compiled import entry
from tarry.compiled.inside import entry_of
from tarry.ledger import Ledger, empty_ledger
from tarry.plays import Plays, empty_plays


def complete(ledger: Ledger, plays: Plays, row: int, max_delay: int) -> None:
    """The play in `row` is D old."""
    delay = plays.complete_delay(row, max_delay)
    ledger.book_complete(plays.number[row], plays.arm[row], delay)


def test_an_entry_does_what_the_function_does() -> None:
    """It reads and writes the arrays that it is handed, for any number of arms and rows."""
    enter = entry.entry_point(complete, empty_ledger(1), empty_plays(1), 0, 0)
    for arms, most in ((1, 1), (5, 100)):
        ledger, plays = empty_ledger(arms), empty_plays(most)
        row = plays.row_of(most)
        plays.number[row], plays.arm[row] = most, arms - 1
        assert enter(ledger, plays, row, 77) is None
        assert np.asarray(ledger.complete_sum).tolist() == [0] * (arms - 1) + [77]
        complete(ledger, plays, row, 3)
        assert ledger.complete_sum[arms - 1] == 80
    assert entry.entry_point(complete, empty_ledger(2), empty_plays(9), 1, 1) is enter


class Without:
    """A dispatcher of a Numba that says nothing of entry points."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.calls = 0

    def __call__(self, *arguments: Any) -> Any:
        """As the function."""
        self.calls += 1
        return self.function(*arguments)


class Pair(NamedTuple):
    """Numbers."""

    values: FloatArray


def length(pair: Pair) -> float:
    """The length of a vector."""
    return math.hypot(pair.values[0], pair.values[1])


def test_the_dispatcher_serves_where_there_is_no_entry(monkeypatch: Any) -> None:
    """It is called once with the examples, so that it is ready."""
    made: list[Without] = []

    def compiled(function: Any, **options: Any) -> Without:
        made.append(Without(function))
        return made[-1]

    monkeypatch.setattr(entry, "compiled", compiled)
    monkeypatch.setattr(entry, "_dispatchers", {})
    enter = entry.entry_point(length, Pair(np.zeros(2)))
    assert enter is made[0]
    assert made[0].calls == 1
    assert enter(Pair(np.array([3.0, 4.0]))) == 5.0


def test_an_entry_that_cannot_be_called_is_none() -> None:
    """Whatever Numba may give one day."""
    made = Without(length)
    assert entry_of(made, ()) is None
    made.compile = lambda types: types  # type: ignore[attr-defined]  # a Numba of another day
    assert entry_of(made, ()) is None
