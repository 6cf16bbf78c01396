"""The draw of SurvivalThompson and its looks at arms: how wide, how often, and never never."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarry.policies.survival.evidence import SurvivalEvidence, empty_evidence, widened
from tarry.policies.survival.looks import OTHERS, best_draw
from tarry.policies.survival.thompson import SELDOM, WIDER
from tarry.randomness import new_random


def heard(delays: list[int], max_delay: int) -> SurvivalEvidence:
    """Evidence of one arm whose plays are all back."""
    evidence = empty_evidence(1, max_delay, 24)
    for delay in delays:
        for edge in np.flatnonzero(np.asarray(evidence.edges) <= delay):
            evidence.book_pass(0, int(edge))
        evidence.book_event(0, delay)
    return evidence


@given(
    long=st.integers(0, 60),
    short=st.integers(0, 60),
    max_delay=st.sampled_from([1, 2, 40, 5000]),
    seed=st.integers(0, 2**16),
)
def test_payoffs_of_0_and_d_are_drawn_from_the_posterior(
    long: int, short: int, max_delay: int, seed: int
) -> None:
    """There is nothing to widen: the draw is the same number, not only nearly."""
    evidence = heard([max_delay] * long + [0] * short, max_delay)
    if long + short:
        wide, narrow = (evidence.draw_mean(0, c, new_random(seed)) for c in (WIDER, 0.0))
        assert wide == narrow


@pytest.mark.parametrize(
    ("delays", "times"),
    [
        ([40, 50, 60] * 7, 1.01),  # close to each other: hardly wider
        ([0, 30, 70, 100] * 5, 1.09),  # spread out: by c times the share that V is of W
        ([0, 4, 96, 100] * 5, 1.08),  # nearly two points: as wide as two points would be
        ([0, 100, 100, 100] * 5, 1.0),
    ],
)
def test_draws_are_as_wide_as_documented(delays: list[int], times: float) -> None:
    """The mean of the draws is that of the posterior, their variance so many times its own."""
    evidence = heard([*delays, 100], 100)  # one has reached D: no hazard is drawn by itself
    rng = new_random(3)
    draws = np.array([evidence.draw_mean(0, WIDER, rng) for _ in range(40_000)])
    mean, square = evidence.moments_with_tail(0, 1.0)
    assert draws.mean() == pytest.approx(mean, abs=5 * draws.std() / 200)
    assert draws.var() / (square - mean**2) == pytest.approx(times, abs=0.04)


@pytest.mark.parametrize("delays", [[299] * 9 + [240], [250, 270, 299, 299]])
def test_answers_in_the_last_bin_differ(delays: list[int]) -> None:
    """All are between 234 and 300: a draw has mean and variance of the Bayesian bootstrap."""
    evidence = heard(delays, 300)
    payoffs = np.array(delays) / 300
    rng = new_random(8)
    draws = np.array([evidence.draw_mean(0, 0.0, rng) for _ in range(40_000)])
    assert draws.mean() == pytest.approx(payoffs.mean(), abs=5 * draws.std() / 200)
    assert draws.var() == pytest.approx(payoffs.var() / (len(delays) + 1), rel=0.05)


@given(
    mean=st.floats(0, 1),
    variance=st.floats(0, 0.25),
    known=st.one_of(st.just(1.0), st.floats(1, 1e6)),
)
def test_no_draw_is_narrower(mean: float, variance: float, known: float) -> None:
    """V' is at least V, at most 1 + c times V, and above V only within two points' variance."""
    wide = widened(mean, variance, known, WIDER)
    assert variance <= wide <= (1 + WIDER) * variance
    assert wide == variance or wide <= mean * (1 - mean) / (known + 1)


def test_a_variance_lost_in_rounding_is_left_alone() -> None:
    """A mean that rounds to 1 leaves nothing to divide by, also where the variance is below 0."""
    assert widened(1.0, -2e-16, 1500.0, WIDER) == -2e-16
    assert widened(0.0, 0.0, 3.0, WIDER) == 0.0


class Still:
    """A rule whose draws are always the same, and which counts them."""

    def __init__(self, draws: list[float]) -> None:
        self.draws = np.array(draws)
        self.turn = np.array([-1, -1])
        self.drawn = np.zeros(len(draws), np.int64)
        self.evidence = SimpleNamespace(stale=np.zeros(len(draws), np.int64))

    def draw(self, arm: int, rng: Any) -> float:
        """The same."""
        self.drawn[arm] += 1
        self.evidence.stale[arm] = 0
        return float(self.draws[arm])


def looked(rule: Still, steps: int, seldom: float = SELDOM) -> list[int]:
    """How often each arm is drawn in so many steps."""
    before = rule.drawn.copy()
    ledger: Any = SimpleNamespace(plays=np.zeros(len(rule.draws)))
    rng = new_random(5)
    for _ in range(steps):
        best_draw(rule, OTHERS, seldom, ledger, rng)
    return [int(count) for count in rule.drawn - before]


def test_far_arms_are_looked_at_more_rarely() -> None:
    """An arm half as far again in two thirds of its turns, those far beyond in a quarter."""
    best, near, far, *farthest = looked(Still([2e-6, 2e-6, 3e-6, 0.5, 1.0, 1.0, 1.0]), 30_000)
    assert best == 30_000
    assert near == pytest.approx(20_000, abs=2)  # four of six have their turn in a step
    assert [far, *farthest] == pytest.approx([13_333, *[5000] * 4], rel=0.05)


def test_all_are_looked_at_if_they_are_few_or_it_is_asked_for() -> None:
    """Five arms need not wait for their turn, and `seldom` may be 1."""
    assert looked(Still([1e-6, 1.0, 1.0, 1.0, 1.0]), 1000) == [1000] * 5
    counts = looked(Still([1e-6, *[1.0] * 8]), 1001, seldom=1.0)
    assert counts == [1001, *[501] * 8]


def test_who_was_heard_of_is_looked_at() -> None:
    """News of a far arm is looked at when its turn comes next, for certain."""
    rule = Still([1e-6, *[1.0] * 6])
    looked(rule, 1)
    rule.evidence.stale[:] = 1
    assert min(looked(rule, 2)) >= 1


def test_an_arm_that_is_almost_always_cut_is_drawn() -> None:
    """Fifteen hundred plays reached D, a year, and one came back a microsecond before it."""
    year = 365 * 86_400 * 10**6
    evidence = heard([year] * 1500 + [year - 1], year)
    assert evidence.draw_mean(0, WIDER, new_random(1)) == pytest.approx(1.0)
