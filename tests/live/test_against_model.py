"""An agent against a naive model of its rules: a list of plays, everything recomputed each time."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from tests.conformance.cases import LIVE_CASES, Case
from tests.live.cases import crash, delay_of, never_stopping, number_of
from tests.sizes import examples

import tarry
from tarry.arrays import arrays_of
from tarry.errors import ConflictError, LiveError, UnknownPlayError
from tarry.live import Agent, ManualClock, Told, state

D = 10_000_000  # ticks
STEPS = st.sampled_from([0.0, 0.000_001, 0.5, 3.0, 10.0, 35.0])
DELAYS = st.sampled_from([None, 0.0, 0.5, 3.25, 9.999_999, 10.0, 42.0])


@dataclass
class Known:
    """A play as the model sees it; times in ticks."""

    arm: int  # the number of the arm, new for every arm that is added
    start: int
    delay: int | None = None  # told in time
    gone: int | None = None  # age at which it was cancelled
    late: int | None = None
    noticed: bool = False  # told or cancelled when it was D old, which closes it on the spot

    def out(self, now: int) -> bool:
        """Nothing ended it, and it is younger than D."""
        return self.delay is None and self.gone is None and now - self.start < D

    def closed(self, now: int) -> bool:
        """It reached age D with nothing to end it."""
        return self.delay is None and self.gone is None and now - self.start >= D


class AgentMachine(RuleBasedStateMachine):
    """Asks, tells, repeats, late answers, cancels, arms that come and go, time, crashes."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "agent.db"

    @initialize(case=st.sampled_from(LIVE_CASES))
    def begin(self, case: Case) -> None:
        """A new agent with a journal."""
        self.policy, self.payoff = never_stopping(case.policy), case.payoff
        self.clock = ManualClock(1000.0)
        self.now = self.last = 0
        self.plays: list[Known] = []
        self.names = {"a": 0, "b": 1}
        self.made = 2
        self.paused: set[str] = set()
        self.late = 0
        self.ids: list[int] = []
        self.agent = self.opened("keep")

    def opened(self, in_flight: Any) -> Agent:
        """An agent on the file."""
        return Agent(
            self.policy,
            arms=list(self.names),
            payoff=self.payoff,
            max_delay=D / 1e6,
            path=self.path,
            seed=5,
            clock=self.clock,
            horizon=1000,
            durability="normal",
            in_flight=in_flight,
        )

    @rule(seconds=STEPS)
    def wait(self, seconds: float) -> None:
        """Time goes by."""
        self.clock.advance(seconds)
        self.now += round(seconds * 1e6)

    @rule(seconds=st.sampled_from([0.5, 20.0]))
    def jump_back(self, seconds: float) -> None:
        """The clock jumps back, and ages stay what they were."""
        self.agent.counts  # noqa: B018  # the agent looks at its clock before it jumps
        self.clock.advance(-seconds)
        self.agent.counts  # noqa: B018

    @rule(times=st.sampled_from([1, 1, 5]))
    def ask(self, times: int) -> None:
        """One choice, or several at one instant, of arms that are open; the ledger is right."""
        opened = set(self.names) - self.paused
        for _ in range(times):
            if not opened:
                with pytest.raises(LiveError, match="No arm is open"):
                    self.agent.ask()
                return
            play = self.agent.ask()
            assert play.arm in opened
            self.plays.append(self.made_play(self.names[play.arm]))
            assert number_of(self.agent, play) == len(self.plays)
            self.ids.append(play.id)
            self.last = self.now
        self.check_ledger()
        self.check_passes()

    def made_play(self, arm: int) -> Any:
        """A play of this arm, as the model keeps it."""
        return Known(arm, self.now)

    @precondition(lambda self: self.plays)
    @rule(data=st.data(), delay=DELAYS)
    def tell(self, data: st.DataObject, delay: float | None) -> None:
        """An answer: the first one, a repeated one, a different one, or a late one."""
        number = data.draw(st.integers(max(1, len(self.plays) - 8), len(self.plays)))
        play = self.plays[number - 1]
        age = self.now - play.start
        told = min(D, age if delay is None else round(delay * 1e6))
        known = play.late if play.delay is None else play.delay
        if known is not None and delay is not None and known != told:
            with pytest.raises(ConflictError):
                self.agent.tell(self.ids[number - 1], delay)
        elif known is not None:
            assert self.agent.tell(self.ids[number - 1], delay) is Told.REPEATED
        elif play.out(self.now):
            assert self.agent.tell(self.ids[number - 1], delay) is Told.RETURNED
            play.delay = told
            self.last = self.now
        else:
            assert self.agent.tell(self.ids[number - 1], delay) is Told.LATE
            play.late = told
            play.noticed = True
            self.late += 1
            self.last = self.now

    @precondition(lambda self: self.plays)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        """Nobody watches a play any longer."""
        number = data.draw(st.integers(max(1, len(self.plays) - 8), len(self.plays)))
        play = self.plays[number - 1]
        was_out = play.out(self.now)
        in_core = self.agent._core.is_out(number)
        assert self.agent.cancel(self.ids[number - 1]) is was_out
        play.noticed = play.noticed or not was_out
        if was_out:
            play.gone = self.now - play.start
        if in_core:
            self.last = self.now

    @rule(number=st.sampled_from([-1, 0, 10**9]))
    def tell_nonsense(self, number: int) -> None:
        """An id that was never given out is an error."""
        with pytest.raises(UnknownPlayError):
            self.agent.tell(number)

    @precondition(lambda self: len(self.names) < 4)
    @rule(name=st.sampled_from("abcd"))
    def add(self, name: str) -> None:
        """A new arm; a name in use is refused."""
        if name in self.names:
            with pytest.raises(tarry.errors.InputError):
                self.agent.add_arm(name)
            return
        self.agent.add_arm(name)
        self.names[name] = self.made
        self.made += 1
        self.last = self.now

    @precondition(lambda self: len(self.names) > 1)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        """An arm goes, perhaps with plays still out."""
        name = data.draw(st.sampled_from(sorted(self.names)))
        self.agent.remove_arm(name)
        del self.names[name]
        self.paused.discard(name)
        self.last = self.now

    @rule(data=st.data(), paused=st.booleans())
    def pause(self, data: st.DataObject, paused: bool) -> None:
        """An arm rests, or comes back."""
        name = data.draw(st.sampled_from(sorted(self.names)))
        if paused:
            self.agent.pause_arm(name)
            self.paused.add(name)
        else:
            self.agent.resume_arm(name)
            self.paused.discard(name)
        self.last = self.now

    @rule(in_flight=st.sampled_from(["keep", "keep", "censor"]))
    def crash(self, in_flight: Any) -> None:
        """The process dies and another one opens the file: same state, bit for bit."""
        before = crash(self.agent)
        self.agent = self.opened(in_flight)
        self.now = max(self.last, round((self.clock.time - 1000.0) * 1e6))
        if in_flight == "keep":
            assert state.dump(self.agent._core) == before
            return
        for play in self.plays:
            if play.out(self.last):
                play.gone = self.last - play.start
            play.noticed = play.noticed or play.closed(self.last)

    @invariant()
    def counts_add_up(self) -> None:
        """The sum of all outcomes is what was asked, each part as the model has it."""
        if not hasattr(self, "agent"):
            return
        counts = self.agent.counts
        assert counts.asked == len(self.plays)
        assert counts.returned == sum(p.delay is not None for p in self.plays)
        assert counts.pending == sum(p.out(self.now) for p in self.plays)
        assert counts.closed == sum(p.closed(self.now) for p in self.plays)
        assert counts.cancelled == sum(p.gone is not None for p in self.plays)
        assert counts.late == self.late
        rows = self.agent.explain().arms
        assert [row.arm for row in rows] == list(self.names)
        for row in rows:
            own = [p for p in self.plays if p.arm == self.names[row.arm] and p.out(self.now)]
            assert row.pending == len(own)
            ages = [self.now - p.start for p in own]
            assert row.oldest_pending == (max(ages) / 1e6 if own else None)
            assert 0.0 <= row.low <= row.mean <= row.high <= D / 1e6

    def check_ledger(self) -> None:
        """Right after an ask, the ledger of each arm follows from the list of plays."""
        core = self.agent._core
        for name, number in self.names.items():
            arm = core.arms[name]
            assert arm.desk is not None
            ledger, i = arm.desk.ledger, arm.index
            own = self.of_this_phase(number, ledger.phase[0])
            seen = {}
            for k, p in own:
                if p.delay is not None:
                    seen[k] = p.delay
                elif p.gone is not None:
                    seen[k] = delay_of(self.agent, k)
                    assert p.gone <= seen[k] <= D
                elif self.now - p.start > D or p.noticed:
                    seen[k] = D
            old = [(k, p) for k, p in own if p.start <= self.now - D]
            assert ledger.plays[i] == len(own)
            assert ledger.seen[i] == len(seen)
            assert ledger.seen_sum[i] == sum(seen.values())
            assert ledger.start_sum[i] == sum(p.start for k, p in own if k not in seen)
            assert ledger.complete[i] == len(old)
            assert ledger.complete_sum[i] == sum(seen.get(k, D) for k, _ in old)

    def of_this_phase(self, arm: int, first: int) -> list[tuple[int, Known]]:
        """The plays of an arm that count: a policy that begins anew forgets those before."""
        return [(k, p) for k, p in enumerate(self.plays, 1) if p.arm == arm and k >= first]

    def check_passes(self) -> None:
        """Right after an ask, a rule that follows ages has heard of exactly the edges reached."""
        core = self.agent._core
        edges = [int(age) for age in core.maker.edges]
        for name, number in self.names.items():
            arm = core.arms[name]
            if not edges or arm.desk is None:
                continue
            outlived, old = [0] * len(edges), [0] * len(edges)
            for _, p in self.of_this_phase(number, arm.desk.ledger.phase[0]):
                age = min(self.now - p.start, D) if p.gone is None else p.gone
                reach = age if p.delay is None else p.delay
                outlived = [n + (edge <= reach) for n, edge in zip(outlived, edges, strict=True)]
                old = [n + (edge <= age) for n, edge in zip(old, edges, strict=True)]
            own = slice(arm.index * len(edges), (arm.index + 1) * len(edges))
            kept = {path.split(".")[-1]: found for path, found, _ in arrays_of(arm.desk.rule)}
            assert kept.keys() & {"passes", "full", "old"}
            for field, expected in (("passes", outlived), ("full", outlived), ("old", old)):
                if field in kept:
                    assert list(kept[field][own]) == expected

    def teardown(self) -> None:
        """Let go of the file."""
        if hasattr(self, "agent"):
            self.agent.close()
        self.folder.cleanup()


AgentMachine.TestCase.settings = settings(max_examples=examples(22), stateful_step_count=50)
TestAgent = AgentMachine.TestCase
