"""Replicas of one log: whenever one was written down and read again, all are the same."""

import random
from typing import Any

import pytest
from benchmarks.shared_kills import evidence
from tests.conformance.cases import LIVE_CASES, Case

from tarry.live import history
from tarry.live import replica as replica_module
from tarry.live.facts import ADD, CANCEL, FAIL, PAUSE, REMOVE, RESUME, RETURN, START, TIME, Row
from tarry.live.replica import SHIFT, Replica, unpacked_replica
from tarry.live.restore import new_core, take_evidence

D = 1_000_000
SHAREABLE = {
    type(case.policy): case
    for case in reversed(LIVE_CASES)
    if getattr(case.policy, "shareable", False)
}.values()


def settings(case: Case) -> dict[str, Any]:
    """What an agent is made with."""
    return {
        "arms": ["a", "b", "c"],
        "payoff": case.payoff,
        "max_delay": D,
        "horizon": 1000,
        "seed": 3,
        "remembered": 100,
    }


def some_log(rng: random.Random, size: int) -> list[Row]:
    """Facts of three processes, of which one is now and then cut off for a while."""
    facts: list[Row] = []
    held: list[Row] = []
    out: list[int] = []
    made = [0, 0, 0]
    now, until = 0, 0
    for _ in range(size):
        now += rng.choice([0, 1, 500, 5_000, 20_000, 20_000, 20_000, rng.randrange(3 * D)])
        writer = rng.randrange(3)
        stamp = max(now - rng.randrange(3_000), 0)
        chance = rng.random()
        if chance < 0.5 or not out:
            made[writer] += 1
            play = ((writer + 1) << SHIFT) + made[writer]
            out.append(play)
            fact: Row = (START, stamp, play, rng.randrange(3), None)
        elif chance < 0.97:
            play = out.pop(rng.randrange(max(len(out) - 40, 0), len(out)))
            kind = rng.choice([RETURN, RETURN, RETURN, FAIL, CANCEL])
            delay = rng.choice([None, rng.randrange(2 * D)]) if kind == RETURN else None
            fact = (kind, stamp, play, delay, None)
        elif chance < 0.98:
            fact = (TIME, stamp, None, None, None)
        else:
            kind = rng.choice([PAUSE, RESUME, RESUME, ADD, REMOVE])
            fact = (kind, stamp, None, None, rng.choice("bcd"))
        if now > until:
            facts += held
            held, until = [], now + rng.randrange(8 * D)
        (held if writer == 2 else facts).append(fact)
    return facts + held


@pytest.mark.parametrize("case", SHAREABLE, ids=str)
def test_a_replica_that_was_read_again_is_the_same(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At random places of the log, and with ends that were long on their way."""
    monkeypatch.setattr(replica_module, "KEEP", 2 * D)
    monkeypatch.setattr(history, "CHUNK", 64)
    rng = random.Random(str(case))
    always = Replica(new_core(case.policy, settings(case)))
    often = Replica(new_core(case.policy, settings(case)))
    for number, fact in enumerate(some_log(rng, 1500), 1):
        outcomes = always.fold(fact), often.fold(fact)
        assert str(outcomes[0]) == str(outcomes[1])
        if rng.random() < 0.01:
            meta, ids, body = unpacked_replica(often.dump())
            core = new_core(case.policy, settings(case))
            assert take_evidence(core, body, ()) is None
            often = Replica(core)
            often.take_names(meta, ids)
            assert always.seq == often.seq == number
            assert evidence(always) == evidence(often)
    assert evidence(always) == evidence(often)
    counts = always.core.counts(always.core.now)
    assert counts.asked == sum(counts[1:5])
    assert counts.asked > 600
