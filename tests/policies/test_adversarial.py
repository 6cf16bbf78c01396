"""The regularised leader: its minimum, its losses from the list of plays, where it is needed."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarry
from tarry.arrays import FloatArray
from tarry.errors import InputError, UnknownNameError
from tarry.policies.adversarial.leader import new_leader
from tarry.randomness import SELECT, new_random
from tarry.theory import hindsight_regret
from tests.sizes import examples


@given(
    losses=st.lists(st.floats(0, 1e4), min_size=1, max_size=8),
    step=st.integers(1, 10**6),
    inverse_rate=st.one_of(st.just(0.0), st.floats(1e-6, 1e4)),
)
def test_probabilities_are_the_minimum(losses: list[float], step: int, inverse_rate: float) -> None:
    """They sum to 1, and the derivative of the objective is the same for all arms."""
    leader = new_leader(tarry.Setting(len(losses), 10, 0, reward=False))
    leader.follow(np.array(losses), step, inverse_rate)
    x = np.asarray(leader.chances)
    assert x.sum() == pytest.approx(1)
    assert (x > 0).all()
    slope = np.array(losses) - math.sqrt(step) / np.sqrt(x) + inverse_rate * np.log(x)
    assert slope == pytest.approx(np.full(len(x), slope[0]), rel=1e-6, abs=1e-6)


def delayed_losses(
    t: int, plays: list[tuple[int, int, int, float]], arms: int, most: int
) -> tuple[FloatArray, float]:
    """L_obs, and m_t, from a list of (start, arm, delay, probability)."""
    losses, out = np.zeros(arms), 0
    for s, arm, d, x in plays:
        if s + d < t:
            losses[arm] += d / most / x
        else:
            out += 1
    return losses, out


def accrued_losses(
    t: int, plays: list[tuple[int, int, int, float]], arms: int, most: int
) -> tuple[FloatArray, float]:
    """L_t, and m_t, likewise."""
    losses = np.zeros(arms)
    for s, arm, d, x in plays:
        losses[arm] += min(d, t - s) / most / x
    return losses, sum(1 - a / most for a in range(1, min(t - 1, most) + 1))


@pytest.mark.parametrize(
    ("policy", "told"),
    [(tarry.DelayedFTRL(), delayed_losses), (tarry.AccrualFTRL(), accrued_losses)],
    ids=["delayed", "accrual"],
)
@settings(max_examples=examples(25))
@given(seed=st.integers(0, 10**6), arms=st.integers(2, 4), most=st.integers(1, 12))
def test_arms_follow_from_the_list_of_plays(
    policy: Any, told: Callable[..., Any], seed: int, arms: int, most: int
) -> None:
    """Losses recounted from all plays in every step lead to the arms that were played."""
    table = np.random.default_rng(seed).integers(0, most + 1, (60, arms))
    problem = tarry.problems.replay(table, max_delay=most)
    runs = [
        tarry.play(policy, problem, payoff="cost", horizon=60, seed=seed, mode=mode)
        for mode in ("compiled", "interpreted")
    ]
    assert np.array_equal(runs[0].arms, runs[1].arms)
    plays: list[tuple[int, int, int, float]] = []
    rng, leader, waiting = (
        new_random(seed),
        new_leader(tarry.Setting(arms, 10, 0, reward=False)),
        0.0,
    )
    for t in range(1, 61):
        losses, out = told(t, plays, arms, most)
        waiting += out
        leader.follow(losses, t, math.sqrt(2 * waiting / math.log(arms)))
        rng = rng.of_play(t, SELECT)
        left, arm = rng.random(), 0
        while arm < arms - 1 and left >= leader.chances[arm]:
            left -= leader.chances[arm]
            arm += 1
        assert runs[0].arms[t - 1] == arm
        plays.append((t, arm, int(table[t - 1, arm]), leader.chances[arm]))


@pytest.mark.parametrize("policy", [tarry.DelayedFTRL(), tarry.AccrualFTRL()])
def test_every_play_that_can_be_out_is_remembered(policy: Any) -> None:
    """A play is overwritten after all later ones that can be out; too many are refused."""
    for most, horizon in ((10, 10**9), (7, 0), (8, 0), (2**40, 9)):
        rows = len(policy.start(tarry.Setting(2, most, horizon, reward=False)).leader.drawn)
        assert rows > min(most, horizon or most)
    for most, horizon in ((2**20, 2**20), (2**20, 0)):
        with pytest.raises(InputError, match="Up to 1048576 plays can be out"):
            policy.start(tarry.Setting(2, most, horizon, reward=False))


def lost(policy: Any, problem: Any) -> float:
    """Regret in hindsight."""
    run = tarry.play(policy, problem, payoff="cost", horizon=problem.horizon_limit, seed=1)
    return float(hindsight_regret(run, problem, "cost")[-1])


@pytest.mark.parametrize("tactic", ["swap", "slow leader", "random"])
def test_regret_in_hindsight_is_as_small_as_the_source_says(tactic: Any) -> None:
    """Of order sqrt(K T) + sqrt(S log K), S all delays added up; the loss of a constant is 2."""
    problem = tarry.problems.adversary(tactic, arms=3, max_delay=40, horizon=10_000, seed=2)
    waited = float(problem.table.mean(axis=1).sum())
    order = math.sqrt(3 * 10_000) + math.sqrt(waited * math.log(3))
    assert lost(tarry.DelayedFTRL(), problem) < 2 * order
    assert lost(tarry.AccrualFTRL(), problem) < 2 * order


def test_who_trusts_the_past_is_misled_by_a_slow_leader() -> None:
    """An index of the seen answers loses several times as much as it would by lot."""
    problem = tarry.problems.adversary("slow leader", arms=3, max_delay=40, horizon=10_000, seed=2)
    trusting = lost(tarry.DelayedUCB(), problem)
    assert trusting > 2 * lost(tarry.DelayedFTRL(), problem)
    assert trusting > 2 * lost(tarry.Uniform(), problem)


def test_the_leader_is_slow_and_all_arms_are_alike_in_hindsight() -> None:
    """Who leads after a block is slow in the next, and nobody leads by more than a block."""
    problem = tarry.problems.adversary("slow leader", arms=3, max_delay=100, horizon=6000)
    totals = problem.table.sum(axis=0)
    assert totals.max() - totals.min() <= 100 * 6000 / 50 + 1e4
    half = problem.table[:2400].sum(axis=0)
    assert problem.table[2400:2520].mean(axis=0).argmax() == half.argmin()


def test_what_an_adversary_may_be_asked() -> None:
    """Tables are the same for the same seed; other tactics and cut runs are refused."""
    one, two = (tarry.problems.adversary("random", horizon=50, seed=s) for s in (3, 4))
    assert one == tarry.problems.adversary("random", horizon=50, seed=3) != two
    with pytest.raises(UnknownNameError, match="no tactic of an adversary named 'charm'"):
        tarry.problems.adversary("charm")  # type: ignore[arg-type]  # a wrong word is the point
    run = tarry.play(tarry.Uniform(), one, payoff="cost", horizon=50, record=5)
    with pytest.raises(InputError, match="5 recorded steps of 50"):
        hindsight_regret(run, one, "cost")
    other: Any = tarry.problems.bernoulli(2, 5, seed=1)
    full = tarry.play(tarry.Uniform(), other, payoff="cost", horizon=50)
    with pytest.raises(InputError, match="hindsight needs a table"):
        hindsight_regret(full, other, "cost")


def test_rewards_in_hindsight_are_mirrored() -> None:
    """What is lost as a cost is won as a reward, against the other end of the table."""
    problem = tarry.problems.adversary("random", arms=2, max_delay=9, horizon=300)
    run = tarry.play(tarry.Uniform(), problem, payoff="reward", horizon=300)
    totals = problem.table.sum(axis=0) / 9
    paid = run.delays.sum() / 9
    assert hindsight_regret(run, problem, "reward")[-1] == pytest.approx(totals.max() - paid)
    assert hindsight_regret(run, problem, "cost")[-1] == pytest.approx(paid - totals.min())
