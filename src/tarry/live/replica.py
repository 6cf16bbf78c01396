"""A replica: what one process knows of an agent that many share, folded from the log of facts.

Every process reads the same facts in the same order, so every replica comes to the same evidence.
Only facts change it, and each of them first lets time go on to where the fact stands: a decision
looks at what is there and lets nothing pass, so that it leaves no trace that others do not have.
(Were ages taken at the time of the decision, plays that have ended elsewhere, and of whose end
nothing was read yet, would look still out.)

The times of facts are those of the processes that made them, and not quite in the order of the
log. The time of a replica is the latest that it has read of. A play starts there, but what it took
is measured between the times at which it was started and ended:

    the first end in the order of the log counts, if the play was younger than D then;
    a play that nobody ended is closed at D, by everybody, without anybody writing it;
    an end that was made in time but comes after that, from a process that was cut off, still counts
    for KEEP seconds: the closing is taken back;
    of starts with the same key the first counts: the others are no plays.

With a lease a play is silent from the place in the log where it was last heard of. While plays are
out, processes that listen write so often that time goes on that a gap in the log means that nobody
did: then all leases begin anew. That a play has vanished is not taken back.
"""

from collections import deque
from typing import Any, NamedTuple

import numpy as np

from tarry.errors import TarryError
from tarry.live import state
from tarry.live.arms import arm_of_slot
from tarry.live.clock import TICKS
from tarry.live.core import Core
from tarry.live.facts import (
    ADD,
    CANCEL,
    FAIL,
    PAUSE,
    REMOVE,
    REPORT,
    RESUME,
    RETURN,
    START,
    Row,
    change_arms,
)
from tarry.live.history import Chunk, due_chunks
from tarry.live.packed import packed, unpacked
from tarry.live.passing import close_old, make_room
from tarry.live.plays import Arm, Told
from tarry.live.refusals import check_same_answer, no_open_arm
from tarry.live.register import BLOCK, CLOSED, FAILED, OUT, RETURNED
from tarry.live.reopening import reopen
from tarry.live.requests import MARK
from tarry.plays import ALL
from tarry.policies.protocol import STOP
from tarry.randomness import new_random

SHIFT = 32  # an id is that of the process that asked, and its own count of plays
KEEP = 60 * TICKS  # how long an end may be on its way
ORPHANS = 10_000  # ends that may wait for their starts
GAP = 2  # a part of a lease without a fact, while plays are out: nobody has listened


class Before(NamedTuple):
    """The play of the first start with a key, for who sent another."""

    play: int
    arm: str
    time: int


class Started(NamedTuple):
    """A play began, as it should."""


STARTED = Started()
Outcome = Told | bool | TarryError | Before | Started


class Ended(NamedTuple):
    """An end whose start was not read yet."""

    kind: int
    time: int
    value: int | None


