"""The theorems of IncrementUCB: what they are made of, and that no run is above them."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from benchmarks.theorem import trial
from hypothesis import given
from hypothesis import strategies as st

import tarry
from tarry.errors import InputError
from tarry.policies.index.increment_ucb import increment_edges
from tarry.problems.problem import Problem
from tarry.theory import (
    increment_ucb_bound,
    increment_ucb_gap_free,
    unbounded_plays,
    upper_bound,
)
from tarry.theory.increment_bounds import coarseness, setup, spread_price


@given(st.integers(1, 10**7))
def test_edges_run_from_one_to_the_largest_delay(most: int) -> None:
    """Whole numbers that increase from 1 to D, coarser by at most a factor 2."""
    edges = increment_edges(most).tolist()
    assert edges[0] == 1
    assert edges[-1] == most
    assert all(low < high for low, high in pairwise(edges))
    assert 1.0 <= coarseness(increment_edges(most)) <= 2.1


def test_numbers_that_the_page_tells() -> None:
    """The ratio r at several D, kappa at the spread of reward, and the level at T = 150 000."""
    found = [round(coarseness(increment_edges(d)), 2) for d in (1, 10**3, 5000, 10**5, 10**6)]
    assert found == [1.0, 1.35, 1.45, 1.65, 1.82]
    assert spread_price(0.0) == 1.0
    assert round(spread_price(0.5), 3) == 1.237
    assert 24 < setup(5000, 150_000, "cost").level(150_000) < 25


def test_every_delay_is_near_the_edge_below_it() -> None:
    """E min(edge below d, x_B) >= E min(d, x_B) / r, for each delay and each B."""
    for most in (1, 2, 17, 400, 5000):
        edges = increment_edges(most)
        d = np.arange(1, most + 1)
        below = edges[np.searchsorted(edges, d, side="right") - 1]
        for cap in edges.tolist():
            assert (np.minimum(below, cap) * coarseness(edges) >= np.minimum(d, cap) - 1e-9).all()


def test_no_run_is_above_the_theorem() -> None:
    """On random problems of all kinds, nor is any arm played more than its part allows."""
    trials = [trial(seed, longest=3000) for seed in range(80)]
    assert {each.payoff for each in trials} == {"cost", "reward"}
    assert max(each.share for each in trials) <= 1
    assert max(each.arm_share for each in trials) <= 1
    assert max(each.share for each in trials) >= 0.01  # nor is it out of reach


PAIR = tarry.problems.from_pmf([([0, 60], [0.9, 0.1]), ([0, 60], [0.4, 0.6])], max_delay=60)


@pytest.mark.parametrize("payoff", ["cost", "reward"])
def test_one_door_and_what_the_bound_depends_on(payoff: Any) -> None:
    """`upper_bound` gives it with the policy's spread; a spread costs; D far away costs nothing."""
    own = upper_bound(tarry.IncrementUCB(), PAIR, 10_000, payoff=payoff)
    assert own == increment_ucb_bound(PAIR, 10_000, payoff)
    wide = upper_bound(tarry.IncrementUCB(spread=2.0), PAIR, 10_000, payoff=payoff)
    eager = upper_bound(tarry.IncrementUCB(spread=0.0), PAIR, 10_000, payoff=payoff)
    assert eager < wide
    assert eager <= own


def test_the_largest_delay_does_not_enter_for_arms_far_from_the_best() -> None:
    """Cost: the mean delays as they are and D a hundred times as large, nearly the same bound."""
    bounds = [
        increment_ucb_bound(tarry.problems.deterministic([5, 900], max_delay=most), 10_000, "cost")
        for most in (1000, 100_000)
    ]
    assert bounds[1] < 1.5 * bounds[0]


def test_without_gaps_it_grows_as_a_root() -> None:
    """The bound without gaps is above the one with gaps where these are worst, and is sublinear."""
    for payoff in ("cost", "reward"):
        free = [increment_ucb_gap_free(2, 60, 0.2, t, payoff) for t in (10**6, 10**8)]
        assert free[1] < 30 * free[0]
    worst = 0.0
    for gap in np.geomspace(1e-4, 0.7, 60).tolist():
        pair = Problem(
            [tarry.problems.Law([0, 60], [1 - m, m]) for m in (0.2, 0.2 + gap)], 60, ["a", "b"]
        )
        bound = increment_ucb_bound(pair, 10**8, "cost")
        worst = max(worst, min(bound, gap * 10**8))
    assert worst <= increment_ucb_gap_free(2, 60, 0.2, 10**8, "cost")


def test_unbounded_plays_are_never_exceeded() -> None:
    """Runs with a heavy tail: no arm is played more often than the statement allows."""
    values = 2 ** np.arange(14)
    heavy = values**-0.5 / (values**-0.5).sum()
    laws = [([5], [1.0]), (values.tolist(), heavy.tolist()), ([3, 40], [0.5, 0.5])]
    problem = tarry.problems.from_pmf(laws, max_delay=2**13)
    policy: Any = tarry.IncrementUCB(unbounded=True)
    most = unbounded_plays(problem, 3000)
    for seed in range(10):
        run = tarry.play(policy, problem, payoff="cost", horizon=3000, seed=seed)
        counts = np.bincount(run.arms, minlength=3)
        assert (counts <= most).all()
    assert most[0] == 3000
    assert most[2] < 3000
    bound = upper_bound(policy, problem, 3000, payoff="cost")
    assert bound == pytest.approx(float(problem.gaps("cost") @ most))
    assert math.isfinite(bound)


@pytest.mark.parametrize(
    ("arms", "max_delay", "best_mean", "words"),
    [
        (3, 10, math.nan, "best mean is nan; it must be a mean payoff from 0 to 1"),
        (3, 10, 2.0, r"best mean is 2\.0"),
        (3, 10, -0.1, r"best mean is -0\.1"),
        (0, 10, 0.5, "number of arms is 0"),
        (3, 0, 0.5, "max_delay is 0"),
    ],
)
def test_a_bound_without_gaps_is_of_some_world(
    arms: int, max_delay: int, best_mean: float, words: str
) -> None:
    """What no problem can have is refused in a sentence."""
    with pytest.raises(InputError, match=words):
        increment_ucb_gap_free(arms, max_delay, best_mean, 100, "cost")
