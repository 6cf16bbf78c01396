"""Leases: plays whose ages are reported, not measured.

Time on a page does not run while its tab is hidden, and a browser can vanish without a word. With a
lease, the age of a play that is out is what was last reported of it, and the clock says only how
long nothing was heard of it. When that is as long as the lease,

    a play that was reported once has vanished: it ended after its last report and before the next
    one, a heartbeat later, and is booked with the middle of the two;
    a play of which nothing was ever heard is void: it is counted as that, and is no evidence.

Neither is written by anybody: both follow from the facts and their times. Plays are kept in the
order in which they were last heard of, so that those whose lease has run out are the first ones.
"""

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tarry.live.clock import TICKS
from tarry.live.plays import Arm, Told
from tarry.live.register import CLOSED, FAILED, NONE, OUT, VANISHED, VOID
from tarry.plays import AT_ONCE

if TYPE_CHECKING:
    from tarry.live.core import Core

LIVES = 4  # times D for which a play may be out on the clock, and so be paused most of the time
LEAST_LIFE = 3600 * TICKS


class Lease(NamedTuple):
    """How long a play may be silent, and how often it is reported otherwise, in ticks."""

    length: int
    heartbeat: int


def longest_life(max_delay: int, lease: int) -> int:
    """How long a play may be out on the clock, pauses and all, in ticks."""
    return max(LIVES * max_delay, LEAST_LIFE) + lease


class Leases:
    """The plays of a core that are out, by when they were last heard of."""

    def __init__(self, core: "Core", lease: Lease) -> None:
        self.lease = lease
        self.heard: OrderedDict[int, int] = OrderedDict()  # by number, the longest silent first
        self._core = core
        self._longest = longest_life(core.max_delay, lease.length)

    def begin(self, number: int, now: int) -> None:
        """A play starts; it is to be heard of within the lease."""
        self.heard[number] = now

    def age(self, number: int) -> int:
        """What was last reported of a play; NONE if nothing was."""
        register = self._core.register
        return register.watched[number & register.mask]

    def is_silent(self, number: int, now: int) -> bool:
        """Whether the lease of a play that is out has run out."""
        return now - self.heard[number] >= self.lease.length

    def is_news(self, number: int, lasted: int, now: int) -> bool:
        """Whether a report of a play that is out says more than it is still there, as before.

        A repeated report, soon after the one before, is no fact: so many of them cost nothing.
        """
        recent = now - self.heard[number] < self.lease.heartbeat // 4
        return not recent or lasted > self.age(number)

    def report(self, number: int, lasted: int, now: int) -> bool:
        """A play is said to have lasted `lasted` so far, and to go on; whether it is still out."""
        core = self._core
        if not core.is_out(number):
            return False
        core.now = now
        if self.is_silent(number, now):
            self.end_silent(number)
            return False
        if lasted >= core.max_delay:
            core.book(number, CLOSED, core.max_delay)
            return False
        self.heard[number] = now
        self.heard.move_to_end(number)
        self._take(number, lasted, now)
        register = core.register
        if now - register.start[number & register.mask] >= self._longest:
            core.cancel(number, now)  # all that is known is that it lasted longer than reported
            return False
        return True

    def tell(self, number: int, status: int, taken: int, now: int) -> Told:
        """The answer of a play that is out, unless its lease has run out before."""
        core = self._core
        if self.is_silent(number, now):
            self.end_silent(number)
            return core.note_late(number & core.register.mask, taken)
        core.book(number, status, taken)
        return Told.RETURNED

    def taken(self, row: int, delay: int | None, status: int) -> int:
        """What a play took, as was told: at least what was reported, unless it failed."""
        core = self._core
        reported = max(core.register.watched[row], 0)
        if delay is None:
            return reported
        return min(delay, core.max_delay) if status == FAILED else max(delay, reported)

    def drop(self, number: int) -> None:
        """A play is no longer out."""
        self.heard.pop(number, None)
        age = self.age(number)
        if age != NONE:
            self._count(number, age, -1)

    def run_out(self, now: int) -> None:
        """Book plays whose leases have run out by `now`, the longest silent first; some of many."""
        core = self._core
        for _ in range(AT_ONCE):
            if not self.heard or now - self._first()[1] < self.lease.length:
                break
            self.end_silent(self._first()[0])
        core.watched = core.register.first_out(max(core.watched, core.ended))
        core.due = (self._first()[1] if self.heard else now) + self.lease.length - 1

    def end_silent(self, number: int) -> None:
        """The lease of a play has run out: it vanished, or nothing was ever heard of it."""
        age = self.age(number)
        if age == NONE:
            self._void(number)
        else:
            self._core.book(number, VANISHED, self.booked(age))

    def before_first_out(self) -> int:
        """The number of the play before the first one that is out."""
        core = self._core
        core.watched = core.register.first_out(max(core.watched, core.ended))
        return core.watched - 1

    def listen(self, now: int) -> None:
        """Nobody could be heard until `now`: all leases begin anew."""
        core = self._core
        while self.heard and core.now - self._first()[1] >= self.lease.length:
            self.end_silent(self._first()[0])
        core.now = now
        self.heard = OrderedDict.fromkeys(self.heard, now)

    def silent(self, now: int) -> list[int]:
        """The plays whose leases have run out by `now` though nobody has noticed yet."""
        found = []
        for number, time in self.heard.items():
            if now - time < self.lease.length:
                break
            found.append(number)
        return found

    def gone_and_void(self, now: int) -> tuple[int, int]:
        """How many of these have vanished, and how many are void."""
        silent = self.silent(now)
        void = sum(self.age(number) == NONE for number in silent)
        return len(silent) - void, void

    def booked(self, age: int) -> int:
        """What a play took that vanished after it was reported to be so old."""
        return (age + min(age + self.lease.heartbeat, self._core.max_delay)) // 2

    def ages(self, arm: Arm) -> tuple[list[int], list[int]]:
        """What was reported of the plays of an arm, to D / BUCKETS, and how often."""
        half = arm.width // 2
        return [place * arm.width + half for place in arm.out], list(arm.out.values())

    def count_anew(self) -> None:
        """Count what was reported of the plays that are out, after they came from a snapshot."""
        core = self._core
        known = core.register.columns(core.ended, core.register.last + 1)
        for arm in core.slots:
            arm.out.clear()
        for place in np.flatnonzero((known.status == OUT) & (known.watched != NONE)).tolist():
            self._count(core.ended + place, int(known.watched[place]), 1)

    def _first(self) -> tuple[int, int]:
        return next(iter(self.heard.items()))

    def _take(self, number: int, lasted: int, now: int) -> None:
        """The largest report wins; the rule hears of the ages that are new."""
        before = self.age(number)
        if lasted <= before:
            return
        register = self._core.register
        row = number & register.mask
        desk = self._core.slots[register.slot[row]].desk
        if desk is not None:
            desk.report(number, lasted, now)
        if before != NONE:
            self._count(number, before, -1)
        register.watched[row] = lasted
        self._count(number, lasted, 1)

    def _count(self, number: int, age: int, more: int) -> None:
        register = self._core.register
        arm = self._core.slots[register.slot[number & register.mask]]
        arm.count_out(age // arm.width, more)

    def _void(self, number: int) -> None:
        """Nobody has ever heard of this play: it is taken out of the evidence."""
        core, register = self._core, self._core.register
        self.drop(number)
        row = number & register.mask
        register.status[row] = VOID
        arm = core.slots[register.slot[row]]
        arm.void += 1
        core.void += 1
        if arm.desk is not None:
            arm.desk.unbook(number)
