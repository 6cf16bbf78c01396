"""An agent with a lease against a naive model: a list of plays, everything recomputed each time."""

from dataclasses import dataclass
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import initialize, invariant, precondition, rule
from tests.conformance.cases import Case
from tests.live.cases import crash, delay_of
from tests.live.test_against_model import AgentMachine, D
from tests.live.test_leases import LEASED
from tests.sizes import examples

from tarry.arrays import arrays_of
from tarry.errors import ConflictError
from tarry.live import Agent, Told, state
from tarry.live.packed import unpacked

LEASE, HEARTBEAT = 6_000_000, 2_000_000  # ticks
REPORTS = st.sampled_from([0.0, 0.000_001, 0.5, 3.25, 9.0, 9.999_999, 10.0, 42.0])


@dataclass
class Visit:
    """A play as the model sees it; times in ticks."""

    arm: int
    start: int
    heard: int  # the last word of it
    reported: int | None = None
    end: str = ""  # what ended it, and was noticed
    delay: int = 0  # what is booked for it then
    late: int | None = None

    def silent(self, now: int) -> bool:
        """Its lease has run out."""
        return not self.end and now - self.heard >= LEASE

    def stands(self, now: int) -> tuple[str, int]:
        """Where it stands, and what is booked or known."""
        if not self.silent(now):
            return (self.end, self.delay) if self.end else ("out", self.reported or 0)
        if self.reported is None:
            return "void", 0
        return "vanished", (self.reported + min(self.reported + HEARTBEAT, D)) // 2

    def notice(self, now: int) -> None:
        """What its silence means is settled."""
        if self.silent(now):
            self.end, self.delay = self.stands(now)


