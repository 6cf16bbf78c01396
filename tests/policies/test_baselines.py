"""The baselines of the field: as transcribed from their sources, and what is said of them."""

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import tarry
from tarry.errors import InputError
from tarry.policies.index.beta_tail import beta_upper
from tarry.policies.index.kl_ucb import lowest_coin
from tarry.problems.problem import Payoff
from tests.policies import literal, literal_baselines
from tests.policies.test_literal import compare, delays
from tests.sizes import examples

Case = tuple[Any, Payoff, Callable[[literal.World], Iterator[int]]]
CASES: list[Case] = [
    (tarry.KLUCB(), "cost", functools.partial(literal_baselines.kl_ucb, c=0.0)),
    (tarry.KLUCB(c=3.0), "reward", functools.partial(literal_baselines.kl_ucb, c=3.0)),
    (tarry.MOSS(), "cost", literal_baselines.moss),
    (tarry.MOSS(), "reward", literal_baselines.moss),
    (tarry.IMED(), "cost", literal_baselines.imed),
    (tarry.IMED(), "reward", literal_baselines.imed),
    (tarry.BayesUCB(), "cost", literal_baselines.bayes_ucb),
    (tarry.BayesUCB(), "reward", literal_baselines.bayes_ucb),
    (tarry.QPMD(), "cost", literal_baselines.qpmd),
    (tarry.QPMD(), "reward", literal_baselines.qpmd),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{policy}-{payoff}" for policy, payoff, _ in CASES])
def test_as_transcribed(case: Case) -> None:
    """Compiled, interpreted and transcribed, each plays the same arms on many small worlds."""

    @settings(max_examples=examples(60))
    @given(
        kind=st.sampled_from(["zero", "longest", "constant", "two-point", "near", "uniform"]),
        arms=st.integers(1, 4),
        max_delay=st.one_of(st.integers(1, 3), st.integers(1, 40)),
        horizon=st.one_of(st.integers(1, 12), st.integers(13, 70)),
        seed=st.integers(0, 2**16),
    )
    def check(kind: str, arms: int, max_delay: int, horizon: int, seed: int) -> None:
        compare(case, delays(kind, arms, max_delay, horizon, seed), max_delay)

    check()
    compare(case, delays("two-point", arms=3, max_delay=60, horizon=200, seed=3), 60)


def test_quantiles_of_the_beta_law() -> None:
    """They are those of SciPy, for shapes from 1 to 100 000 and far out in the tail."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        n, mean, level = 10 ** rng.uniform(0, 5), rng.random(), rng.uniform(0.5, 16)
        a, b = 1 + n * mean, 1 + n * (1 - mean)
        assert beta_upper(a, b, level) == pytest.approx(
            stats.beta.isf(math.exp(-level), a, b), 1e-9
        )


@given(mean=st.floats(0.0001, 0.9999), radius=st.floats(1e-6, 5))
def test_lower_bounds_of_coins_are_exact(mean: float, radius: float) -> None:
    """The bound of KLUCB solves its equation where the solution is a number of ordinary size."""
    q = lowest_coin(mean, radius)
    assert 0 < q <= mean
    if q > 1e-200:
        assert literal_baselines.coin_entropy(mean, q) == pytest.approx(radius, rel=1e-6, abs=1e-9)


def test_queues_keep_the_order_of_plays() -> None:
    """UCB1 behind the queues is fed the delays of an arm as they were played, whatever comes first.

    One arm takes 9 and 0 in turn. While the first play is out, the quick ones behind it wait, so
    that the other arm, at 5, is not thought worse by answers that came early.
    """
    table = np.array([[9 if step % 2 == 0 else 0, 5] for step in range(400)])
    problem = tarry.problems.replay(table, max_delay=9)
    first = tarry.play(tarry.QPMD(), problem, payoff="cost", horizon=11).arms.tolist()
    assert first == [0] * 10 + [1]


@pytest.mark.parametrize("payoff", ["cost", "reward"])
def test_waiting_costs_at_most_the_longest_delay_per_arm(payoff: Payoff) -> None:
    """The regret of QPMD keeps to its bound: UCB1's (Auer et al. 2002), and (D + 1) sum of gaps."""
    horizon = 40_000
    problem = tarry.problems.bernoulli(arms=5, max_delay=200, seed=4)
    gaps = problem.gaps(payoff)
    runs = [
        tarry.play(tarry.QPMD(), problem, payoff=payoff, horizon=horizon, seed=seed, record=1)
        for seed in range(20)
    ]
    worse = gaps[gaps > 0]
    ucb1 = (8 * math.log(horizon) / worse + (1 + math.pi**2 / 3) * worse).sum()
    regrets = np.array([run.regret[-1] for run in runs])
    error = regrets.std(ddof=1) / math.sqrt(len(regrets))
    assert regrets.mean() - 5 * error < ucb1 + (problem.max_delay + 1) * gaps.sum()


@pytest.mark.parametrize("c", [-1, math.nan, "3", True])
def test_bad_settings_are_refused(c: Any) -> None:
    """KLUCB takes a number from 0 on."""
    with pytest.raises(InputError, match=r"The c of KLUCB is .*; it must be a number from 0 on\."):
        tarry.KLUCB(c=c)
