"""Replicas of a log with reports: all the same, and the same as a naive recount of the log."""

import random
from dataclasses import dataclass
from typing import Any

import pytest
from benchmarks.shared_kills import evidence
from tests.conformance.cases import Case
from tests.live.test_leases import ONE_EACH

from tarry.live import history
from tarry.live.facts import CANCEL, FAIL, REPORT, RETURN, START, TIME, Row
from tarry.live.plays import Status
from tarry.live.replica import GAP, SHIFT, Replica, unpacked_replica
from tarry.live.restore import new_core, take_evidence

D, LEASE, HEARTBEAT = 1_000_000, 300_000, 100_000
SHAREABLE = [case for case in ONE_EACH if case.policy.shareable]


def settings(case: Case) -> dict[str, Any]:
    """What an agent is made with."""
    return {
        "arms": ["a", "b", "c"],
        "payoff": case.payoff,
        "max_delay": D,
        "horizon": 1000,
        "seed": 3,
        "remembered": 5000,
        "lease": [LEASE, HEARTBEAT],
    }


def some_log(rng: random.Random, size: int) -> list[Row]:
    """Facts of three processes, nearly in order; now and then nobody is there for a while."""
    facts: list[Row] = []
    plays: dict[int, int] = {}
    made = [0, 0, 0]
    now = 0
    for _ in range(size):
        now += rng.choice([0, 1, 500, 5_000, 20_000, 20_000, 60_000, rng.choice([0, 0, D])])
        stamp = max(now - rng.randrange(3_000), 0)
        chance = rng.random()
        if chance < 0.3 or not plays:
            writer = rng.randrange(3)
            made[writer] += 1
            play = ((writer + 1) << SHIFT) + made[writer]
            plays[play] = 0
            facts.append((START, stamp, play, rng.randrange(3), None))
            continue
        play = rng.choice(list(plays)[-12:])
        if chance < 0.85:
            plays[play] += rng.choice([-50_000, 0, 1, 30_000, 100_000, D // 2])
            facts.append((REPORT, stamp, play, max(plays[play], 0), None))
        elif chance < 0.97:
            kind = rng.choice([RETURN, RETURN, RETURN, FAIL, CANCEL])
            delay = rng.choice([plays[play], 2 * D]) if kind == RETURN else None
            facts.append((kind, stamp, play, delay and max(delay, 0), None))
        else:
            facts.append((TIME, stamp, None, None, None))
    return facts


@dataclass
class Visit:
    """A play in the recount."""

    heard: int
    reported: int = -1
    status: Status = Status.OUT
    delay: int = -1

    def end(self, status: Status, delay: int) -> None:
        """It is over."""
        self.status, self.delay = status, delay

    def happen(self, kind: int, value: int, now: int, worst: int) -> None:
        """A fact about it, while it is out."""
        if kind == REPORT and value >= D:
            self.end(Status.CLOSED, D)
        elif kind == REPORT:
            self.heard, self.reported = now, max(self.reported, value)
        elif kind == RETURN:
            self.end(Status.RETURNED, min(max(value, self.reported), D))
        elif kind == FAIL:
            self.end(Status.FAILED, worst)
        elif kind == CANCEL:
            self.end(Status.CANCELLED, max(self.reported, 0))

    def notice(self, now: int) -> None:
        """If its lease has run out by now, it is over."""
        if self.status == Status.OUT and now - self.heard >= LEASE:
            middle = (self.reported + min(self.reported + HEARTBEAT, D)) // 2
            known = self.reported >= 0
            self.end(*((Status.VANISHED, middle) if known else (Status.VOID, -1)))


def recount(facts: list[Row], worst: int) -> dict[int, Visit]:
    """What became of each play, by the rules as they are written down."""
    visits: dict[int, Visit] = {}
    now = 0
    for kind, time, play, value, _ in facts:
        later = max(now, time)
        if later - now > LEASE // GAP:  # nobody has listened
            for visit in visits.values():
                visit.notice(now)
                visit.heard = later
        now = later
        for visit in visits.values():
            visit.notice(now)
        if kind == START:
            visits[play or 0] = Visit(now)
        meant = visits.get(play or 0)
        if meant is not None and meant.status == Status.OUT:
            meant.happen(kind, value or 0, now, worst)
    return visits


@pytest.mark.parametrize("case", SHAREABLE, ids=str)
def test_replicas_with_a_lease_agree_with_a_recount(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is written down and read again at random places too."""
    monkeypatch.setattr(history, "CHUNK", 64)
    rng = random.Random(str(case))
    always = Replica(new_core(case.policy, settings(case)))
    often = Replica(new_core(case.policy, settings(case)))
    facts = some_log(rng, 1200)
    for fact in facts:
        outcomes = always.fold(fact), often.fold(fact)
        assert str(outcomes[0]) == str(outcomes[1])
        if rng.random() < 0.01:
            meta, ids, body = unpacked_replica(often.dump())
            core = new_core(case.policy, settings(case))
            assert take_evidence(core, body, ()) is None
            often = Replica(core)
            often.take_names(meta, ids)
            assert evidence(always) == evidence(often)
    core = always.core
    visits = recount(facts, 0 if core.setting.reward else D)
    words = list(Status)
    seen = dict.fromkeys(Status, 0)
    for play, visit in visits.items():
        row = always.numbers[play] & core.register.mask
        status = words[core.register.status[row]]
        assert status == visit.status
        seen[status] += 1
        known = core.register.watched if status == Status.CANCELLED else core.register.delay
        assert known[row] == visit.delay
    assert all(seen[status] for status in Status if status != Status.OUT), seen
    counts = core.counts(core.now)
    assert (counts.vanished, counts.void) == (seen[Status.VANISHED], seen[Status.VOID])
    assert counts.asked == sum(counts[1:5]) + counts.void
