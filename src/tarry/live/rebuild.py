"""Evidence made anew from the plays that are kept, for another policy or another version of it."""

import heapq
from collections.abc import Iterator

from tarry.live.arms import arm_of_slot, regroup
from tarry.live.core import Core
from tarry.live.desk import grow
from tarry.live.facts import CANCEL, FAIL, REPORT, RETURN, START, Fact
from tarry.live.history import Ended
from tarry.live.lease import Lease
from tarry.live.machine import promised
from tarry.live.plays import Arm
from tarry.live.register import (
    BLOCK,
    CANCELLED,
    CLOSED,
    FAILED,
    NONE,
    OUT,
    RETURNED,
    VANISHED,
    VOID,
    Register,
)
from tarry.live.state import fill_tables

FOR_EVER = 2**61  # ticks
VOIDED = 0  # no fact of a store: the lease of a play of which nothing was heard has run out
MOST = 200_000  # plays that are looked at; more say little more, and take their time


def rebuild(core: Core, first: int, plays: Ended) -> int:
    """Give `core` fresh desks that have heard of `plays`, of which the first has number `first`.

    All else of the core stays. Returns how many plays the evidence is of.
    """
    skipped = max(len(plays.slot) - (MOST if core.arms else 0), 0)
    first += skipped
    kept = Ended(*(column[skipped:] for column in plays))
    scratch = _emptied(core, first)
    for fact in _facts(first, kept, core.now, leased=core.leases is not None):
        if fact.kind == START:
            scratch.settle(fact.time)
            scratch.requests.expect(fact.name or "")
            scratch.open.enter(scratch.register.last + 1, fact.time)
            scratch.requests.show(scratch.open.plays, scratch.register.last + 1)
            scratch.start(arm_of_slot(scratch, fact.value), fact.time)
        elif fact.kind == VOIDED and scratch.leases is not None:
            scratch.leases.end_silent(fact.play or 0)
        elif fact.kind == REPORT:
            scratch.report(fact.play or 0, fact.value or 0, fact.time)
        elif fact.kind == CANCEL:
            if scratch.leases is not None:  # it was given up at what was reported
                scratch.report(fact.play or 0, fact.value or 0, fact.time)
            scratch.cancel(fact.play or 0, fact.time)
        else:
            status = FAILED if fact.kind == FAIL else RETURNED
            scratch.tell(fact.play or 0, fact.value, fact.time, status)
    scratch.now = core.now
    for number in range(scratch.ended, core.register.last + 1):
        closed = core.register.status[number & core.register.mask] == CLOSED
        if closed and scratch.is_out(number):
            scratch.tell(number, None, core.now)
    _take_desks(core, scratch)
    return len(kept.slot)


def _emptied(core: Core, first: int) -> Core:
    """A core of the same arms in which play number `first` will be the first."""
    scratch = Core(
        core.policy,
        list(core.arms) or [""],  # a rule is for one arm at least
        core.setting,
        core.seed,
        remembered=0,
        features=core.requests.features,
        lease=None if core.leases is None else Lease(FOR_EVER, 1),
    )
    scratch.promise = None
    scratch.register = Register(first)
    scratch.ended = first
    scratch.kept = 2**62  # it keeps no history
    for desk in scratch.desks():
        for edge in range(len(desk.ages.reached)):
            desk.ages.reached[edge] = first
    if not core.arms:
        scratch.arms.clear()
        scratch.slots.clear()
        regroup(scratch)
    mine = dict(zip((arm.slot for arm in core.arms.values()), scratch.slots, strict=True))
    scratch.slots = [mine.get(arm.slot) or Arm(arm.slot, "", core.max_delay) for arm in core.slots]
    for arm, original in zip(scratch.slots, core.slots, strict=True):
        arm.slot = original.slot
        arm.paused = original.paused
    if any(arm.paused for arm in scratch.arms.values()):
        regroup(scratch)
    return scratch


def _facts(first: int, plays: Ended, now: int, *, leased: bool) -> Iterator[Fact]:
    """What happened to these plays up to `now`, in the order in which it did."""
    ends: list[tuple[int, int, int]] = []  # when, which play, its status
    starts, statuses = plays.start.tolist(), plays.status.tolist()
    delays, slots, texts = plays.delay.tolist(), plays.slot.tolist(), plays.request.tolist()
    reported: list[Fact] = []
    kinds = {RETURNED: RETURN, FAILED: FAIL, CANCELLED: CANCEL}
    if leased:  # else plays are closed by the clock
        kinds |= {CLOSED: REPORT, VANISHED: RETURN, VOID: VOIDED}

    def ended(before: int) -> Iterator[Fact]:
        while ends and ends[0][0] <= before:
            time, number, status = heapq.heappop(ends)
            yield Fact(kinds[status], time, number, delays[number - first])

    for number, start in enumerate(starts, first):
        yield from ended(start)
        yield Fact(START, start, number, slots[number - first], texts[number - first])
        status = statuses[number - first]
        if status in kinds:
            taken = max(delays[number - first], 0)
            end = min(start + taken, now)  # a delay may have been told in advance
            heapq.heappush(ends, (end, number, status))
        elif delays[number - first] > NONE and status == OUT:
            reported.append(Fact(REPORT, now, number, delays[number - first]))
    yield from ended(now)
    yield from reported


def _take_desks(core: Core, scratch: Core) -> None:
    """Let the desks of `scratch` be those of `core`, whose arms stay what they are."""
    core.maker = scratch.maker
    core.maker.leases = core.leases
    core.failures = scratch.failures
    core.ended = max(min(core.ended, scratch.ended), core.register.oldest)
    for name, arm in core.arms.items():
        arm.pace = scratch.arms[name].pace
    desks = []
    for theirs in scratch.desks():
        arms = [core.arms[arm.name] for arm in theirs.arms]
        desk = core.maker.desk(
            arms, rule=theirs.rule, ledger=theirs.ledger, plays=theirs.plays, ages=theirs.ages
        )
        desks.append(desk.seat())
    core.open = desks[0]
    core.paused = desks[1] if len(desks) > 1 else None
    if core.promise is not None:
        core.promise = promised(core.maker)
    while core.register.last + 1 + BLOCK - core.ended > len(core.open.plays.number):
        grow(core.desks())
    fill_tables(core)
