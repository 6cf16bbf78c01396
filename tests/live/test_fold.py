"""A replica is a fold over the facts: what else happens to it in between leaves no trace."""

import random
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from benchmarks.shared_kills import differences, evidence
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.cases import LIVE_CASES, Case

import tarry
from tarry.errors import LiveError
from tarry.live import history, passing, replica
from tarry.live.facts import ADD, CANCEL, FAIL, PAUSE, REMOVE, RESUME, RETURN, START, TIME, Row
from tarry.live.replica import SHIFT, Replica, decision_keys
from tarry.live.restore import new_core, newest_replica, restored_replica
from tarry.live.store.postgres.courier import READ
from tarry.plays import AT_ONCE

D = 2_000_000
SHAREABLE = [case for case in LIVE_CASES if getattr(case.policy, "shareable", False)]
STEPS = [0, 1, 300, 9_000, 30_000, 30_000, 30_000]
LEAPS = [*STEPS, D // 2, 2 * D]


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    """What takes thousands of plays or minutes in life takes some dozens or seconds here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passing, "AT_ONCE", 5)
        patch.setattr(replica, "KEEP", D)
        patch.setattr(replica, "ORPHANS", 5)
        patch.setattr(history, "CHUNK", 64)
        yield


def settings_for(case: Case) -> dict[str, Any]:
    """Of a small agent."""
    return {
        "arms": ["a", "b"],
        "payoff": case.payoff,
        "max_delay": D,
        "horizon": 1000,
        "seed": 3,
        "remembered": 20,
    }


class Processes:
    """Four processes that send facts, each with a clock of its own and now and then cut off."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.now, self.burst = rng, 0, 0
        self.made, self.out = [0] * 4, list[int]()
        self.names = ["a", "b"]

    def facts(self, count: int) -> Iterator[Row]:
        """So many, in the order of the log."""
        for _ in range(count):
            kind = self.rng.choices([START, RETURN, FAIL, CANCEL, TIME, ADD], [8, 6, 1, 1, 1, 0.2])
            if kind[0] == START or (kind[0] in (RETURN, FAIL, CANCEL) and not self.out):
                yield self.start()
            elif kind[0] == ADD:
                yield self.change_of_arms()
            elif kind[0] == TIME:
                yield TIME, self.time(), None, None, None
            else:
                yield self.end(kind[0])

    def time(self) -> int:
        """When the next fact was made: some come in a burst, and some were long on their way."""
        if self.burst:
            self.burst -= 1
        else:
            self.now += self.rng.choice(LEAPS if self.rng.random() < 0.2 else STEPS)
            self.burst = self.rng.choice([0, 0, 0, 0, 30])
        return max(self.now - self.rng.choice([0, 0, 0, 500, 20_000, D]), 0)

    def start(self) -> Row:
        """Of a play; a start may come after the end, if it comes at all."""
        writer = self.rng.randrange(4)
        self.made[writer] += 1 + (self.rng.random() < 0.02)
        play = (15 * (writer + 1) << SHIFT) + self.made[writer]
        self.out += [play, play + 1][: 1 + (self.rng.random() < 0.02)]
        return START, self.time(), play, self.rng.randrange(len(self.names)), None

    def end(self, kind: int) -> Row:
        """Of a play, most often a young one; some are told twice."""
        play = self.out[-min(int(self.rng.expovariate(0.1)) + 1, len(self.out))]
        if self.rng.random() < 0.9:
            self.out.remove(play)
        value = self.rng.choice([None, self.rng.randrange(D + 1)]) if kind == RETURN else None
        return kind, self.time(), play, value, None

    def change_of_arms(self) -> Row:
        """Of any of them, and sometimes one that cannot be."""
        kind = self.rng.choice([ADD, REMOVE, PAUSE, RESUME])
        if kind == ADD:
            self.names.append(f"{len(self.names)}")
        return kind, self.time(), None, None, self.rng.choice(self.names[-3:])


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    case=st.sampled_from(SHAREABLE),
    snapshots=st.sampled_from([0.0, 0.01, 0.1]),
    decisions=st.sampled_from([0.0, 0.3]),
)
def test_snapshots_and_decisions_leave_no_trace(
    seed: int, case: Case, snapshots: float, decisions: float
) -> None:
    """Restored anywhere, and with decisions anywhere, the same follows as from the facts alone."""
    rng = random.Random(seed)
    store = SimpleNamespace(settings=settings_for(case), chunks=(), where="a test")
    keys = decision_keys(3, 15)
    plain = Replica(new_core(case.policy, store.settings))
    other = Replica(new_core(case.policy, store.settings))
    for number, fact in enumerate(Processes(rng).facts(400)):
        assert repr(plain.fold(fact)) == repr(other.fold(fact)), number
        if rng.random() < decisions:
            try:
                other.decide("", [], next(keys))
            except LiveError:  # no arm is open
                assert not other.core.open.arms
        if rng.random() < snapshots:
            other = restored_replica(case.policy, store, other.dump())
    assert not differences(evidence(other), evidence(plain))


