"""What every policy must do in a run, whatever the world."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.cases import CASES, CORNERS, POLICIES_VARIED, RULES, Case, Kept
from tests.sizes import examples

import tarry
from tarry.ledger import Ledger, empty_ledger
from tarry.plays import Ages, Plays, empty_plays, no_ages
from tarry.policies import Setting
from tarry.policies.driver import book_answer, book_start, decide, settle
from tarry.policies.protocol import follow_phase
from tarry.problems.world import World
from tarry.randomness import new_random
from tarry.simulation.machine import LOOP
from tarry.simulation.play import Run

every_case = pytest.mark.parametrize("case", CASES, ids=str)


def same(one: Run, other: Run) -> bool:
    """Whether two runs went the same way."""
    return (
        np.array_equal(one.arms, other.arms)
        and np.array_equal(one.delays, other.delays)
        and np.array_equal(one.regret, other.regret)
        and np.array_equal(one.restarts, other.restarts)
        and one.failed_at == other.failed_at
    )


def arrays_in(value: Any) -> Iterator[Any]:
    """All arrays of a rule, those of the rules inside it too."""
    if isinstance(value, tuple):
        for field in value:
            yield from arrays_in(field)
    elif isinstance(value, np.ndarray):
        yield value


def listed(value: Any) -> Any:
    """A NamedTuple with lists in place of its arrays, as live use has them."""
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(listed(field) for field in value)
    return value.tolist() if isinstance(value, np.ndarray) else value


@every_case
def test_corners_of_the_world(case: Case) -> None:
    """In every corner: arms in range, no NaN in the state, T plays or a stop, both modes equal.

    That modes are equal is looked at once for each kind of rule here, for all settings below.
    """
    for name, (problem, longest) in CORNERS.items():
        kept: Any = Kept(case.policy)
        reward = case.payoff == "reward"
        rule = case.policy.start(Setting(problem.arms, problem.max_delay, longest, reward))
        horizon = longest if hasattr(rule, "phase") else min(longest, 300)  # no restart to wait for
        ask = partial(tarry.play, problem=problem, payoff=case.payoff, horizon=horizon, seed=3)
        run = ask(kept, mode="compiled")
        assert ((run.arms >= 0) & (run.arms < problem.arms)).all(), name
        assert len(run.arms) == (run.failed_at - 1 if run.failed_at else horizon), name
        assert not any(np.isnan(array).any() for array in arrays_in(kept.rule)), name
        assert case not in RULES or same(run, ask(case.policy, mode="interpreted")), name


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, list[list[int]]]:
    """A small table to replay, rich in the delays 0 and D."""
    most = draw(st.integers(1, 12))
    arms = draw(st.integers(1, 4))
    delay = st.one_of(st.integers(0, most), st.sampled_from([0, most]))
    row = st.lists(delay, min_size=arms, max_size=arms)
    return most, draw(st.lists(row, min_size=1, max_size=80))


@every_case
@settings(max_examples=examples(12))
@given(table=tables(), seed=st.integers(0, 2**64 - 1))
def test_compiled_and_interpreted_runs_are_equal(
    case: Case, table: tuple[int, list[list[int]]], seed: int
) -> None:
    """On any table, the compiled loop plays exactly the arms that the interpreted one plays."""
    most, rows = table
    problem = tarry.problems.replay(rows, max_delay=most)
    ask = partial(
        tarry.play, case.policy, problem, payoff=case.payoff, horizon=len(rows), seed=seed
    )
    assert same(ask(mode="compiled"), ask(mode="interpreted"))


@every_case
def test_same_seed_same_run(case: Case) -> None:
    """Two runs with one seed are equal, and a rule starts afresh in each of them."""
    problem = tarry.problems.bernoulli(arms=5, max_delay=20, seed=1)
    one, other = (
        tarry.play(case.policy, problem, payoff=case.payoff, horizon=3000, seed=8) for _ in range(2)
    )
    assert same(one, other)


@every_case
def test_lists_serve_as_well_as_arrays(case: Case) -> None:
    """A rule and a ledger made of plain lists, as in live use, choose the same arms."""
    problem, horizon = tarry.problems.bernoulli(arms=3, max_delay=9, seed=2), 250
    run = tarry.play(case.policy, problem, payoff=case.payoff, horizon=horizon, seed=4)
    setting = Setting(problem.arms, problem.max_delay, horizon, case.payoff == "reward")
    rule = listed(case.policy.start(setting))
    ledger: Ledger = listed(empty_ledger(problem.arms))
    plays: Plays = listed(empty_plays(problem.max_delay))
    ages: Ages = listed(no_ages(problem.max_delay, np.array(getattr(rule, "edges", []), np.int64)))
    rng = new_random(4)
    arms, failures = [], 0
    for now in range(1, len(run.arms) + 1):
        arms.append(decide(rule, ledger, plays, ages, now, now, rng))
        failures = follow_phase(rule, ledger, failures)
        row = plays.row_of(now)
        book_start(rule, ledger, plays, row, arms[-1], now)
        for number in range(now, max(now - problem.max_delay, 1) - 1, -1):
            if number + int(run.delays[number - 1]) == now:
                due = int(run.delays[number - 1])
                book_answer(rule, ledger, plays, plays.row_of(number), due, now + 1, rng)
        settle(rule, ledger, plays, ages, now, now + 1)
    assert arms == run.arms.tolist()
    assert failures == len(run.restarts)


@pytest.mark.parametrize("policy", POLICIES_VARIED, ids=str)
def test_one_machine_code_for_all_worlds(policy: Any) -> None:
    """A rule is compiled once for a kind of world: for any arms, D, payoff, seed and record."""
    kept: Any = Kept(policy)
    table = tarry.problems.replay([[0, 1, 2]] * 30, max_delay=2)
    for problem in (tarry.problems.bernoulli(5, 7, seed=0), table):
        for record in (None, 3, [1, 4]):
            payoff = policy.payoffs[-1]
            tarry.play(kept, problem, payoff=payoff, horizon=30, record=record, mode="compiled")
    signatures = [s for s in LOOP.kept.signatures if is_for(s, type(kept.rule))]
    assert len(signatures) == 1


def is_for(signature: tuple[Any, ...], rule: type[Any]) -> bool:
    """Whether a signature of the loop is the one for this class of rules in a plain world."""
    return signature[0].instance_class is rule and signature[5].instance_class is World


@pytest.mark.parametrize("case", [c for c in CASES if not type(c.policy).needs_horizon], ids=str)
def test_a_horizon_that_is_not_needed_is_not_used(case: Case) -> None:
    """A policy that needs no horizon starts without one and plays the same under any horizon."""
    problem = tarry.problems.bernoulli(arms=4, max_delay=15, seed=5)
    case.policy.start(Setting(4, 15, 0, case.payoff == "reward"))
    short = tarry.play(case.policy, problem, payoff=case.payoff, horizon=200)
    long = tarry.play(case.policy, problem, payoff=case.payoff, horizon=900)
    assert np.array_equal(short.arms, long.arms[:200])
