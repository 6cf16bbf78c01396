"""Curves of the arms and ages of their plays, brought up to date for many plays at a time.

Only a cancellation, an explanation and a snapshot look at them, so an ask notes nothing for them,
and the end of a play its number. What was noted is folded in before anybody looks, or when it has
become much. The ages are those of plays that are out, in buckets, and only cancellations need
them: they are counted anew at the first one, and kept while there are more.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from tarry.arrays import IntArray
from tarry.live.curve import DelayCurve
from tarry.live.plays import Arm
from tarry.live.register import OUT, Columns, Register

MUCH = 4096  # plays


class Tally:
    """What is not yet in the curves and ages of the arms."""

    def __init__(self) -> None:
        self.over: list[int] = []  # plays that came back or were closed, in that order
        self.first = 1  # none of these has a lower number
        self._counted = 0  # plays up to this number are among the ages, if they are out; 0: none is
        self._wanted = False  # whether the ages were needed since the last fold

    def fold(self, register: Register, slots: Sequence[Arm], first: int) -> None:
        """Bring the curves up to date; no play before `first` is out."""
        over = register.rows(self.over)
        if self._wanted:
            self._follow(register, slots, over)
        else:
            self._counted = 0
        self.over = []
        for place, mine in _by_slot(over.slot):
            slots[place].curve.came_back(over.delay[mine])
        self.first = first
        self._wanted = False

    def count(self, register: Register, slots: Sequence[Arm], first: int) -> None:
        """Bring the curves up to date, and the ages of the plays that are out."""
        self._wanted = self._counted > 0
        self.fold(register, slots, first)
        if not self._counted:
            for arm in slots:
                arm.out.clear()
            known = register.columns(first, register.last + 1)
            out = known.status == OUT
            _count(slots, known.slot[out], known.start[out], 1)
            self._counted = register.last
        self._wanted = True

    def lose_count(self) -> None:
        """The ages are no longer what was counted."""
        self._counted, self._wanted = 0, False

    def _follow(self, register: Register, slots: Sequence[Arm], over: Columns) -> None:
        begun = register.columns(self._counted + 1, register.last + 1)
        _count(slots, begun.slot, begun.start, 1)
        _count(slots, over.slot, over.start, -1)
        self._counted = register.last

    def curves(self, register: Register, arms: Sequence[Arm]) -> dict[int, DelayCurve]:
        """The curves of these arms as they would be; nothing is changed by looking."""
        over = register.rows(self.over[:])
        return {arm.slot: arm.curve.joined(over.delay[over.slot == arm.slot]) for arm in arms}


def _count(slots: Sequence[Arm], slot: IntArray, start: IntArray, sign: int) -> None:
    """So many plays more, or fewer, of each age are out."""
    for place, mine in _by_slot(slot):
        arm = slots[place]
        buckets, counts = np.unique(start[mine] // arm.width, return_counts=True)
        for bucket, count in zip(buckets.tolist(), counts.tolist(), strict=True):
            arm.count_out(bucket, sign * count)


def _by_slot(slot: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Each slot there is, and where."""
    for place in np.unique(slot).tolist():
        yield place, np.flatnonzero(slot == place)
