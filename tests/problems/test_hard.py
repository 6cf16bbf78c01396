"""The paper's lower-bound instances, against the formulas of the paper."""

from math import sqrt
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarry.problems import (
    Law,
    hard_close,
    hard_conservative_cost,
    hard_conservative_reward,
    hard_cost,
    hard_reward,
)

NUMBERS: tuple[Literal[1], Literal[2]] = (1, 2)
LIMITS = st.integers(4, 10**6)


@given(LIMITS, st.data())
def test_cost_instance(most: int, data: st.DataObject) -> None:
    """Two fixed delays d* and D, so the gap is 1 - d*/D >= 1/2, in either order."""
    best = data.draw(st.integers(1, most // 2))
    problem = hard_cost(best, most)
    assert problem.mean_delays.tolist() == [best, most]
    assert problem.best("cost") == 0
    assert problem.gaps("cost")[1] == pytest.approx(1 - best / most)
    assert hard_cost(best, most, flipped=True).laws == problem.laws[::-1]


def test_reward_instance() -> None:
    """Fixed delays D, d_bar and 0 for the rest; every gap is at least 1/2."""
    problem = hard_reward(50, 100, arms=4)
    assert problem.mean_delays.tolist() == [100, 50, 0, 0]
    assert problem.best("reward") == 0
    assert problem.gaps("reward").tolist() == [0, 0.5, 1, 1]
    assert hard_reward(50, 100, arms=4, flipped=True).mean_delays.tolist() == [50, 100, 0, 0]


@given(LIMITS, st.data())
def test_close_pair(most: int, data: st.DataObject) -> None:
    """Means mu/4 (D/4 rounded) or mu against mu/2: the best arm differs, the gap is about mu*."""
    steady = data.draw(st.integers(1, most // 2))
    mu = 2 * steady / most
    first, second = hard_close(steady, most, "A"), hard_close(steady, most, "B")
    assert first.means[0] == pytest.approx(mu / 4, abs=mu / (2 * most) * 1.0001)
    assert second.means[0] == pytest.approx(mu)
    assert first.mean_delays[1] == second.mean_delays[1] == steady
    assert (first.best("cost"), second.best("cost")) == (0, 1)
    assert (first.best("reward"), second.best("reward")) == (1, 0)


def test_close_pair_is_exact_where_the_formulas_are_whole() -> None:
    """D = 400, mu = 0.1: d* = 10 and gap d*/D in A, d* = 20 and gap d*/D in B."""
    first, second = hard_close(20, 400, "A"), hard_close(20, 400, "B")
    assert first.laws == (Law([0, 100], [0.9, 0.1]), Law([20], [1]))
    assert second.laws == (Law([0, 400], [0.9, 0.1]), Law([20], [1]))
    assert first.mean_delays.min() == 10
    assert first.gaps("cost").max() == pytest.approx(10 / 400)
    assert second.gaps("cost").max() == pytest.approx(20 / 400)


@given(LIMITS, st.data())
def test_conservative_pair(most: int, data: st.DataObject) -> None:
    """Mean d* exactly, sqrt(D d*) up to rounding, equal probabilities, different best arms."""
    mean = data.draw(st.integers(1, most // 4))
    first = hard_conservative_cost(mean, most, 1)
    second = hard_conservative_cost(mean, most, 2)
    root = sqrt(most * mean)
    assert first.mean_delays == pytest.approx([mean, most])
    assert first.laws[0].values[-1] == pytest.approx(root / 2, abs=0.5)
    assert second.laws[1].values[0] == pytest.approx(root, abs=0.5)
    chance = first.laws[0].probabilities[-1]
    assert chance == second.laws[0].probabilities[-1]
    assert chance == pytest.approx(2 * sqrt(mean / most), rel=1.001 / (root - 1))
    assert second.mean_delays[0] == pytest.approx(2 * root, rel=1.001 / (root - 1))
    assert (first.best("cost"), second.best("cost")) == (0, 1)


def test_conservative_pair_is_exact_where_the_formulas_are_whole() -> None:
    """D = 10000, d* = 4: 100 with probability 0.04, and a fixed 200."""
    first, second = (hard_conservative_cost(4, 10_000, n) for n in NUMBERS)
    assert first.laws == (Law([0, 100], [0.96, 0.04]), Law([10_000], [1]))
    assert second.laws == (Law([0, 10_000], [0.96, 0.04]), Law([200], [1]))


@given(LIMITS, st.data())
def test_conservative_reward_pair_is_the_same_with_roles_exchanged(
    most: int, data: st.DataObject
) -> None:
    """The second arm has mean d_bar and a gap of at least 3/4; the best arm differs."""
    mean = data.draw(st.integers(1, most // 4))
    first = hard_conservative_reward(mean, most, 1)
    second = hard_conservative_reward(mean, most, 2)
    assert first == hard_conservative_cost(mean, most, 1)
    assert (first.best("reward"), second.best("reward")) == (1, 0)
    assert first.gaps("reward")[0] >= 0.75 - 1e-12
    assert "hard_conservative_reward(second_delay=" in first.label
