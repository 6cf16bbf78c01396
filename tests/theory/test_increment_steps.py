"""The steps between the lemmas and the theorems of IncrementUCB, in numbers, by their labels."""

import math
from typing import Any

import numpy as np
from benchmarks.theorem import random_law
from hypothesis import given
from hypothesis import strategies as st

import tarry
from tarry.policies.coins import kl_lower, kl_upper
from tarry.policies.index.increment_ucb import increment_edges
from tarry.policies.index.unbounded_ucb import doubling_ages
from tarry.theory.increment_bounds import Setup, coarseness, spread_price
from tests.conformance.cases import Kept
from tests.theory.test_increment_lemmas import coin_divergence

LEVELS = {
    "q": st.floats(1e-3, 0.999),
    "mean": st.floats(0, 1),
    "level": st.floats(0.5, 40),
    "plays": st.integers(1, 5000),
    "spread": st.sampled_from([0.0, 0.5, 2.0]),
}


@given(**LEVELS)
def test_step_2(q: float, mean: float, level: float, plays: int, spread: float) -> None:
    """(2): where the mean keeps within its level, kl_- is at most 2 sqrt(2 kappa q l / n) off."""
    if mean < q and plays * coin_divergence(mean, q) >= level:
        return
    radius = 2 * math.sqrt(2 * spread_price(spread) * q * level / plays)
    assert kl_lower(mean, (1 + spread) * level / plays) >= q - radius - 1e-12


@given(more=st.floats(0, 1), **LEVELS)
def test_step_3(
    more: float, q: float, mean: float, level: float, plays: int, spread: float
) -> None:
    """(3): U - 2 sqrt(2 kappa U l / n) is at most mu_i + y - mean; it grows from 2 kappa l / n."""
    if mean > q and plays * coin_divergence(mean, q) >= level:
        return
    width = 2 * spread_price(spread) * level / plays

    def left(upper: float) -> float:
        return upper - 2 * math.sqrt(width * upper)

    seen = min(mean + more, 1.0)
    upper = kl_upper(seen, (1 + spread) * level / plays)
    assert left(upper) <= q + (seen - mean) + 1e-9
    grid = [left(width * factor) for factor in (1.0, 1.1, 2.0, 10.0)]
    assert grid == sorted(grid)


def test_levels_per_play_fall() -> None:
    """lambda_T(n) / n falls in n, for every P and T: the oldest plays are the least sure."""
    counts = np.arange(1, 2000)
    for means, horizon in ((1, 2), (2, 2), (40, 10**6)):
        known = Setup(horizon, 1.0, 1.0, means)
        levels = [known.level(1.0) + 0.5 * math.log(n) for n in counts.tolist()]
        assert (np.diff(np.array(levels) / counts) < 0).all()


def test_step_b_of_theorem_1() -> None:
    """Where the first pieces of a far arm end, and how much of its mean they hold: random laws."""
    rng, far = np.random.default_rng(17), 0
    for _ in range(400):
        most = int(np.exp(rng.uniform(0, np.log(3000))))
        edges, law = increment_edges(most), tarry.problems.Law(*random_law(rng, most))
        r, mean = coarseness(edges), law.mean / most
        best = mean / (2 * r) * rng.random()  # so that mu_i >= 2 r mu*
        shorter = np.array([np.minimum(law.values, x) @ law.probabilities for x in edges])
        lasting = np.array([law.probabilities[law.values >= x].sum() for x in edges])
        assert (shorter >= mean * edges - 1e-9).all()  # G_i is concave
        if mean == 0:
            continue
        far += 1
        b = int(np.flatnonzero(shorter >= 2 * r * most * best)[0])
        held = float(np.diff(edges[: b + 1], prepend=0) @ lasting[: b + 1]) / most
        assert held >= 2 * best - 1e-12
        assert edges[b] <= 1 + 2 * r**2 * most * best / mean + 1e-9
        assert edges[b] / most / held <= r / mean + 1e-9
    assert far > 300


def test_unbounded_bounds_hold_under_the_policys_own_play() -> None:
    """At the level of its last step no index is above its mean delay in 60 runs, tails and all."""
    values = 2 ** np.arange(10)
    heavy = values**-0.8 / (values**-0.8).sum()
    laws = [([3, 40], [0.5, 0.5]), (values.tolist(), heavy.tolist())]
    problem = tarry.problems.from_pmf(laws, max_delay=2**9)
    highest = 0.0
    for seed in range(60):
        kept: Any = Kept(tarry.IncrementUCB(unbounded=True))
        run = tarry.play(kept, problem, payoff="cost", horizon=300, seed=seed)
        ages = doubling_ages(problem.max_delay)
        for arm in range(2):
            starts = np.flatnonzero(run.arms == arm) + 1
            delays = run.delays[run.arms == arm]
            for k, age in enumerate(ages.tolist()):
                count, place = kept.rule.old[arm * len(ages) + k], arm * len(ages) + k
                assert (301 - starts[:count] >= age).all()  # the first plays of the arm
                assert (301 - starts[count:] < age).all()
                total = np.minimum(delays[:count], age).sum() / age
                assert abs(kept.rule.capped[place] - total) < 1e-9
            bound = kept.rule.lower_delay(arm, 300, 1.0)
            highest = max(highest, bound / problem.mean_delays[arm])
    assert 0.2 < highest <= 1
