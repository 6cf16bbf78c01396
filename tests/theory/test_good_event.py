"""The good event and the bounds that follow from it."""

import numpy as np
import pytest

import tarry
from tarry.problems.problem import Payoff
from tarry.theory import bound_coverage, confidence_bounds, evidence, good_event


def test_failures_are_found() -> None:
    """A mean that is told wrong makes the parts of the good event and the bounds fail."""
    problem = tarry.problems.deterministic([100, 400], max_delay=400)
    run = tarry.play(tarry.SEPK(), problem, payoff="cost", horizon=3000)
    wrong = tarry.problems.deterministic([0, 0], max_delay=400)
    event = good_event(run, wrong)
    assert not event.holds
    assert event.failures["mean"] > 0
    assert event.nearest["mean"] < 0
    covered = bound_coverage(run, wrong)
    assert covered.wrong["L1"] > 0
    assert covered.wrong["U1"] == 0


def test_few_missing_plays_are_found() -> None:
    """Where answers come back at once, a long mean makes the lower bound on missing plays fail."""
    problem = tarry.problems.deterministic([1, 1], max_delay=2000)
    run = tarry.play(tarry.SEPK(), problem, payoff="cost", horizon=3000)
    slow = tarry.problems.deterministic([2000, 2000], max_delay=2000)
    event = good_event(run, slow)
    assert event.failures["few"] > 0
    assert bound_coverage(run, slow).wrong["U3"] > 0


def test_many_missing_plays_are_found() -> None:
    """Where plays stay out, a short mean makes the upper bound on missing plays and L3 fail."""
    problem = tarry.problems.deterministic([2000, 2000], max_delay=2000)
    run = tarry.play(tarry.SEPK(), problem, payoff="cost", horizon=3000)
    quick = tarry.problems.deterministic([1, 1], max_delay=2000)
    assert good_event(run, quick).failures["missing"] > 0
    assert bound_coverage(run, quick).wrong["L3"] > 0


@pytest.mark.parametrize("payoff", ["cost", "reward"])
def test_allowed_is_what_the_lemmas_say(payoff: Payoff) -> None:
    """The paper allows 1/T^2, 2/T^2 and 1/T^2; nothing fails in an ordinary run."""
    problem = tarry.problems.truncated_normal(5, 200, seed=1)
    run = tarry.play(tarry.SEPK(), problem, payoff=payoff, horizon=20_000)
    event = good_event(run, problem)
    assert event.holds
    assert event.allowed == {"missing": 20_000**-2, "mean": 2 * 20_000**-2, "few": 20_000**-2}
    assert all(near > 0 for near in event.nearest.values())
    assert event.checks["mean"] > 10_000


def test_bounds_equal_those_of_the_rule() -> None:
    """At the last test of CSE the bounds from the record are those that the rule computed."""
    problem = tarry.problems.deterministic([30, 60, 200], max_delay=200)
    policy = tarry.CSE(0.9)
    horizon = 601
    run = tarry.play(policy, problem, payoff="cost", horizon=horizon, mode="interpreted")
    bounds = confidence_bounds(evidence(run, problem), problem.max_delay)
    known = evidence(run, problem)
    last = known.now == known.now.max()
    lower = np.maximum.reduce([bounds["L1"], bounds["L2"], bounds["L3"]])[last]

    setting = tarry.Setting(arms=3, max_delay=200, horizon=horizon, reward=False)
    rule = policy.start(setting)
    ledger = tarry.ledger.empty_ledger(3)
    now = int(known.now.max())
    for step in range(1, now):
        arm, delay = int(run.arms[step - 1]), int(run.delays[step - 1])
        ledger.book_play(arm, step)
        if step + delay < now:
            ledger.book_return(step, arm, step, delay)
        if step <= now - 200:
            ledger.book_complete(step, arm, delay)
    rule.cost_bounds(ledger, now, 3)
    order = known.arm[last]
    assert lower == pytest.approx(rule.sweep.lower[order])
    assert bounds["U2"][last] == pytest.approx(rule.sweep.upper[order])
