# ruff: noqa: SLF001  # it looks inside the agents

"""Agents as machine code do what interpreted ones do: python -m benchmarks.live_same [--events N].

Every policy, both payoffs: the same random life of asks, answers in time and told late, failures,
cancellations, waits, and arms that come, go and pause, lived three times: interpreted, as machine
code, and going over half-way. All choices and all numbers of rule, ledger and table must be equal.
"""

import argparse
import os
import random
import sys
from collections.abc import Sequence
from typing import Any

import tarry
from tarry.arrays import arrays_of
from tarry.live import Agent, ManualClock
from tarry.live.desk import INTERPRETED
from tarry.live.machine import OPTION
from tarry.policies import POLICIES
from tarry.policies.label import policy_label

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

    def __init__(self, policy: Any, payoff: str, arms: int = 4) -> None:
        self.clock = ManualClock()
        names = [f"arm{k}" for k in range(arms)]
        self.agent = Agent(
            policy,
            arms=names,
            payoff=payoff,
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


def lived(policy: Any, payoff: str, events: Sequence[Event], compiled_at: int | None) -> Life:
    """A life in which machine code is there from a certain event on: 0 is from the beginning."""
    before = os.environ.get(OPTION, "")
    os.environ[OPTION] = {None: "never", 0: "now"}.get(compiled_at, "")
    life = Life(policy, payoff)
    os.environ[OPTION] = before
    for place, event in enumerate(events):
        if place == compiled_at and place > 0:
            promise: Any = life.agent._core.promise
            promise.fulfil(aside=False)  # that another process may compile is tested elsewhere
        life.happen(*event)
    return life


def assert_same(policy: Any, payoff: str, events: Sequence[Event], middle: int) -> None:
    """Interpreted, compiled from the beginning, and from the middle on: no difference."""
    plain = lived(policy, payoff, events, None)
    assert not plain.compiled
    for begin in (0, middle):
        life = lived(policy, payoff, events, begin)
        assert life.outcomes == plain.outcomes
        assert life.numbers() == plain.numbers()
        if "ask" in [kind for kind, _ in events[begin:]] and life.agent._core.open.arms:
            assert life.compiled


def main(arguments: list[str] | None = None) -> int:
    """All policies; the exit status is 0 if all lives were the same."""
    parser = argparse.ArgumentParser(prog="benchmarks.live_same", description=__doc__)
    parser.add_argument("--events", type=int, default=20_000, help="events of a life")
    count = parser.parse_args(arguments).events
    different = 0
    for name, cls in POLICIES.items():
        if getattr(cls, "simulated_only", False):
            continue
        policy = cls(threshold=0.5) if name in ("CSE", "RSE") else cls()
        for payoff in policy.payoffs:
            try:
                assert_same(policy, payoff, random_events(count, seed=1), middle=count // 2)
                print(f"{policy_label(policy)}, {payoff}: {count} events, the same", flush=True)
            except AssertionError as error:
                print(f"{policy_label(policy)}, {payoff}: different: {error}", flush=True)
                different += 1
    return min(different, 1)


if __name__ == "__main__":
    sys.exit(main())
