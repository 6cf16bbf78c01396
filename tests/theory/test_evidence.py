"""What is rebuilt from a record, against sets built from the list of plays."""

import math
from typing import Any

import numpy as np
import pytest

import tarry
from tarry.errors import InputError
from tarry.theory import Evidence, evidence


def naive(run: tarry.Run, problem: tarry.problems.Problem, now: int, arm: int) -> dict[str, Any]:
    """The evidence on one arm at time `now`, by the definitions."""
    kept = run.policy in (tarry.BDSE(keep_history=True), tarry.BDSE(bounds="tight"))
    first = max((int(s) for s in run.restarts if s < now), default=1) if not kept else 1
    steps = [s for s in range(first, now) if run.arms[s - 1] == arm]
    delay = {s: int(run.delays[s - 1]) for s in steps}
    missing = [s for s in steps if s + delay[s] >= now]
    complete = [s for s in steps if s <= now - problem.max_delay]
    left = run.horizon if first == 1 else max(run.horizon - first + 1, 2)
    return {
        "plays": len(steps),
        "missing": len(missing),
        "missing_age": sum(now - s for s in missing),
        "seen_sum": sum(delay[s] for s in steps if s not in missing),
        "complete": len(complete),
        "complete_sum": sum(delay[s] for s in complete),
        "total": sum(delay.values()),
        "log_term": math.log(left),
    }


def rows_of(known: Evidence) -> list[dict[str, Any]]:
    """The evidence row by row."""
    names = known._fields
    return [dict(zip(names, row, strict=True)) for row in zip(*known, strict=True)]


POLICIES = [
    tarry.BDSE(),
    tarry.BDSE(keep_history=True),
    tarry.BDSE(bounds="tight"),
    tarry.SEPK(),
    tarry.CSE(0.05),
]


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("after", ["sweep", "play"])
def test_evidence_is_that_of_the_definitions(policy: tarry.policies.Policy, after: str) -> None:
    """Every count and sum equals that of the sets M, O and F of the phase."""
    problem = tarry.problems.deterministic([3, 40, 120], max_delay=120)
    run = tarry.play(policy, problem, payoff="cost", horizon=900, mode="interpreted")
    rows = rows_of(evidence(run, problem, after=after))
    assert len(rows) > 100
    for row in rows[:: max(1, len(rows) // 150)]:
        expected = naive(run, problem, int(row["now"]), int(row["arm"]))
        assert {name: row[name] for name in expected} == pytest.approx(expected)


def test_spacing_is_the_size_of_the_sweep() -> None:
    """After each sweep the spacing of its arms is how many arms it had."""
    problem = tarry.problems.deterministic([3, 40, 120], max_delay=120)
    run = tarry.play(tarry.SEPK(), problem, payoff="cost", horizon=3000)
    known = evidence(run, problem)
    for now in np.unique(known.now):
        rows = known.now == now
        assert set(known.spacing[rows]) == {int(rows.sum())}


def test_kept_history_uses_the_smallest_recent_sweep() -> None:
    """With kept history the spacing is the smallest sweep that ended in the last D steps."""
    problem = tarry.problems.deterministic([60, 100], max_delay=100)
    run = tarry.play(tarry.BDSE(keep_history=True), problem, payoff="cost", horizon=4000)
    known = evidence(run, problem)
    ends, sizes = np.unique(known.now, return_counts=True)
    grown = 0
    for now, size in zip(ends, sizes, strict=True):
        recent = (ends <= now) & (ends - 1 > now - problem.max_delay)
        spacing = set(known.spacing[known.now == now].tolist())
        assert spacing == {int(sizes[recent].min())}
        grown += spacing != {int(size)}
    assert grown > 0


def test_a_thinned_record_is_refused() -> None:
    """A run of which only some steps were recorded cannot be rebuilt."""
    problem = tarry.problems.deterministic([3, 40], max_delay=40)
    run = tarry.play(tarry.SEPK(), problem, payoff="cost", horizon=100, record=10)
    with pytest.raises(InputError, match="10 recorded steps of 100"):
        evidence(run, problem)


def test_one_unfinished_sweep_is_no_evidence() -> None:
    """A run that ends in its first sweep has no test."""
    problem = tarry.problems.deterministic([3, 4, 5], max_delay=5)
    run = tarry.play(tarry.SEPK(), problem, payoff="cost", horizon=2)
    assert len(evidence(run, problem).now) == 0
    assert tarry.theory.good_event(run, problem).holds
    assert tarry.theory.bound_coverage(run, problem).tests == 0
