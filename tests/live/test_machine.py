"""Agents as machine code: the same choices and the same numbers as interpreted."""

import contextlib
from typing import Any

import pytest
from benchmarks.live_same import OFTEN, SELDOM, Event, Life, assert_same, lived, random_events
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.cases import LIVE_CASES, Case
from tests.sizes import examples

import tarry
from tarry.live.machine import OPTION
from tarry.policies.survival.thompson import SurvivalThompsonRule

pytestmark = pytest.mark.xdist_group("machine")  # which is compiled once

# One rule with edges and randomness, one with coins thrown on answers and one with phases: a rule
# takes seconds to compile. One that hears of ages is in test_background.py, and `python -m
# benchmarks.live_same` looks at all.
POLICIES = (tarry.SurvivalThompson(), tarry.DelayedThompson(), tarry.BDSE(keep_history=True))
THOMPSON = Case(tarry.SurvivalThompson(), "cost")


@pytest.mark.parametrize("case", [c for c in LIVE_CASES if c.policy in POLICIES], ids=str)
def test_machine_code_does_the_same(case: Case) -> None:
    """Every kind of rule, for the payoffs that it serves."""
    assert_same(*case, random_events(500, seed=len(str(case))), middle=200)


@settings(max_examples=examples(30))
@given(
    st.lists(st.tuples(st.sampled_from(OFTEN + SELDOM), st.floats(0, 0.999)), max_size=80),
    st.integers(1, 80),
)
def test_machine_code_does_the_same_whatever_happens(events: list[Event], middle: int) -> None:
    """Any order of asks, answers told late, cancellations, failures and arms that move."""
    assert_same(*THOMPSON, events, middle)


def test_tables_grow() -> None:
    """Many plays out at once, more than the first table holds, before and after the change."""
    events: list[Event] = [*[("ask", 0.1)] * 500, *random_events(300, seed=5)]
    assert_same(*THOMPSON, events, middle=200)
    life = lived(*THOMPSON, events, 200)
    assert len(life.agent._core.open.plays.number) >= 512


def test_arms_move_between_desks_of_machine_code() -> None:
    """All arms paused, then one resumed and one added: plays out still find their arm."""
    asks: list[Event] = [("ask", 0.1)] * 30
    moves: list[Event] = [("pause", 0.1), ("pause", 0.3), ("pause", 0.6), ("pause", 0.9)]
    back: list[Event] = [("ask", 0.5), ("tell", 0.2), ("resume", 0.4), ("add", 0.0)]
    assert_same(*THOMPSON, [*asks, *moves, *back, *asks, ("tell", 0.1), ("ask", 0.1)], middle=20)


def test_rules_of_users_stay_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of a user's code is kept as machine code in an agent."""
    monkeypatch.setenv(OPTION, "now")

    class OfUser(SurvivalThompsonRule):
        """The same rule, but a class of somebody else."""

        __slots__ = ()

    class Mine(tarry.SurvivalThompson):
        """A policy of somebody else."""

        def start(self, setting: Any) -> Any:
            return OfUser(*super().start(setting))

    life = Life(Mine(), "cost")
    assert life.agent._core.promise is None
    for event in random_events(100, seed=3):
        with contextlib.suppress(tarry.errors.LiveError):
            life.happen(*event)
    assert not life.compiled


def test_what_does_not_fit_is_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A desk whose arrays are not of the types compiled for does not get to the machine code."""
    monkeypatch.setenv(OPTION, "now")
    life = Life(*THOMPSON)
    life.happen("ask", 0.5)
    assert life.compiled
    core = life.agent._core
    start = core.maker._start

    def of_another_type(arms: int) -> Any:
        rule = start(arms)
        return rule._replace(draws=rule.draws.astype("float32")) if arms == 5 else rule

    monkeypatch.setattr(core.maker, "_start", of_another_type)
    seen = []
    for move in (life.agent.add_arm, life.agent.remove_arm):
        move("fifth")
        seen.append(life.compiled)
    assert seen == [False, True]
