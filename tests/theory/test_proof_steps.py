"""The lemmas inside the paper's proofs, as inequalities that recorded runs must satisfy.

An arm that was tested at time t and stayed is in the situation of the lemmas with tau_i = t; they
are checked at every such test, which is more than the last one. The good event is checked first:
without it the lemmas promise nothing.
"""

import functools
import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tarry
from tarry.arrays import FloatArray, IntArray
from tarry.policies import Policy
from tarry.problems import Problem
from tarry.problems.problem import Payoff
from tarry.theory import evidence, good_event

HORIZON = 20_000
SEEDS = range(4)
WORLDS: list[Problem] = [
    *(tarry.problems.bernoulli(5, 300, seed=seed) for seed in SEEDS),
    *(tarry.problems.truncated_normal(5, 300, seed=seed) for seed in SEEDS),
    tarry.problems.deterministic([20, 60, 300], max_delay=300),
    tarry.problems.hard_conservative_cost(20, 400),
]


class Stayed(NamedTuple):
    """Suboptimal arms at the tests that they passed, one entry for each."""

    problem: Problem
    gap: FloatArray  # Delta_i
    mean: FloatArray  # mu(i)
    n: IntArray
    missing: IntArray  # m(i)
    best_missing: IntArray  # m(i*) at the same test, -1 if the best arm is not active
    complete: IntArray  # n_F(i)
    active: IntArray  # K_i
    log: FloatArray  # L

    @property
    def width(self) -> FloatArray:
        """2 sqrt(2 L / n)."""
        return 2 * np.sqrt(2 * self.log / self.n)


def stayed(policy: Policy, problem: Problem, payoff: Payoff) -> Stayed:
    """What a run leaves of arms that stay although they are not the best."""
    run = tarry.play(policy, problem, payoff=payoff, horizon=HORIZON)
    assert good_event(run, problem).holds
    known = evidence(run, problem)
    best = problem.best(payoff)
    last = {arm: known.now[known.arm == arm].max() for arm in set(known.arm.tolist())}
    passed = known.now < np.array([last[arm] for arm in known.arm.tolist()])
    gap = problem.gaps(payoff)[known.arm]
    rows = passed & (gap > 0)
    of_best = dict(
        zip(
            known.now[known.arm == best].tolist(),
            known.missing[known.arm == best].tolist(),
            strict=True,
        )
    )
    return Stayed(
        problem,
        gap[rows],
        problem.means[known.arm][rows],
        known.plays[rows],
        known.missing[rows],
        np.array([of_best.get(now, -1) for now in known.now[rows].tolist()]),
        known.complete[rows],
        known.spacing[rows],
        known.log_term[rows],
    )


@functools.cache
def phases(payoff: Payoff) -> list[tuple[float, Stayed]]:
    """CSE or RSE with thresholds around the best mean, as BDSE and BHSE call them."""
    found = []
    for problem in WORLDS:
        best = max(float(problem.means[problem.best(payoff)]), 1 / problem.max_delay)
        for factor in (0.5, 1.0, 1.9):
            threshold = factor * best
            policy = tarry.CSE(threshold) if payoff == "cost" else tarry.RSE(threshold)
            found.append((threshold, stayed(policy, problem, payoff)))
    return found


def test_a_cost_arm_that_stays_is_near_the_threshold() -> None:
    """Lemma C.4: mu(i) <= B + 2 sqrt(2 L / n) + 2 D B / (K_i n) + (16 L + 2) / n."""
    for threshold, s in phases("cost"):
        waiting = 2 * s.problem.max_delay * threshold / (s.active * s.n)
        assert (s.mean <= threshold + s.width + waiting + (16 * s.log + 2) / s.n).all()


def test_a_reward_arm_that_stays_is_near_the_threshold() -> None:
    """Lemma D.4: B <= mu(i) + 2 sqrt(2 L / n) + 2 d(i) / (K_i n) + (16 L + 2) / n."""
    for threshold, s in phases("reward"):
        waiting = 2 * s.problem.max_delay * s.mean / (s.active * s.n)
        assert (threshold <= s.mean + s.width + waiting + (16 * s.log + 2) / s.n).all()


