"""The register: the life of every play that is young enough to matter, or remembered.

Columns in which the row of play number n is n modulo the size, a power of two; a play needs no
object of its own, so that hundreds of thousands are quickly written, read and looked through.
"""

from array import array
from typing import NamedTuple

import numpy as np

from tarry.arrays import IntArray

OUT, RETURNED, CLOSED, CANCELLED, FAILED = range(5)
FIRST_ROWS = 64
NONE = -1  # a delay that is not there


class Columns(NamedTuple):
    """Plays in the order of their numbers."""

    slot: IntArray
    start: IntArray
    delay: IntArray  # what was booked, NONE while nothing is
    watched: IntArray  # the age at which a cancelled play was given up, else NONE
    late: IntArray  # the delay told when it was too late, else NONE
    status: IntArray


class Register:
    """Plays `oldest` to the last one added."""

    def __init__(self, oldest: int = 1) -> None:
        self.oldest = oldest
        self.last = oldest - 1
        self.slot = array("i", bytes(4 * FIRST_ROWS))
        self.start = array("q", bytes(8 * FIRST_ROWS))
        self.delay = array("q", bytes(8 * FIRST_ROWS))
        self.watched = array("q", bytes(8 * FIRST_ROWS))
        self.late = array("q", bytes(8 * FIRST_ROWS))
        self.status = array("b", bytes(FIRST_ROWS))
        self.mask = FIRST_ROWS - 1

    def add(self, slot: int, start: int) -> None:
        """The next play."""
        number = self.last + 1
        if number - self.oldest > self.mask:
            self._grow()
        row = number & self.mask
        self.slot[row] = slot
        self.start[row] = start
        self.delay[row] = self.watched[row] = self.late[row] = NONE
        self.status[row] = OUT
        self.last = number

    def first_younger(self, low: int, time: int) -> int:
        """The first play from `low` on that started after `time`."""
        high, start, mask = self.last + 1, self.start, self.mask
        while low < high:
            middle = (low + high) // 2
            if start[middle & mask] <= time:
                low = middle + 1
            else:
                high = middle
        return low

    def columns(self, first: int, end: int) -> Columns:
        """Copies of the rows of plays `first` to `end` - 1."""
        rows = np.arange(first, end) & self.mask
        mine = (self.slot, self.start, self.delay, self.watched, self.late, self.status)
        return Columns(*(np.frombuffer(c, dtype=c.typecode)[rows] for c in mine))

    def fill(self, oldest: int, columns: Columns) -> None:
        """Take over these plays, the first of which has number `oldest`."""
        size = len(columns.slot)
        self.oldest, self.last = oldest, oldest + size - 1
        rows = FIRST_ROWS
        while rows < size + 1:
            rows *= 2
        self.mask = rows - 1
        places = np.arange(oldest, oldest + size) & self.mask
        for name, column in zip(Columns._fields, columns, strict=True):
            typecode = getattr(self, name).typecode
            whole = np.zeros(rows, typecode)
            whole[places] = column
            setattr(self, name, array(typecode, whole.tobytes()))

    def _grow(self) -> None:
        """Twice as many rows: a column that repeats itself has every play where it belongs."""
        for name in Columns._fields:
            setattr(self, name, getattr(self, name) * 2)
        self.mask = 2 * self.mask + 1
