"""Rules of a user's own that do what cannot be meant: a sentence, in every mode."""

from typing import Any, NamedTuple

import numpy as np
import pytest

import tarry
from tarry.arrays import FloatArray
from tarry.errors import PolicyError
from tarry.ledger import Ledger
from tarry.logs.replay import play_queues
from tarry.policies import Setting

PROBLEM = tarry.problems.bernoulli(arms=4, max_delay=12, seed=6)


class Cleared:
    """Starts any rule."""

    def __init__(self, rule: Any) -> None:
        self.rule = rule

    def start(self, setting: Setting) -> Any:
        """The rule."""
        return self.rule


def play(policy: Any, mode: Any) -> tarry.Run:
    """A run."""
    return tarry.play(policy, PROBLEM, payoff="cost", horizon=200, mode=mode, record=10)


class Backing(NamedTuple):
    """Counts failed phases back."""

    phase: FloatArray

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Any) -> int:
        """The first arm."""
        self.phase[1] += 1 if now < 20 else -1
        return 0


class Fraction(NamedTuple):
    """Chooses an arm by a fraction that is whole."""

    values: FloatArray

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Any) -> Any:
        """The second arm."""
        return self.values[0] + 1.0


def test_a_fraction_is_no_arm() -> None:
    """Even if it is whole: compiled, interpreted and in a replay."""
    policy: Any = Cleared(Fraction(np.zeros(1)))
    with pytest.raises(PolicyError, match="cannot run compiled: select returns a float64"):
        play(policy, "compiled")
    with pytest.raises(PolicyError, match=r"Fraction.select returned .*1\.0.* at step 1; .* int"):
        play(policy, "interpreted")
    with pytest.raises(PolicyError, match=r"chose .*1\.0.* at step 1; .* an int"):
        play_queues(policy, Setting(2, 9, 5, reward=False), [np.ones(5, int)] * 2, seed=0)


def test_failed_phases_are_not_counted_back() -> None:
    """Neither in simulation nor in a replay."""
    words = "more than 64 failed phases at step 20, or fewer than before"
    with pytest.raises(PolicyError, match=words):
        play(Cleared(Backing(np.zeros(2, np.int64))), "interpreted")
    policy: Any = Cleared(Backing(np.zeros(2, np.int64)))
    with pytest.raises(PolicyError, match=words):
        play_queues(policy, Setting(1, 9, 30, reward=False), [np.ones(30, int)], seed=0)


def fixed(*numbers: float) -> FloatArray:
    """An array that cannot be written to."""
    array = np.array(numbers)
    array.flags.writeable = False
    return array


class Writing(NamedTuple):
    """Writes to its array."""

    values: FloatArray

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Any) -> int:
        """The first arm."""
        self.values[0] += 1.0  # written
        return 0


class Reading(NamedTuple):
    """Reads a constant, and counts elsewhere."""

    values: FloatArray
    turns: FloatArray

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Any) -> int:
        """The third arm."""
        self.turns[0] += 1.0
        return int(self.values[0])


def test_writing_to_a_read_only_array_is_told_with_its_line() -> None:
    """And what to do instead; a constant that is only read may be read-only."""
    advice = r"; let `start` make a copy, as in array\.copy\(\)\.$"
    words = r"Cleared.* writes to a read-only array, Writing.values \(.*: self.values\[0\] \+= 1"
    policy = Cleared(Writing(fixed(0.0)))
    with pytest.raises(PolicyError, match=rf"{words}.*\){advice}"):
        play(policy, "interpreted")
    with pytest.raises(PolicyError, match=rf"compiled: it writes to a read-only array{advice}"):
        play(policy, "compiled")
    for mode in ("compiled", "interpreted"):
        assert set(play(Cleared(Reading(fixed(2.0), np.zeros(1))), mode).arms.tolist()) == {2}


def test_an_array_without_dimensions_is_refused() -> None:
    """Compiled code and Python disagree on what can be done with it."""
    words = "Writing.values is an array without dimensions; give a number, or an array of one"
    for mode in ("compiled", "interpreted"):
        with pytest.raises(PolicyError, match=words):
            play(Cleared(Writing(np.array(3.0))), mode)
