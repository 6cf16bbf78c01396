"""Every lemma behind the theorems of IncrementUCB, in numbers (docs/increment-ucb.md)."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

import tarry
from tarry.arrays import FloatArray, IntArray
from tarry.policies.coins import kl_lower, kl_upper
from tarry.policies.index.kept_bounds import SLOWNESS
from tarry.theory.increment_bounds import LATE, expected_failures
from tests.conformance.cases import Kept

THETA = 1.2564312086  # (e^theta - 1) / theta = 2


def coin_divergence(p: float, q: float) -> float:
    """kl(p, q) of two coins."""
    return sum(a * math.log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)


@given(p=st.floats(0, 1), q=st.floats(1e-9, 1 - 1e-9))
def test_divergence_is_at_least_its_quadratic(p: float, q: float) -> None:
    """(Q): kl(p, q) >= (p - q)^2 / (2 max(p, q))."""
    assert coin_divergence(p, q) >= (p - q) ** 2 / (2 * max(p, q)) - 1e-15


@given(mean=st.floats(0, 1), radius=st.floats(1e-6, 30))
def test_computed_ends_keep_the_quadratic(mean: float, radius: float) -> None:
    """What Newton's method returns is as near to the mean as the proofs use it to be."""
    low, up = kl_lower(mean, radius), kl_upper(mean, radius)
    assert mean - low <= math.sqrt(2 * mean * radius) + 1e-12
    assert up - mean <= math.sqrt(2 * up * radius) + 1e-12


def missed_at_once(q: float, delta: float, most: int) -> float:
    """P(some n <= most has n kl(mean, q) >= log(2 sqrt(n) / delta)) for a coin, exactly.

    Chances of the sums that never missed so far, step by step.
    """
    alive = np.array([1.0])
    for n in range(1, most + 1):
        alive = np.append(alive, 0.0) * (1 - q) + np.insert(alive, 0, 0.0) * q
        away = np.array([n * coin_divergence(s / n, q) for s in range(n + 1)])
        alive[away >= math.log(2 * math.sqrt(n) / delta)] = 0.0
    return 1.0 - float(alive.sum())


@pytest.mark.parametrize("delta", [0.9, 0.3, 0.05, 0.002])
def test_a_mean_misses_at_any_count_as_rarely_as_stated(delta: float) -> None:
    """The lemma, exactly, for coins and up to 80 tosses."""
    chances = [missed_at_once(q, delta, 80) for q in (0.01, 0.1, 0.3, 0.5, 0.8, 0.97)]
    assert max(chances) <= delta
    assert max(chances) >= delta / 20  # it is not empty


def test_the_mixture_is_never_far_below_its_largest_term() -> None:
    """The integral over its maximum is least at the ends, and there at least 1 / (2 sqrt n)."""
    for n in (1, 2, 3, 10, 100, 10_000):
        s = np.linspace(0, n, 401)
        beta = gammaln(s + 0.5) + gammaln(n - s + 0.5) - gammaln(n + 1) - math.log(math.pi)
        with np.errstate(divide="ignore", invalid="ignore"):
            top = np.nan_to_num(s * np.log(s / n)) + np.nan_to_num((n - s) * np.log1p(-s / n))
        ratio = beta - top
        assert ratio.min() == pytest.approx(ratio[0]) == pytest.approx(ratio[-1])
        assert ratio[0] >= -math.log(2 * math.sqrt(n)) - 1e-9
    assert ratio[0] <= -0.5 * math.log(math.pi * n) + 1e-3  # for large n it is this


