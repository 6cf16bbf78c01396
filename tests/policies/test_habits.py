"""Habits of Python that do not work in a rule are refused with a sentence that says what does."""

import random
from typing import Any, NamedTuple

import numpy as np
import pytest

import tarry
from tarry.arrays import IntArray
from tarry.errors import PolicyError

PROBLEM = tarry.problems.deterministic([1, 4], max_delay=4)
GENERATOR = np.random.default_rng(0)


class Started:
    """A policy that starts this rule."""

    def __init__(self, rule: Any) -> None:
        self.rule = rule

    def start(self, setting: tarry.Setting) -> Any:
        """The rule."""
        return self.rule


def helper() -> float:
    """Draws, far from the rule."""
    return float(np.random.rand())  # noqa: NPY002  # the mistake under test


class Counts(NamedTuple):
    """Counts in a field."""

    n: int

    def select(self, *given: Any) -> int:
        """Calls a method of its own."""
        return self.tally()

    def tally(self) -> int:
        """The mistake."""
        self.n += 1  # type: ignore[misc]  # the mistake under test
        return self.n % 2


class Base(NamedTuple):
    """A field, so that it is a rule that could be compiled."""

    n: IntArray


class NumPys(Base):
    """Draws from NumPy's global generator, by way of a helper."""

    def select(self, *given: Any) -> int:
        """The mistake."""
        return int(2 * helper())


class Pythons(Base):
    """Draws from Python's global generator."""

    def select(self, *given: Any) -> int:
        """The mistake."""
        return random.randrange(2)


class Fresh(Base):
    """Makes a generator at every step."""

    def select(self, *given: Any) -> int:
        """The mistake."""
        return int(np.random.default_rng().random() * 2)


class Shared(Base):
    """Draws from a generator that all runs share."""

    def select(self, *given: Any) -> int:
        """The mistake."""
        return int(GENERATOR.random() * 2)


class Listening(Base):
    """Makes the mistake in a hook."""

    def select(self, *given: Any) -> int:
        """As it should be."""
        return 0

    def returned(self, *given: Any) -> None:
        """The mistake."""
        self.n[0] = random.getrandbits(3)


class Inside(NamedTuple):
    """Holds a rule with a bad habit."""

    rule: Any

    def select(self, *given: Any) -> int:
        """As it should be."""
        return 0


ONE = np.zeros(1, np.int64)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Counts(0), ["Counts.tally assigns n", "self.n[0] += 1"]),
        (NumPys(ONE), ["helper draws from np.random.rand", "rng.random()"]),
        (Pythons(ONE), ["Pythons.select draws from random.randrange", "rng.random()"]),
        (Fresh(ONE), ["Fresh.select draws from np.random.default_rng"]),
        (Shared(ONE), ["Shared.select draws from GENERATOR"]),
        (Listening(ONE), ["Listening.returned draws from random.getrandbits"]),
        (Inside(Pythons(ONE)), ["Pythons.select draws from random.randrange"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_bad_habits_are_refused(rule: Any, words: list[str]) -> None:
    """A field assigned, or a draw that no seed reaches: what, in which line, and what instead."""
    policy: Any = Started(rule)
    with pytest.raises(PolicyError) as caught:
        tarry.play(policy, PROBLEM, payoff="cost", horizon=10)
    for word in [*words, __file__, "line "]:
        assert word in str(caught.value)


class Ordinary:
    """A plain class may assign its attributes, and use a generator that it made before."""

    def __init__(self) -> None:
        self.n = 0
        self.own = np.random.default_rng(3)

    def select(self, *given: Any) -> int:
        """No mistake."""
        self.n += 1
        return int(2 * self.own.random())


def test_what_works_is_not_refused() -> None:
    """A rule that is no NamedTuple can change its attributes, and nobody says it could not."""
    policy: Any = Started(Ordinary())
    run = tarry.play(policy, PROBLEM, payoff="cost", horizon=10, mode="interpreted")
    assert len(run.arms) == 10