def test_a_decision_tells_nothing_that_facts_have_not() -> None:
    """However many plays come of age at once, all have been told so before anybody decides."""
    case = Case(tarry.SurvivalThompson(), "cost")
    plain, other = (Replica(new_core(case.policy, settings_for(case))) for _ in range(2))
    facts: list[Row] = [(START, 0, (15 << SHIFT) + k + 1, k % 2, None) for k in range(2 * AT_ONCE)]
    facts += [(TIME, time, None, None, None) for time in range(0, D // 4, 9_000)]
    for fact in facts:
        plain.fold(fact)
        other.fold(fact)
        other.decide("", [], (fact[1], 1))
        assert not differences(evidence(other), evidence(plain)), fact


@pytest.mark.parametrize("policy", [tarry.IncrementUCB(), tarry.IncrementUCB(unbounded=True)])
def test_a_play_given_up_before_others_took_it_for_older(policy: Any) -> None:
    """What cannot be taken back stays said, and the next answer is booked as it should be."""
    folded = Replica(new_core(policy, settings_for(Case(policy, "cost"))))
    first, second = (15 << SHIFT) + 1, (15 << SHIFT) + 2
    for fact in (
        (START, 0, first, 0, None),
        (TIME, D // 2, None, None, None),
        (CANCEL, D // 8, first, None, None),
        (START, D // 2, second, 0, None),
        (TIME, D, None, None, None),
    ):
        folded.fold(fact)
    once = Replica(new_core(policy, settings_for(Case(policy, "cost"))))
    for fact in (
        (START, 0, first, 0, None),
        (CANCEL, D // 2, first, None, None),
        (START, D // 2, second, 0, None),
        (TIME, D, None, None, None),
    ):
        once.fold(fact)
    for one in (folded, once):
        assert one.fold((RETURN, D, second, D // 4, None)) == "returned"
        one.fold((TIME, 4 * D, None, None, None))
    here, there = evidence(folded), evidence(once)
    rule = [field for field in here if "Rule" in field]
    assert rule
    assert {field: here[field] for field in rule} == {field: there[field] for field in rule}


def test_an_agent_opens_while_others_append_for_ever() -> None:
    """What is there when it comes is read; the rest comes later."""
    reads = 0

    def read_on() -> list[Row]:
        nonlocal reads
        reads += 1
        assert reads < 5
        return [(TIME, reads, None, None, None)] * (READ if reads < 3 else 1)

    courier = SimpleNamespace(cursor=0)
    store = SimpleNamespace(
        snapshots=list, check_facts_after=lambda seq: None, courier=courier, read_on=read_on
    )
    case = Case(tarry.SurvivalThompson(), "cost")
    found = newest_replica(store, lambda *_: Replica(new_core(case.policy, settings_for(case))))
    assert found.seq == 2 * READ + 1