class Replica:
    """A core that is changed by facts of the log only, and what its plays are called."""

    def __init__(self, core: Core, seq: int = 0) -> None:
        self.core = core
        self.seq = seq  # of the latest fact
        self.chunks: list[Chunk] = []  # of the history, that have become complete
        self.numbers: dict[int, int] = {}  # of the plays that are remembered, by their ids
        self._ids: deque[int] = deque()  # their ids, in the order of their numbers
        self._first = core.register.oldest  # the number of the first of them
        self._began: dict[int, int] = {}  # when a play began, if that is not where it is booked
        self._made: dict[int, int] = {}  # how many plays of each process there were
        self._orphans: dict[int, Ended] = {}
        core.grace = KEEP
        core.maker.apart = True
        for desk in core.desks():
            desk.ages.most[0] = ALL  # so that nothing is left for a decision to tell

    def fold(self, fact: Row) -> Outcome:
        """The next fact of the log happens; what became of it."""
        kind, time, play, value, name = fact
        self.seq += 1
        core = self.core
        now = max(time, core.now)
        self._hear_again(now)
        self.let_pass(now)
        if kind == START:
            return self._start(play or 0, time, now, value, name)
        if kind in (RETURN, FAIL, CANCEL, REPORT):
            return self._end(play or 0, Ended(kind, time, value), now)
        if kind in (ADD, REMOVE, PAUSE, RESUME):
            try:
                change_arms(core, kind, name or "", now)
            except TarryError as error:  # refused, and nothing has changed
                return error
        return True

    def decide(self, text: str, numbers: list[float], keys: tuple[int, int]) -> Arm | None:
        """The arm for a request, with random numbers of these keys; None if the rule has stopped.

        Nothing is changed but what the rule keeps for its decisions.
        """
        core = self.core
        if core.promise is not None:
            core.promise = core.promise.look(core.desks())
        desk, number = core.open, core.register.last + 1
        if not desk.arms:
            raise no_open_arm()
        core.requests.expect(text, numbers)
        core.requests.show(desk.plays, number)
        words = desk.rng.words
        shared = words[0], words[1]
        words[0], words[1] = keys
        try:
            chosen = desk.choose(number, core.now)
        finally:
            words[0], words[1] = shared
        return None if chosen == STOP else desk.arms[chosen]

    def is_answered(self, play: int) -> bool:
        """Whether an answer of this play was read."""
        number = self.numbers.get(play)
        return number is not None and self.core.is_answered(number)

    def is_out(self, play: int) -> bool:
        """Whether this play is out, or may be: its start was not read yet."""
        number = self.numbers.get(play)
        return not self.knows(play) if number is None else self.core.is_out(number)

    def knows(self, play: int) -> bool:
        """Whether the start of this play was read, or of a later one of the same process."""
        return (play & ((1 << SHIFT) - 1)) <= self._made.get(play >> SHIFT, 0)

    def dump(self) -> bytes:
        """Everything, for a snapshot."""
        ids = np.fromiter(self._ids, np.int64, len(self._ids))
        body = state.dump(self.core)
        meta = {
            "seq": self.seq,
            "began": list(self._began.items()),
            "made": list(self._made.items()),
            "orphans": [[play, *ended] for play, ended in self._orphans.items()],
        }
        names = packed(meta, {"ids": ids})
        return len(names).to_bytes(8, "little") + names + body

    def take_names(self, meta: dict[str, Any], ids: list[int]) -> None:
        """Bring back what was dumped beside the core."""
        self.seq = meta["seq"]
        self._first = self.core.register.oldest
        self._ids = deque(ids)
        self.numbers = {name: number for number, name in enumerate(ids, self._first)}
        self._began = dict(meta["began"])
        self._made = dict(meta["made"])
        self._orphans = {play: Ended(*ended) for play, *ended in meta["orphans"]}

    def let_pass(self, now: int) -> None:
        """Time goes on to `now`, in full, so that what a fact finds depends on facts alone."""
        core = self.core
        core.now = now
        while now > core.due:
            close_old(core, now)
        for desk in core.desks():
            desk.settle(core.register.last, now)

    def _start(self, play: int, time: int, now: int, slot: int | None, text: str | None) -> Outcome:
        core = self.core
        if play in self.numbers or slot is None or not 0 <= slot < len(core.slots):
            return False
        if text is not None and text.startswith(MARK):
            again = self._asked_before(play, text)
            if again is not None:
                return again
        arm, number = arm_of_slot(core, slot), core.register.last + 1
        core.requests.expect(text or "")
        core.open.enter(number, now)
        core.requests.show(core.open.plays, number)
        core.start(arm, now)
        self.numbers[play] = number
        self._ids.append(play)
        if time < now:
            self._began[number] = time
        self._made[play >> SHIFT] = play & ((1 << SHIFT) - 1)
        if (number + 1) % BLOCK == 0:
            self._make_room(now)
        ended = self._orphans.pop(play, None) if self._orphans else None
        if ended is not None:
            self._end(play, ended, now)
        return STARTED

    def _asked_before(self, play: int, text: str) -> Outcome | None:
        """The play that has the key of this start already, if there is one."""
        core = self.core
        try:
            number = core.requests.known(text)
        except TarryError as error:  # with another context
            self._made[play >> SHIFT] = play & ((1 << SHIFT) - 1)
            return error
        if not number:
            return None
        self._made[play >> SHIFT] = play & ((1 << SHIFT) - 1)
        register = core.register
        row = number & register.mask
        began = self._began.get(number, register.start[row])
        return Before(self._ids[number - self._first], core.slots[register.slot[row]].name, began)

    def _make_room(self, now: int) -> None:
        close_old(self.core, now)  # it looks which play is the first that is out: by facts alone
        make_room(self.core, now)
        self.chunks += due_chunks(self.core)
        while self._first < self.core.register.oldest:
            del self.numbers[self._ids.popleft()]
            self._began.pop(self._first, None)
            self._first += 1

    def _end(self, play: int, ended: Ended, now: int) -> Outcome:
        """The play came back, failed or is given up, or is reported."""
        number = self.numbers.get(play)
        if number is None:
            return self._without_start(play, ended)
        end = self._end_measured if self.core.leases is None else self._end_leased
        return end(play, number, ended, now)

    def _end_measured(self, play: int, number: int, ended: Ended, now: int) -> Outcome:
        """The play is over, where the clock says whether it was out."""
        core, register = self.core, self.core.register
        row = number & register.mask
        here = register.status[row]
        age = max(ended.time - self._began.get(number, register.start[row]), 0)
        young = age < core.max_delay
        if ended.kind == CANCEL:
            return here == OUT and core.cancel(number, now, age)
        status = FAILED if ended.kind == FAIL else RETURNED
        delay = ended.value
        if status == FAILED:
            delay = 0 if core.setting.reward else core.max_delay
        if here != OUT:
            known = register.told(row)
            if known >= 0:
                try:
                    check_same_answer(play, known, here, delay, status, core.max_delay)
                except TarryError as error:
                    return error
                return Told.REPEATED
        taken = min(age if delay is None else delay, core.max_delay)
        if young and here == OUT:
            core.book(number, status, taken)
            return Told.RETURNED
        if young and here == CLOSED and number >= core.ended:
            reopen(core, number, status, taken)
            return Told.RETURNED
        if here == OUT:
            core.book(number, CLOSED, core.max_delay)
        return core.note_late(row, taken)

    def _end_leased(self, play: int, number: int, ended: Ended, now: int) -> Outcome:
        """The play is reported, or over, where leases say whether it was out."""
        core = self.core
        if ended.kind == REPORT:
            return core.report(number, ended.value or 0, now)
        if ended.kind == CANCEL:
            return core.is_out(number) and core.cancel(number, now)
        core.id_of = lambda _: play
        try:
            if ended.kind == FAIL:
                return core.fail(number, now)
            return core.tell(number, ended.value or 0, now)
        except TarryError as error:  # another answer than before
            return error

    def _hear_again(self, now: int) -> None:
        """If nobody was there to write that time went on, nobody could be heard."""
        leases = self.core.leases
        if leases is not None and now - self.core.now > leases.lease.length // GAP:
            leases.listen(now)

    def _without_start(self, play: int, ended: Ended) -> Outcome:
        """The play was forgotten, or its start is still on its way from another process."""
        if self.knows(play):
            return False if ended.kind in (CANCEL, REPORT) else Told.FORGOTTEN
        if ended.kind == REPORT:  # there will be more
            return True
        if play in self._orphans:
            return False if ended.kind == CANCEL else Told.REPEATED
        while len(self._orphans) >= ORPHANS:
            del self._orphans[next(iter(self._orphans))]
        self._orphans[play] = ended
        return True if ended.kind == CANCEL else Told.RETURNED


def unpacked_replica(body: bytes) -> tuple[dict[str, Any], list[int], bytes]:
    """What was dumped beside the core, and the dump of the core."""
    end = 8 + int.from_bytes(body[:8], "little")
    meta, columns = unpacked(body[8:end])
    return meta, columns["ids"].tolist(), body[end:]


def decision_keys(seed: int, writer: int) -> Any:
    """The keys of one decision of this process after the other."""
    import random

    first = new_random(seed).words[:2].tolist()
    source = random.Random(f"{first[0]} {first[1]} {writer}")
    second = source.getrandbits(64)
    while True:
        yield source.getrandbits(64), second