class LeasedMachine(AgentMachine):
    """As for other agents, with reports."""

    plays: list[Visit]  # type: ignore[assignment]  # of another kind

    @initialize(case=st.sampled_from(LEASED))
    def begin(self, case: Case) -> None:
        """A new agent with a journal."""
        super().begin(case)

    def opened(self, in_flight: Any) -> Agent:
        """An agent on the file."""
        return Agent(
            self.policy,
            arms=list(self.names),
            payoff=self.payoff,
            max_delay=D / 1e6,
            lease=LEASE / 1e6,
            path=self.path,
            seed=5,
            clock=self.clock,
            horizon=1000,
            durability="normal",
        )

    def made_play(self, arm: int) -> Visit:
        """A play of this arm was asked for."""
        return Visit(arm, self.now, self.now)

    def noticed(self) -> None:
        """A fact was recorded now."""
        self.last = self.now

    def check_ledger(self) -> None:
        """An ask has settled all that time brought."""
        for play in self.plays:
            play.notice(self.now)
        self._check_ledger()

    def drawn(self, data: st.DataObject) -> tuple[int, Visit]:
        """One of the latest plays: its id, and what the model knows of it."""
        number = data.draw(st.integers(max(1, len(self.plays) - 8), len(self.plays)))
        return self.ids[number - 1], self.plays[number - 1]

    @rule(seconds=st.lists(REPORTS, max_size=4), pause=st.sampled_from([0.0, 0.6, 3.0, 6.0, 35.0]))
    def visit(self, seconds: list[float], pause: float) -> None:
        """Somebody comes, is reported some times, and is not heard of for a while."""
        self.ask(1)
        for lasted in seconds if self.plays else ():
            self.wait(0.5)
            self.report(self.ids[-1], self.plays[-1], lasted)
        self.wait(pause)

    @precondition(lambda self: set(self.names) - self.paused)
    @rule(times=st.integers(1, 5), more=st.booleans())
    def stays(self, times: int, more: bool) -> None:
        """Of two visitors one is paused, and reported for longer than D on the clock."""
        self.ask(2)
        names, plays = self.ids[-2:], self.plays[-2:]
        for name, play in zip(names, plays, strict=True):
            self.report(name, play, 0.5)
        for _ in range(times):
            self.wait(3.0)
            self.report(names[0], plays[0], 0.5)
            self.counts_add_up()
        if more:
            self.ask(1)

    @precondition(lambda self: self.plays)
    @rule(data=st.data(), seconds=REPORTS)
    def alive(self, data: st.DataObject, seconds: float) -> None:
        """A report: the first, a larger, a repeated one, one of D, or one that comes too late."""
        self.report(*self.drawn(data), seconds)

    def report(self, name: int, play: Visit, seconds: float) -> None:
        """The play is said to have lasted so long."""
        lasted = round(seconds * 1e6)
        where = play.stands(self.now)[0]
        known = -1 if play.reported is None else play.reported
        if where == "out" and (lasted > known or self.now - play.heard >= HEARTBEAT // 4):
            play.heard = self.now
            if lasted >= D:
                play.end, play.delay = "closed", D
            else:
                play.reported = max(lasted, known)
            self.noticed()
        elif play.silent(self.now):
            play.notice(self.now)
            self.noticed()
        assert self.agent.alive(name, seconds) is (where == "out" and lasted < D)

    @precondition(lambda self: self.plays)
    @rule(data=st.data(), delay=REPORTS)
    def tell(self, data: st.DataObject, delay: float) -> None:
        """An answer: the first one, a repeated one, a different one, or a late one."""
        name, play = self.drawn(data)
        told = max(min(D, round(delay * 1e6)), play.reported or 0)
        where, booked = play.stands(self.now)
        known = booked if where in ("returned", "failed") else play.late
        if where == "out":
            assert self.agent.tell(name, delay) is Told.RETURNED
            play.end, play.delay = "returned", told
            self.noticed()
        elif known is None:
            assert self.agent.tell(name, delay) is Told.LATE
            play.notice(self.now)
            play.late = told
            self.late += 1
            self.noticed()
        elif known == told:
            assert self.agent.tell(name, delay) is Told.REPEATED
        else:
            with pytest.raises(ConflictError):
                self.agent.tell(name, delay)

    @precondition(lambda self: self.plays)
    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        """A page crashes: the worst payoff, whatever was reported."""
        name, play = self.drawn(data)
        if play.stands(self.now)[0] == "out":
            assert self.agent.fail(name) is Told.RETURNED
            play.end, play.delay = "failed", 0 if self.payoff == "reward" else D
            self.noticed()

    @precondition(lambda self: self.plays)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        """Nobody watches a play any longer: it lasted longer than was reported."""
        name, play = self.drawn(data)
        was_out = play.stands(self.now)[0] == "out"
        if not play.end:
            self.noticed()
        play.notice(self.now)
        if was_out:
            play.end, play.delay = "cancelled", play.reported or 0
        assert self.agent.cancel(name) is was_out

    @rule(in_flight=st.just("keep"))
    def crash(self, in_flight: Any) -> None:
        """The process dies, and another one listens anew: else the same state, bit for bit."""
        meta, before = unpacked(crash(self.agent))
        out = sum(not play.end for play in self.plays)
        self.agent = self.opened(in_flight)
        self.now = max(self.last, round((self.clock.time - 1000.0) * 1e6))
        silent = [play for play in self.plays if play.silent(self.last)]
        for play in self.plays:
            play.notice(self.last)
            if not play.end:
                play.heard = self.now
        if not silent:
            same, after = unpacked(state.dump(self.agent._core))
            times = before.pop("heard.time"), after.pop("heard.time")
            assert set(times[1].tolist()) <= {self.now}
            meta["numbers"][0] = same["numbers"][0]  # the time
            assert same == meta
            assert before.keys() == after.keys()
            assert all(before[name].tobytes() == after[name].tobytes() for name in before)
        if out:
            self.noticed()

    @invariant()
    def counts_add_up(self) -> None:
        """The sum of all outcomes is what was asked, each part as the model has it."""
        if not hasattr(self, "agent"):
            return
        counts = self.agent.counts
        where = [play.stands(self.now) for play in self.plays]
        ends = [end for end, _ in where]
        assert counts.asked == len(self.plays)
        assert counts.vanished == ends.count("vanished")
        assert counts.failed == ends.count("failed")
        assert counts.returned == ends.count("returned") + counts.vanished + counts.failed
        assert counts.pending == ends.count("out")
        assert counts.closed == ends.count("closed")
        assert counts.cancelled == ends.count("cancelled")
        assert counts.void == ends.count("void")
        assert counts.late == self.late
        for row in self.agent.explain().arms:
            arm = self.names[row.arm]
            mine = [x for p, x in zip(self.plays, where, strict=True) if p.arm == arm]
            ages = [age for end, age in mine if end == "out"]
            assert row.pending == len(ages)
            assert row.oldest_pending == (max(ages) / 1e6 if ages else None)
            assert row.vanished == sum(end == "vanished" for end, _ in mine)
            assert row.void == sum(end == "void" for end, _ in mine)
            assert 0.0 <= row.low <= row.mean <= row.high <= D / 1e6
        kept = [(end, x) for end, x in where if end != "void"]
        history = self.agent.history()
        assert history.context["status"] == [end for end, _ in kept]
        assert history.times.tolist() == [x / 1e6 for _, x in kept]

    def _check_ledger(self) -> None:
        core = self.agent._core
        out = [k for k, p in enumerate(self.plays, 1) if not p.end]
        for name, number in self.names.items():
            arm = core.arms[name]
            assert arm.desk is not None
            ledger, i = arm.desk.ledger, arm.index
            mine = enumerate(self.plays, 1)
            own = [(k, p) for k, p in mine if p.arm == number and k >= ledger.phase[0]]
            own = [(k, p) for k, p in own if p.end != "void"]
            seen = {k: p.delay for k, p in own if p.end}
            for k, p in own:
                if p.end == "cancelled":
                    seen[k] = delay_of(self.agent, k)
                    assert p.delay <= seen[k] <= D
            old = [k for k, p in own if p.start <= self.now - D and k < min(out, default=k + 1)]
            assert ledger.plays[i] == len(own)
            assert ledger.seen[i] == len(seen)
            assert ledger.seen_sum[i] == sum(seen.values())
            assert ledger.start_sum[i] == sum(p.start for k, p in own if k not in seen)
            assert ledger.complete[i] == len(old)
            assert ledger.complete_sum[i] == sum(seen[k] for k in old)

    def check_passes(self) -> None:
        """Right after an ask, a rule that follows ages has heard of exactly the edges reached."""
        core = self.agent._core
        edges = [int(age) for age in core.maker.edges]
        for name, number in self.names.items():
            arm = core.arms[name]
            if not edges or arm.desk is None:
                continue
            first = arm.desk.ledger.phase[0]
            mine = [p for k, p in enumerate(self.plays, 1) if p.arm == number and k >= first]
            reached = [p.stands(self.now)[1] for p in mine]
            outlived = [sum(edge <= age for age in reached) for edge in edges]
            own = slice(arm.index * len(edges), (arm.index + 1) * len(edges))
            kept = {path.split(".")[-1]: found for path, found, _ in arrays_of(arm.desk.rule)}
            assert list(kept["passes"][own]) == outlived


LeasedMachine.TestCase.settings = settings(max_examples=examples(18), stateful_step_count=50)
TestLeasedAgent = LeasedMachine.TestCase
