"""Problems: exact quantities, equality, printing, immutability."""

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarry.problems import Law, Problem, bernoulli, deterministic, from_pmf, replay

MIXED = from_pmf({"fra": ([0, 10], [0.5, 0.5]), "ams": ([2, 4], [0.5, 0.5]), "lon": ([9], [1])}, 10)


def test_means_are_exact() -> None:
    """The means are those of the integer delays, divided by D."""
    assert MIXED.mean_delays.tolist() == [5, 3, 9]
    assert MIXED.means.tolist() == [0.5, 0.3, 0.9]
    assert MIXED.arms == 3
    assert MIXED.max_delay == 10
    assert MIXED.horizon_limit is None


def test_best_and_gaps_follow_the_payoff() -> None:
    """Cost looks for the least mean, reward for the greatest, gaps are distances from it."""
    assert MIXED.best("cost") == 1
    assert MIXED.best("reward") == 2
    assert MIXED.gaps("cost") == pytest.approx([0.2, 0, 0.6])
    assert MIXED.gaps("reward") == pytest.approx([0.4, 0.6, 0])


def test_first_of_equal_arms_is_the_best() -> None:
    """Among ties the lowest index wins, for both payoffs."""
    problem = deterministic([4, 1, 4, 1], 4)
    assert problem.best("cost") == 1
    assert problem.best("reward") == 0


def test_one_arm_is_a_problem() -> None:
    """A single arm has gap 0."""
    assert deterministic([3], 4).gaps("reward").tolist() == [0]


def test_survival_is_that_of_the_arm() -> None:
    """P(d >= x) of an arm, for numbers and arrays."""
    assert MIXED.survival(0, [0, 1, 10, 11]).tolist() == [1, 0.5, 0.5, 0]
    assert MIXED.survival(2, 9) == 1


@given(st.lists(st.integers(0, 10), min_size=1, max_size=5), st.integers(10, 20))
def test_equal_problems_are_equal(delays: list[int], most: int) -> None:
    """Content decides about equality and hash, however the problem was made or carried."""
    made = deterministic(delays, most)
    others = [
        from_pmf([([delay], [1]) for delay in delays], most),
        pickle.loads(pickle.dumps(made)),  # noqa: S301 - our own bytes
        copy.deepcopy(made),
    ]
    for other in others:
        assert other == made
        assert hash(other) == hash(made)


def test_different_problems_differ() -> None:
    """Laws, D, names and the order of the arms count; so does being a replay."""
    base = deterministic([1, 2], 4)
    for other in (
        deterministic([1, 3], 4),
        deterministic([1, 2], 5),
        deterministic([2, 1], 4),
        deterministic([1, 2], 4, names=["a", "b"]),
        replay([[1, 2]], 4),
        deterministic([1, 2, 2], 4),
    ):
        assert base != other
    assert base != "problem"


def test_problem_cannot_be_changed() -> None:
    """Fields and arrays of a problem are read-only."""
    with pytest.raises(FrozenInstanceError):
        MIXED.max_delay = 5  # type: ignore[misc]  # that is the point
    for array in (MIXED.means, MIXED.mean_delays):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert isinstance(MIXED.laws, tuple)
    assert isinstance(MIXED.names, tuple)


def test_pickled_problem_draws_the_same_delays() -> None:
    """A problem sent to another process gives the same delays there."""
    problem = bernoulli(4, 50, seed=3)
    carried = pickle.loads(pickle.dumps(problem))  # noqa: S301 - our own bytes
    steps = np.arange(1, 100)[:, None]
    assert np.array_equal(carried.delays(1, steps, range(4)), problem.delays(1, steps, range(4)))
    assert carried.label == problem.label


def test_problem_prints_a_table() -> None:
    """Printing shows every arm with its exact mean delay."""
    assert str(MIXED).splitlines() == [
        "from_pmf: 3 arms, max_delay 10",
        "arm  mean delay  deviation     mean  delays",
        "fra           5          5   0.5000  0..10 (2 values)",
        "ams           3          1   0.3000  2..4 (2 values)",
        "lon           9          0   0.9000  9",
    ]
    assert repr(MIXED) == "<Problem from_pmf: 3 arms, max_delay 10>"


def test_many_arms_are_shortened() -> None:
    """Of many arms the first and the last are printed, and how many are between them."""
    lines = str(bernoulli(30, 5000, seed=7)).splitlines()
    assert len(lines) == 14
    assert lines[0] == "bernoulli(arms=30, max_delay=5000, seed=7): 30 arms, max_delay 5000"
    assert lines[-2] == "... 19 more arms ..."
    assert lines[-1].startswith("29 ")


def test_twelve_arms_are_all_printed() -> None:
    """Nothing is left out where leaving out would save nothing."""
    assert len(str(deterministic(range(12), 12)).splitlines()) == 14


def test_problem_without_label_prints_its_size() -> None:
    """A problem made from laws directly says what it is; names default to numbers."""
    problem = Problem([Law([1], [1])], 1)
    assert repr(problem) == "<Problem 1 arm, max_delay 1>"
    assert str(problem).splitlines()[0] == "1 arm, max_delay 1"
    assert problem.names == ("0",)