@pytest.mark.parametrize("payoff", ["cost", "reward"])
def test_complete_plays_of_an_arm_that_stays_are_few(payoff: Payoff) -> None:
    """Lemmas C.5 and D.5: gap n_F <= 32 L / gap, and gap n at most 2 gap D / K_i more."""
    for _, s in phases(payoff):
        assert (s.gap * (s.complete - 1) <= 32 * s.log / s.gap).all()  # n_F differs by one
        late = 2 * s.gap * s.problem.max_delay / s.active
        assert (s.gap * s.n <= 32 * s.log / s.gap + late + s.gap).all()


def test_regret_of_one_cost_arm() -> None:
    """Lemma C.6: gap n <= 128 L / gap + 8 D B / K_i."""
    for threshold, s in phases("cost"):
        waiting = 8 * s.problem.max_delay * threshold / s.active
        assert (s.gap * s.n <= 128 * s.log / s.gap + waiting).all()


def test_regret_of_one_reward_arm() -> None:
    """Lemma D.6, for B >= mu* / 2: gap n <= 289 L / gap + 12 d(i) / K_i."""
    for _, s in phases("reward"):
        waiting = 12 * s.problem.max_delay * s.mean / s.active
        assert (s.gap * s.n <= 289 * s.log / s.gap + waiting).all()


def test_steps_of_the_conservative_proof() -> None:
    """Lemma F.4 repaired: its two equations, and gap n as `sepk_bound` derives it."""
    for problem in WORLDS:
        s = stayed(tarry.SEPK(), problem, "cost")
        most, shortest = problem.max_delay, float(problem.mean_delays.min())
        assert (s.best_missing >= 0).all()  # the best arm is never removed
        assert (s.gap <= 2 * s.width + (s.missing + s.best_missing + 1) / s.n).all()
        blind = np.sqrt(most * (160 * s.log + 20) / s.active)
        few = 4 * math.sqrt(most * shortest) / s.active + blind + 2
        assert (s.missing <= np.maximum(few, 32 * s.log + 4)).all()
        waiting = 12 * math.sqrt(most * shortest) / s.active + 2 * blind
        assert (s.gap * s.n <= 128 * s.log / s.gap + waiting).all()


@given(seed=st.integers(0, 50), arms=st.integers(1, 40), offset=st.integers(0, 39))
def test_expected_number_of_missing_plays(seed: int, arms: int, offset: int) -> None:
    """Lemma B.1: with a play every R steps, E[m] <= d(i) / R + 1, whenever one looks."""
    problem = tarry.problems.truncated_normal(1, 200, seed=seed)
    ages = np.arange(1 + offset % arms, problem.max_delay + 1, arms)
    expected = float(np.sum(problem.survival(0, ages)))
    assert expected <= problem.mean_delays[0] / arms + 1


@given(
    pairs=st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=1, max_size=8),
    share=st.floats(0, 1),
)
def test_weights_of_the_smallest(pairs: list[tuple[float, float]], share: float) -> None:
    """Lemma B.2 for alpha >= 0: the k smallest have more than their share of the weights."""
    alphas = sorted(alpha for alpha, _ in pairs)
    betas = [beta for _, beta in pairs]
    k = max(1, round(share * len(pairs)))
    part = sum(b * a for a, b in zip(alphas[:k], betas[:k], strict=True))
    whole = sum(b * a for a, b in zip(alphas, betas, strict=True))
    assert sum(betas[:k]) * whole >= sum(betas) * part * (1 - 1e-9) - 1e-9


def test_sums_of_coins_are_not_far_from_their_means() -> None:
    """Lemmas G.1 and G.2: coins whose chances depend on the past fail both with 10 % at most."""
    rng = np.random.default_rng(5)
    runs, steps, delta = 4000, 300, 0.1
    heads = np.zeros(runs)
    chances = np.zeros(runs)
    low = np.zeros(runs, bool)
    for _ in range(steps):
        chance = np.where(heads > chances, 0.02, 0.3)  # less after luck
        chances += chance
        heads += rng.random(runs) < chance
        low |= heads < chances / 2 - math.log(1 / delta)
    high = heads > 2 * chances + 4 * math.log(1 / delta)
    error = math.sqrt(delta * (1 - delta) / runs)
    assert low.mean() <= delta + 4 * error
    assert high.mean() <= delta + 4 * error
