"""The paper's two safety lemmas, and the bounds they rest on, in simulation."""

from collections.abc import Callable, Iterator

import pytest
import scipy.stats

import tarry
from tarry.policies import Policy
from tarry.problems import Problem
from tarry.problems.problem import Payoff
from tarry.theory import bound_coverage, good_event

SEEDS = range(25)
HORIZON = 20_000
FAMILIES: dict[str, Callable[[int], Problem]] = {
    "truncated_normal": lambda seed: tarry.problems.truncated_normal(5, 300, seed=seed),
    "bernoulli": lambda seed: tarry.problems.bernoulli(5, 300, seed=seed),
    "cdn": lambda seed: tarry.problems.cdn(5, 300, seed=seed),
    "serverless": lambda seed: tarry.problems.serverless(5, 1000, seed=seed),
    "dwell": lambda seed: tarry.problems.dwell(5, 600, seed=seed),
    "survival": lambda seed: tarry.problems.survival(4, 1095, seed=seed),
    "fixed": lambda seed: tarry.problems.hard_cost(20 + seed, 400, flipped=seed % 2 == 1),
    "fixed, four arms": lambda seed: tarry.problems.hard_reward(50 + seed, 400, arms=4),
    "close": lambda seed: tarry.problems.hard_close(20 + seed, 400, "AB"[seed % 2]),  # type: ignore[arg-type]  # a letter of "AB"
    "conservative": lambda seed: tarry.problems.hard_conservative_cost(20 + seed, 400),
}


def runs(family: str, payoff: Payoff) -> Iterator[tuple[Problem, tarry.Run]]:
    """CSE or RSE with the threshold at the best mean, and at twice or half of it."""
    for seed in SEEDS:
        problem = FAMILIES[family](seed)
        best = float(problem.means[problem.best(payoff)])
        policy: Policy
        if payoff == "cost":
            policy = tarry.CSE(max(best * (1 + seed % 2), 1 / problem.max_delay))
        else:
            policy = tarry.RSE(best / (1 + seed % 2))
        yield problem, tarry.play(policy, problem, payoff=payoff, horizon=HORIZON, seed=seed)


@pytest.mark.parametrize("payoff", ["cost", "reward"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_safe_threshold_never_fails_nor_loses_the_best_arm(family: str, payoff: Payoff) -> None:
    """With B >= mu* (cost) or B <= mu* (reward) no run fails, and the best arm is played on."""
    removed = 0
    for problem, run in runs(family, payoff):
        tail = set(run.arms[-2 * problem.arms :].tolist())  # holds a full sweep
        assert run.failed_at is None
        assert problem.best(payoff) in tail
        removed += problem.arms - len(tail)
    assert removed > 0


@pytest.mark.parametrize("payoff", ["cost", "reward"])
def test_bounds_hold_in_every_family(payoff: Payoff) -> None:
    """At T = 20 000 the lemmas allow next to nothing, and no bound is ever wrong."""
    for family in FAMILIES:
        for problem, run in list(runs(family, payoff))[:3]:
            covered = bound_coverage(run, problem)
            assert covered.tests > 1000
            assert set(covered.wrong.values()) == {0}
            assert good_event(run, problem).holds


@pytest.mark.parametrize("policy", [tarry.CSE(0.8), tarry.SEPK()], ids=str)
def test_bounds_fail_no_more_often_than_allowed(policy: Policy) -> None:
    """At T = 20 the lemmas allow failures in some runs; there are no more than they allow."""
    horizon, count = 20, 400
    problem = tarry.problems.bernoulli(3, 4, probabilities=[0.2, 0.5, 0.6])
    wrong: dict[str, int] = {}
    allowed: dict[str, float] = {}
    for seed in range(count):
        run = tarry.play(policy, problem, payoff="cost", horizon=horizon, seed=seed)
        covered, event = bound_coverage(run, problem), good_event(run, problem)
        allowed = {**covered.allowed, **event.allowed}
        for name, failures in {**covered.wrong, **event.failures}.items():
            wrong[name] = wrong.get(name, 0) + (failures > 0)
    for name, times in wrong.items():
        assert times <= scipy.stats.binom(count, allowed[name]).ppf(0.999)
