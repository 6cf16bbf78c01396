"""Agents as machine code: the same choices and the same numbers as interpreted."""

import contextlib
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.cases import CASES, Case

import tarry
from tarry.arrays import arrays_of
from tarry.live import Agent, ManualClock
from tarry.live.desk import INTERPRETED
from tarry.live.machine import OPTION
from tarry.policies.survival.thompson import SurvivalThompsonRule

D = 1.0
Event = tuple[str, float]  # what happens, and a number from 0 to 1: how long, or to whom
OFTEN = ("ask", "ask", "tell", "tell", "measured", "wait", "fail", "cancel")
WAITS = {"wait": 0.3, "hang": 2.5}  # up to this share of D
SELDOM = ("add", "remove", "pause", "resume", "hang")


def random_events(count: int, seed: int) -> list[Event]:
    """Plays and answers in any order, and now and then arms that come, go and pause."""
    rng = random.Random(seed)
    kinds = [rng.choice(SELDOM if rng.random() < 0.02 else OFTEN) for _ in range(count)]
    return [(kind, rng.random()) for kind in kinds]


class Life:
    """An agent to which events happen, and what came of them."""

    def __init__(self, case: Case, arms: int = 4) -> None:
        self.clock = ManualClock()
        names = [f"arm{k}" for k in range(arms)]
        self.agent = Agent(
            case.policy,
            arms=names,
            payoff=case.payoff,
            max_delay=D,
            seed=7,
            clock=self.clock,
            horizon=10_000,
        )
        self.out: list[Any] = []
        self.outcomes: list[Any] = []

    @property
    def compiled(self) -> bool:
        """Whether all desks work with machine code."""
        return all(desk.steps is not INTERPRETED for desk in self.agent._core.desks())

    def happen(self, kind: str, much: float) -> None:
        """Let one event happen; a refusal is an outcome too."""
        try:
            self.outcomes.append(self._happen(kind, much))
        except tarry.errors.LiveError as refusal:
            self.outcomes.append(str(refusal))

    def _happen(self, kind: str, much: float) -> Any:
        agent, names = self.agent, self.agent.arms
        self.clock.advance(0.01 * much)
        if kind == "ask":
            self.out.append(agent.ask())
            return self.out[-1].arm
        if kind in WAITS:
            return self.clock.advance(WAITS[kind] * D * much)
        if kind == "add":
            return agent.add_arm(f"more{len(self.outcomes)}") if len(names) < 8 else None
        if kind in ("remove", "pause", "resume"):
            move = getattr(agent, f"{kind}_arm")
            return move(names[int(much * len(names))]) if len(names) > 1 else None
        play = self.out.pop(int(much * len(self.out))) if self.out else None
        if kind == "measured" and play is not None:
            return agent.tell(play, much * (self.clock.time - play.time))
        return play and getattr(agent, kind)(play)

    def numbers(self) -> list[Any]:
        """All that the desks know, and where the table is in use, the table."""
        core = self.agent._core
        rows = [core.open.plays.row_of(n) for n in range(core.ended, core.asked + 1)]
        found: list[Any] = []
        for desk in core.desks():
            parts = (desk.rule, desk.ledger, desk.ages)
            found += [(path, list(a)) for part in parts for path, a, _ in arrays_of(part)]
            columns = (desk.plays.number, desk.plays.arm, desk.plays.start, desk.plays.delay)
            found += [[int(column[row]) for row in rows] for column in columns]
        return found


def lived(case: Case, events: Sequence[Event], compiled_at: int | None) -> Life:
    """A life in which machine code is there from a certain event on: 0 is from the beginning."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(OPTION, {None: "never", 0: "now"}.get(compiled_at, ""))
        life = Life(case)
    for place, event in enumerate(events):
        if place == compiled_at and place > 0:
            promise = life.agent._core.promise
            assert promise is not None
            promise.fulfil()
        life.happen(*event)
    return life


def assert_same(case: Case, events: Sequence[Event], middle: int) -> None:
    """Interpreted, compiled from the beginning, and from the middle on: no difference."""
    plain = lived(case, events, None)
    assert not plain.compiled
    for begin in (0, middle):
        life = lived(case, events, begin)
        assert life.outcomes == plain.outcomes
        assert life.numbers() == plain.numbers()
        if "ask" in [kind for kind, _ in events[begin:]] and life.agent._core.open.arms:
            assert life.compiled


SHARED = [case for case in CASES if getattr(case.policy, "shareable", False)]
ALONE = Case(tarry.BDSE(keep_history=True), "cost")
THOMPSON = Case(tarry.SurvivalThompson(), "cost")


@pytest.mark.parametrize("case", [*SHARED, ALONE], ids=str)
def test_machine_code_does_the_same(case: Case) -> None:
    """All policies that several processes may share, and one with a memory of its own."""
    assert_same(case, random_events(600, seed=len(str(case))), middle=250)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.sampled_from(OFTEN + SELDOM), st.floats(0, 0.999)), max_size=80),
    st.integers(1, 80),
)
def test_machine_code_does_the_same_whatever_happens(events: list[Event], middle: int) -> None:
    """Any order of asks, answers told late, cancellations, failures and arms that move."""
    assert_same(THOMPSON, events, middle)


def test_tables_grow() -> None:
    """Many plays out at once, more than the first table holds, before and after the change."""
    events: list[Event] = [*[("ask", 0.1)] * 500, *random_events(300, seed=5)]
    assert_same(THOMPSON, events, middle=200)
    life = lived(THOMPSON, events, 200)
    assert len(life.agent._core.open.plays.number) >= 512


def test_arms_move_between_desks_of_machine_code() -> None:
    """All arms paused, then one resumed and one added: plays out still find their arm."""
    asks: list[Event] = [("ask", 0.1)] * 30
    moves: list[Event] = [("pause", 0.1), ("pause", 0.3), ("pause", 0.6), ("pause", 0.9)]
    back: list[Event] = [("ask", 0.5), ("tell", 0.2), ("resume", 0.4), ("add", 0.0)]
    assert_same(THOMPSON, [*asks, *moves, *back, *asks, ("tell", 0.1), ("ask", 0.1)], middle=20)


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

    life = Life(Case(Mine(), "cost"))
    assert life.agent._core.promise is None
    for event in random_events(100, seed=3):
        with contextlib.suppress(tarry.errors.LiveError):
            life.happen(*event)
    assert not life.compiled


def test_what_does_not_fit_is_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A desk whose arrays are not of the types compiled for does not get to the machine code."""
    monkeypatch.setenv(OPTION, "now")
    life = Life(THOMPSON)
    life.happen("ask", 0.5)
    assert life.compiled
    core = life.agent._core
    start = core.maker._start
    odd = {5: 4.0}  # with five arms, a number of another type
    monkeypatch.setattr(
        core.maker, "_start", lambda arms: start(arms)._replace(redraws=odd.get(arms, 4))
    )
    seen = []
    for move in (life.agent.add_arm, life.agent.remove_arm):
        move("fifth")
        seen.append(life.compiled)
    assert seen == [False, True]
