"""Information floors against closed forms."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tarry
from tarry.errors import InputError
from tarry.problems import Law
from tarry.theory import early_floor, information_floor, k_inf


def kl(p: float, q: float) -> float:
    """Divergence of two Bernoulli laws."""
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


@given(st.floats(0.01, 0.98), st.floats(0.01, 0.99))
def test_two_point_laws_have_the_bernoulli_divergence(p: float, q: float) -> None:
    """For delays 0 or D, K_inf is kl(p, q) if q is better than p, and 0 if not."""
    law = Law([0, 7], [1 - p, p])
    better, worse = (kl(p, q), 0.0) if p < q - 1e-9 else (0.0, kl(p, q))
    assert k_inf(law, q, 7, "reward") == pytest.approx(better, rel=1e-6, abs=1e-9)
    assert k_inf(law, q, 7, "cost") == pytest.approx(worse, rel=1e-6, abs=1e-9)


def test_fixed_delays_are_as_far_as_a_rare_event() -> None:
    """For a fixed delay x, K_inf is log((1 - x) / (1 - target)) in reward, mirrored in cost."""
    law = Law([3], [1.0])
    assert k_inf(law, 0.9, 10, "reward") == pytest.approx(math.log(0.7 / 0.1))
    assert k_inf(law, 0.1, 10, "cost") == pytest.approx(math.log(0.3 / 0.1))


def test_nothing_beats_the_best_possible_mean() -> None:
    """K_inf is infinite where no law can be better, so the floor owes nothing there."""
    law = Law([3], [1.0])
    assert k_inf(law, 1.0, 10, "reward") == math.inf
    assert k_inf(law, 0.0, 10, "cost") == math.inf
    problem = tarry.problems.deterministic([0, 4], max_delay=4)
    assert information_floor(problem, "cost", 1000) == 0
    assert information_floor(problem, "reward", 1000) == 0


@given(st.lists(st.floats(0.05, 1), min_size=5, max_size=5), st.floats(0.02, 0.98))
def test_dual_is_no_more_than_any_alternative(weights: list[float], target: float) -> None:
    """K_inf is at most the divergence of the tilted law that moves mass to delay D."""
    shares = np.array(weights) / sum(weights)
    law = Law(np.arange(5), shares)
    mean = law.mean / 4
    if mean >= target - 1e-6:
        return
    moved = (target - mean) / (1 - mean)
    other = (1 - moved) * shares + moved * (np.arange(5) == 4)
    divergence = float(np.sum(shares * np.log(shares / other)))
    value = k_inf(law, target, 4, "reward")
    assert 2 * (target - mean) ** 2 <= value + 1e-12
    assert value <= divergence + 1e-12


def test_dual_equals_the_primal_on_three_points() -> None:
    """The dual maximum equals the least divergence found by a grid over three-point laws."""
    law = Law([0, 5, 10], [0.5, 0.3, 0.2])
    a, b = np.meshgrid(np.linspace(0.001, 0.999, 999), np.linspace(0.001, 0.999, 999))
    c = 1 - a - b
    good = (c > 0) & (0.5 * b + c >= 0.6)
    with np.errstate(invalid="ignore", divide="ignore"):
        divergence = 0.5 * np.log(0.5 / a) + 0.3 * np.log(0.3 / b) + 0.2 * np.log(0.2 / c)
    assert k_inf(law, 0.6, 10, "reward") == pytest.approx(divergence[good].min(), rel=1e-3)


def test_floor_adds_up_the_arms() -> None:
    """The floor is the sum of gap / K_inf times log T, and 0 for one arm or equal arms."""
    problem = tarry.problems.bernoulli(max_delay=9, probabilities=[0.5, 0.25, 0.25])
    expected = 0.25 / kl(0.5, 0.75) * math.log(500)
    assert information_floor(problem, "reward", 500) == pytest.approx(expected)
    assert information_floor(problem, "cost", 500) == pytest.approx(
        2 * 0.25 / kl(0.75, 0.5) * math.log(500)
    )
    assert information_floor(tarry.problems.bernoulli(1, 9), "cost", 500) == 0
    equal = tarry.problems.bernoulli(max_delay=9, probabilities=[0.5, 0.5])
    assert information_floor(equal, "reward", 500) == 0


def test_no_floor_is_above_what_can_be_lost() -> None:
    """The asymptotic floor is cut off at T times the largest gap, which it exceeds for small T."""
    problem = tarry.problems.bernoulli(max_delay=9, probabilities=[0.5, 0.49])
    assert information_floor(problem, "reward", 100) == pytest.approx(100 * 0.01)
    assert early_floor(problem, "reward", 100) < 1.0


def test_the_early_floor_holds_for_policies_that_are_no_worse_than_lots() -> None:
    """It is half of what lots lose in the first steps, never falls, and no policy is below it."""
    problem = tarry.problems.bernoulli(max_delay=4, probabilities=[0.5, 0.45])
    k = kl(0.55, 0.5)
    first = early_floor(problem, "cost", int(1 / (8 * k)))
    assert first >= 0.05 * int(1 / (8 * k)) / 2 / 2
    values = [early_floor(problem, "cost", t) for t in (1, 5, 20, 60, 200, 10**6)]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(0.05 * 2 / (27 * 2 * k))
    for policy in (tarry.DelayedThompson(), tarry.IncrementUCB(), tarry.Uniform()):
        horizon = int(2 / (9 * k))
        runs = [
            tarry.play(policy, problem, payoff="cost", horizon=horizon, seed=s, record=1).regret[-1]
            for s in range(60)
        ]
        assert np.mean(runs) >= early_floor(problem, "cost", horizon)


def test_large_supports_are_handled() -> None:
    """The paper's truncated normal arms give finite, positive divergences."""
    problem = tarry.problems.truncated_normal(arms=6, max_delay=5000, seed=2)
    for payoff in ("cost", "reward"):
        assert 0 < information_floor(problem, payoff, 150_000) < 150_000


@pytest.mark.parametrize(
    ("law", "target", "max_delay", "words"),
    [
        (Law([1], [1.0]), 1.5, 2, r"target is 1\.5; it must be a mean payoff from 0 to 1"),
        (Law([1], [1.0]), math.nan, 2, "target is nan"),
        (Law([1], [1.0]), "x", 2, "target is 'x'"),
        (Law([1], [1.0]), 0.5, 0, "max_delay is 0"),
        (Law([1, 20], [0.5, 0.5]), 0.2, 10, "delay of the law is 20; it must be at most the max_d"),
        ("x", 0.2, 10, r"law is 'x'; it must be a tarry\.problems\.Law"),
    ],
)
def test_what_is_no_law_or_mean_is_refused(
    law: Any, target: Any, max_delay: int, words: str
) -> None:
    """The law has delays up to D, and the target is a mean payoff."""
    with pytest.raises(InputError, match=words):
        k_inf(law, target, max_delay, "cost")
