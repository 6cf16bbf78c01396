"""BDSE and BHSE with tight bounds: each bound covers at its level, also when plays are adaptive."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

import tarry
from tarry.arrays import FloatArray
from tarry.errors import InputError
from tarry.ledger import Ledger, empty_ledger
from tarry.policies.bins import geometric_edges
from tarry.policies.coins import kl_lower, kl_upper
from tarry.policies.elimination.tight_bounds import (
    ledger_lower,
    ledger_upper,
    tight_missing_bound,
    uniform_level,
)
from tarry.policies.increments import Increments, no_increments
from tests.conformance.cases import Kept
from tests.sizes import examples

LEVEL = math.log(10)  # each bound may miss once in ten


def coin_divergence(p: float, q: float) -> float:
    """kl(p, q) of two coins."""
    parts = [(p, q), (1 - p, 1 - q)]
    return sum(a * math.log(a / b) for a, b in parts if a > 0)


@given(mean=st.floats(0, 1), radius=st.floats(1e-6, 60))
def test_kl_bounds_are_never_too_narrow_and_hardly_too_wide(mean: float, radius: float) -> None:
    """The lower bound is at most the exact solution and close to it; the upper one mirrors it."""
    found = kl_lower(mean, radius)
    assert 0 <= found <= mean
    if 1e-9 < mean < 1:
        low = math.exp(-(radius + 1) / mean) / 2
        if low > 1e-300:
            exact = brentq(
                lambda q: coin_divergence(mean, q) - radius, low, mean, xtol=1e-15, rtol=1e-14
            )
            assert found <= exact + 1e-12
            assert found >= exact - 1e-4
    assert kl_upper(1 - mean, radius) == pytest.approx(1 - found, abs=1e-12)


@given(mean=st.floats(0, 1), count=st.integers(1, 10**6), log_term=st.floats(0.7, 25))
def test_kl_bounds_are_never_wider_than_the_paper(mean: float, count: int, log_term: float) -> None:
    """At the same level, 4 L, both ends lie within mean -+ sqrt(2 L / n)."""
    width = math.sqrt(2 * log_term / count)
    assert kl_lower(mean, 4 * log_term / count) >= mean - width - 1e-9
    assert kl_upper(mean, 4 * log_term / count) <= mean + width + 1e-9


def test_uniform_level_covers_all_counts_at_once() -> None:
    """Over 400 tosses, the fraction of runs in which any prefix misses is below the stated one."""
    rng = np.random.default_rng(3)
    runs, horizon, miss = 3000, 400, 0.05
    level = uniform_level(horizon, miss)
    assert math.e * math.ceil(level * math.log(horizon)) * math.exp(-level) <= miss * (1 + 1e-9)
    for chance in (0.1, 0.5, 0.9):
        counts = np.arange(1, horizon + 1)
        means = np.cumsum(rng.random((runs, horizon)) < chance, axis=1) / counts
        safe = np.clip(means, 1e-12, 1 - 1e-12)
        away = safe * np.log(safe / chance) + (1 - safe) * np.log((1 - safe) / (1 - chance))
        for side in (means < chance, means > chance):
            assert ((counts * away > level) & side).any(axis=1).mean() <= miss


@settings(max_examples=examples(60), deadline=None)
@given(seed=st.integers(0, 10**6), most=st.integers(1, 40), grid=st.integers(2, 9))
def test_increments_equal_those_of_a_list_of_plays(seed: int, most: int, grid: int) -> None:
    """Counts and sums kept step by step are those counted from the whole list of plays."""
    rng = np.random.default_rng(seed)
    evidence, _, plays = adaptive_plays(rng, most, grid, horizon=int(rng.integers(1, 80)))
    starts, arms, delays, now = plays
    low = 0
    for b in range(len(evidence.edges)):
        high = evidence.edges[b]
        for arm in range(2):
            mine, place = arms == arm, arm * len(evidence.edges) + b
            full = mine & (now - starts >= high) & (delays >= high)
            part = mine & (delays >= low) & (delays < high) & (starts + delays < now)
            assert evidence.old[place] == np.sum(mine & (now - starts >= high))
            expected = full.sum() + np.sum((delays[part] - low) / (high - low))
            assert evidence.full[place] + evidence.part[place] == pytest.approx(expected)
        low = high


def adaptive_plays(
    rng: np.random.Generator, most: int, grid: int, horizon: int, chances: FloatArray | None = None
) -> tuple[Increments, Ledger, tuple[Any, Any, Any, int]]:
    """Play two arms for `horizon` steps, the next arm and pauses depending on what came back.

    Arm 0 is played again while its answers are short, and nobody is played for a while after a
    long one: just the kind of choice that makes an average over the answers biased.
    """
    evidence = no_increments(2, most, geometric_edges(most, grid))
    ledger = empty_ledger(2)
    starts, arms, delays = [], [], []
    arm, pause = 0, 0
    for now in range(1, horizon + 1):
        if pause == 0:
            d = int(rng.integers(0, most + 1) if chances is None else rng.choice(chances))
            starts.append(now)
            arms.append(arm)
            delays.append(d)
            ledger.book_play(arm, now)
        pause = max(pause - 1, 0)
        for start, who, d in zip(starts, arms, delays, strict=True):
            age = now + 1 - start
            if age == d + 1:
                evidence.add_answer(who, d)
                ledger.book_return(start, who, start, d)
                arm = who if d < most / 3 else 1 - who
                pause = 2 if d > most / 2 else 0
            if age == most:
                ledger.book_complete(start, who, d)
            for b in range(len(evidence.edges)):
                if age == evidence.edges[b]:
                    evidence.add_old(who, b)
                    if d >= age:
                        evidence.add_full(who, b)
    plays = (np.array(starts), np.array(arms), np.array(delays), horizon + 1)
    return evidence, ledger, plays


LAWS: dict[str, FloatArray] = {
    "two points": np.array([0, 0, 0, 24]),
    "spread": np.arange(25),
    "short": np.array([1, 1, 2, 2, 3, 24]),
    "long": np.array([2, 20, 23, 24]),
}


@pytest.mark.parametrize("law", LAWS)
def test_every_bound_covers_under_adaptive_play(law: str) -> None:
    """At a fixed time, no bound of arm 0 misses more often than its level, chance allowed for."""
    most, runs, delays = 24, 250, LAWS[law]
    mean = float(delays.mean()) / most
    misses = dict.fromkeys(
        ("lower", "upper", "ledger lower", "ledger upper", "missing", "increment"), 0
    )
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        evidence, ledger, _ = adaptive_plays(rng, most, 5, 60, delays)
        grid = len(evidence.edges)
        count = int(ledger.plays[0])
        level = LEVEL + math.log(grid)
        misses["lower"] += evidence.increments_lower(0, count, level) > mean
        misses["upper"] += evidence.increments_upper(0, level) < mean
        # Two counts of plays each, so twice the chance to miss.
        lower = ledger_lower(ledger, 0, 61, most, LEVEL + math.log(2))
        upper = ledger_upper(ledger, 0, most, LEVEL + math.log(2))
        misses["ledger lower"] += lower > mean
        misses["ledger upper"] += upper < mean
        misses["missing"] += tight_missing_bound(ledger.missing(0), 1, most, LEVEL) > mean
        middle = np.clip(delays - evidence.edges[1], 0, evidence.edges[2] - evidence.edges[1])
        truth = middle.mean() / (evidence.edges[2] - evidence.edges[1])
        if evidence.old[2] > 0:
            seen = min((evidence.full[2] + evidence.part[2]) / evidence.old[2], 1.0)
            misses["increment"] += kl_upper(seen, LEVEL / evidence.old[2]) < truth
    allowed = runs * 0.1 + 4 * math.sqrt(runs * 0.09)
    assert max(misses.values()) <= allowed, misses


@pytest.mark.parametrize("payoff", ["cost", "reward"])
def test_bounds_hold_and_the_best_arm_is_found(payoff: Any) -> None:
    """In every run all final bounds enclose the true means and the last arm is the best one."""
    policy = tarry.BDSE(bounds="tight") if payoff == "cost" else tarry.BHSE(bounds="tight")
    for seed in range(25):
        problem = tarry.problems.bernoulli(max_delay=60, probabilities=[0.2, 0.5, 0.8])
        kept: Any = Kept(policy)
        run = tarry.play(kept, problem, payoff=payoff, horizon=6000, seed=seed)
        sweep = kept.rule.sweep
        assert (np.asarray(sweep.lower) <= problem.means).all()
        assert (np.asarray(sweep.upper) >= problem.means).all()
        assert run.arms[-1] == problem.best(payoff)


@pytest.mark.parametrize("payoff", ["cost", "reward"])
@pytest.mark.parametrize("family", ["truncated_normal", "bernoulli"])
def test_less_regret_than_with_the_bounds_of_the_paper(payoff: Any, family: str) -> None:
    """On kept history: half of it for cost, not more for reward, at the paper's size."""
    cls = tarry.BDSE if payoff == "cost" else tarry.BHSE
    totals = []
    for policy in (cls(bounds="tight"), cls(keep_history=True)):
        totals.append(0.0)
        for seed in range(4):
            problem = tarry.problems.by_name(family)(30, 5000, seed=seed)
            run = tarry.play(policy, problem, payoff=payoff, horizon=150_000, seed=seed, record=1)
            totals[-1] += run.regret[-1]
    assert totals[0] <= totals[1] * (0.5 if payoff == "cost" else 1.0)


def test_the_threshold_never_passes_the_best_mean_by_more_than_a_step() -> None:
    """B stays at most 1.1 mu* for cost and at least mu* / 1.1 for reward."""
    for seed in range(10):
        problem = tarry.problems.truncated_normal(6, 80, seed=seed)
        cost: Any = Kept(tarry.BDSE(bounds="tight"))
        reward: Any = Kept(tarry.BHSE(bounds="tight"))
        tarry.play(cost, problem, payoff="cost", horizon=5000, seed=seed)
        tarry.play(reward, problem, payoff="reward", horizon=5000, seed=seed)
        assert cost.rule.threshold[0] <= max(1.1 * problem.means.min(), 1 / 80)
        assert reward.rule.threshold[0] >= problem.means.max() / 1.1


def test_other_words_are_refused() -> None:
    """Bounds are "paper" or "tight"."""
    with pytest.raises(InputError, match="bounds is 'loose'"):
        tarry.BDSE(bounds="loose")  # type: ignore[arg-type]  # a wrong word is the point