def test_failures_add_up_to_a_double_logarithm() -> None:
    """A bound in use at t is of a step from 64 t / 65 on, and fails at most so often in all."""
    steps = np.arange(2, 1_000_001)
    made = -(-SLOWNESS * steps // (SLOWNESS + 1))
    assert (made + made // SLOWNESS >= steps).all()
    total = np.cumsum(1 / (made * (1 + np.log(made))))
    assert (total <= LATE * np.log(1 + np.log(steps))).all()
    assert total[-1] <= expected_failures(1_000_000)


def played(payoff: Any, seed: int, horizon: int = 150) -> tuple[Any, list[Any], int, Any]:
    """A run of IncrementUCB on its own choices: the rule, (starts, delays) by arm, now, problem."""
    laws = [([0, 24], [0.75, 0.25]), (list(range(25)), [0.04] * 25), ([2, 20, 23], [0.4, 0.3, 0.3])]
    problem = tarry.problems.from_pmf(laws, max_delay=24)
    kept: Any = Kept(tarry.IncrementUCB())
    run = tarry.play(kept, problem, payoff=payoff, horizon=horizon, seed=seed)
    steps = np.arange(1, horizon + 1)
    by_arm = [(steps[run.arms == arm], run.delays[run.arms == arm]) for arm in range(3)]
    return kept.rule, by_arm, horizon + 1, problem


def increment(delays: IntArray, low: int, high: int) -> FloatArray:
    """Y_b."""
    return np.clip(delays - low, 0, high - low) / (high - low)


@pytest.mark.parametrize("payoff", ["cost", "reward"])
def test_statistics_are_of_the_first_plays_and_on_the_safe_side(payoff: Any) -> None:
    """What the rule counts is about a prefix of the arm's plays, and never too favourable."""
    for seed in range(20):
        rule, by_arm, now, _ = played(payoff, seed)
        grid = len(rule.edges)
        for arm, (starts, delays) in enumerate(by_arm):
            before, low = len(starts), 0
            for b, high in enumerate(np.asarray(rule.edges).tolist()):
                place = arm * grid + b
                full, part = rule.increments.full[place], rule.increments.part[place]
                old = rule.increments.old[place]
                assert (now - starts[:old] >= high).all()
                assert (now - starts[old:] < high).all()
                assert full == np.sum(delays[:old] >= high)
                means = increment(delays, low, high)
                assert full + part <= means[:before].sum() + 1e-9
                assert full + part >= means[:old].sum() - 1e-9
                before, low = old, high


@pytest.mark.parametrize("payoff", ["cost", "reward"])
def test_every_bound_holds_under_the_policys_own_play(payoff: Any) -> None:
    """At a level of 10 % for all counts together no bound misses more often than that."""
    runs, delta = 80, 0.1
    misses: dict[tuple[int, str], int] = {}
    for seed in range(runs):
        rule, by_arm, now, problem = played(payoff, seed)
        for arm, (starts, delays) in enumerate(by_arm):
            law = problem.laws[arm]
            for name, low, up, truth in bounds(rule, arm, starts, delays, now, law, delta):
                wrong = low > truth + 1e-12 or up < truth - 1e-12
                misses[arm, name] = misses.get((arm, name), 0) + wrong
    allowed = runs * delta + 4 * math.sqrt(runs * delta * (1 - delta))
    assert len(misses) >= 3 * 6
    assert max(misses.values()) <= allowed, misses


def bounds(
    rule: Any, arm: int, starts: IntArray, delays: IntArray, now: int, law: Any, delta: float
) -> Any:
    """Name, lower end, upper end and truth of each statistic that the index is made of."""
    age, n, most = now - starts, len(starts), 24

    def ends(low_mean: float, low_n: int, up_mean: float, up_n: int) -> tuple[float, float]:
        def level(count: int) -> float:
            return math.log(2 * math.sqrt(count) / delta) / count

        low = kl_lower(low_mean, level(low_n)) if low_n else 0.0
        return low, kl_upper(up_mean, level(up_n)) if up_n else 1.0

    seen = delays < age
    minus = np.where(seen, delays, age).sum() / (most * n)
    plus = np.where(seen, delays, most).sum() / (most * n)
    yield "mu_minus, mu_plus", *ends(minus, n, plus, n), law.mean / most
    done = delays[age >= most]
    if len(done):
        mean = done.mean() / most
        yield "mu_F", *ends(mean, len(done), mean, len(done)), law.mean / most
    before, low = n, 0
    for b, high in enumerate(np.asarray(rule.edges).tolist()):
        place = arm * len(rule.edges) + b
        full, part = rule.increments.full[place], rule.increments.part[place]
        old = int(rule.increments.old[place])
        truth = float(increment(law.values, low, high) @ law.probabilities)
        up = min((full + part) / old, 1.0) if old else 1.0
        known = (full + part) / before if before else 0.0
        yield f"Y_{b + 1}", *ends(known, before, up, old), truth
        if old:
            lasted = float(law.probabilities[law.values >= high].sum())
            yield f"lasts to {high}", *ends(full / old, old, full / old, old), lasted
        before, low = old, high


def test_missing_plays_are_few_exactly() -> None:
    """(M): E exp(theta m - (e^theta - 1) E_t) <= 1 over all outcomes of six plays, and so P."""
    values, chances, steps = (0, 2, 3), (0.5, 0.2, 0.3), 6
    lasting = {
        age: sum(p for v, p in zip(values, chances, strict=True) if v >= age) for age in range(8)
    }
    policy, mean, tail = tarry.IncrementUCB(), 0.0, dict.fromkeys((0.1, 0.5, 1.0), 0.0)
    mean_delay = sum(v * p for v, p in zip(values, chances, strict=True))
    for outcome in itertools.product(range(3), repeat=steps):
        table = [[values[k], 2] for k in outcome]
        problem = tarry.problems.replay(table, max_delay=3)
        run = tarry.play(policy, problem, payoff="reward", horizon=steps)
        chance = math.prod(chances[k] for k in outcome)
        mine = np.flatnonzero(run.arms == 0)
        ages = steps - mine
        out = int(np.sum(run.delays[mine] >= ages))
        expected = sum(lasting[int(age)] for age in ages)
        assert expected <= mean_delay + 1e-12
        mean += chance * math.exp(THETA * out - (math.exp(THETA) - 1) * expected)
        for u in tail:
            tail[u] += chance * (out > 2 * mean_delay + u / THETA)
    assert mean <= 1 + 1e-12
    assert all(tail[u] <= math.exp(-u) for u in tail)
