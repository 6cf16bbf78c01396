"""The register: the life of every play that is young enough to matter, or remembered.

Columns in which the row of play number n is n modulo the size, a power of two; a play needs no
object of its own, so that hundreds of thousands are quickly written, read and looked through.

Rows are made ready for new plays a block at a time, so that a play writes only what it brings.
"""

from array import array
from typing import NamedTuple

import numpy as np

from tarry.arrays import IntArray

OUT, RETURNED, CLOSED, CANCELLED, FAILED, VANISHED, VOID = range(7)
BLOCK = 64  # rows, a power of two
NONE = -1  # a delay that is not there
EMPTY = {"slot": 0, "start": 0, "delay": NONE, "watched": NONE, "late": NONE, "status": OUT}


class Columns(NamedTuple):
    """Plays in the order of their numbers."""

    slot: IntArray
    start: IntArray
    delay: IntArray  # what was booked, NONE while nothing is
    watched: IntArray  # the age that was last reported, or at which it was given up, else NONE
    late: IntArray  # the delay told when it was too late, else NONE
    status: IntArray


class Register:
    """Plays `oldest` to the last one added."""

    def __init__(self, oldest: int = 1) -> None:
        self.oldest = oldest
        self.last = oldest - 1
        self.mask = BLOCK - 1
        self.slot = _empty("i", "slot")
        self.start = _empty("q", "start")
        self.delay = _empty("q", "delay")
        self.watched = _empty("q", "watched")
        self.late = _empty("q", "late")
        self.status = _empty("b", "status")
        self._blank = [(name, getattr(self, name)[:]) for name in Columns._fields]

    def make_room(self) -> None:
        """Empty the rows of the next plays; called before each play whose number BLOCK divides."""
        number = self.last + 1
        while number + BLOCK - self.oldest > self.mask + 1:
            self._grow()
        row = number & self.mask
        for name, blank in self._blank:
            getattr(self, name)[row : row + BLOCK] = blank

    def add(self, slot: int, start: int) -> int:
        """The next play; its number."""
        number = self.last + 1
        row = number & self.mask
        self.slot[row] = slot
        self.start[row] = start
        self.last = number
        return number

    def first_out(self, number: int) -> int:
        """The first play from `number` on that is out; one past the last if there is none."""
        while number <= self.last:
            row = number & self.mask
            end = min(row + 1024, row + self.last + 1 - number, self.mask + 1)
            found = self.status[row:end].tobytes().find(OUT)
            if found >= 0:
                return number + found
            number += end - row
        return number

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

    def overdue(self, first: int, time: int) -> int:
        """How many plays from `first` on that began by `time` are out."""
        end = self.first_younger(first, time)
        return int((self.columns(first, end).status == OUT).sum()) if end > first else 0

    def told(self, row: int) -> int:
        """What was told of the play in this row, which is not out; NONE if nothing was."""
        answered = self.status[row] in (RETURNED, FAILED)
        return self.delay[row] if answered else self.late[row]

    def columns(self, first: int, end: int) -> Columns:
        """Copies of the rows of plays `first` to `end` - 1."""
        return Columns(*(column.copy() for column in self.look(first, end)))

    def look(self, first: int, end: int) -> Columns:
        """The rows of plays `first` to `end` - 1 as they are now, to be read at once."""
        return Columns(*(self._seen(name, first, end) for name in Columns._fields))

    def rows(self, numbers: list[int]) -> Columns:
        """Copies of the rows of these plays."""
        rows = np.array(numbers, np.int64) & self.mask
        mine = (self.slot, self.start, self.delay, self.watched, self.late, self.status)
        return Columns(*(np.frombuffer(c, dtype=c.typecode)[rows] for c in mine))

    def fill(self, oldest: int, columns: Columns) -> None:
        """Take over these plays, the first of which has number `oldest`."""
        size = len(columns.slot)
        self.oldest, self.last = oldest, oldest + size - 1
        rows = BLOCK
        while rows < size + BLOCK:
            rows *= 2
        self.mask = rows - 1
        places = np.arange(oldest, oldest + size) & self.mask
        for name, column in zip(Columns._fields, columns, strict=True):
            typecode = getattr(self, name).typecode
            whole = np.full(rows, EMPTY[name], typecode)
            whole[places] = column
            setattr(self, name, array(typecode, whole.tobytes()))

    def _seen(self, name: str, first: int, end: int) -> IntArray:
        """A column from `first` to `end` - 1; it may go round the end of the ring once."""
        column = getattr(self, name)
        whole = np.frombuffer(column, dtype=column.typecode)
        row, size = first & self.mask, max(end - first, 0)
        head = whole[row : row + size]
        return head if len(head) == size else np.concatenate((head, whole[: size - len(head)]))

    def _grow(self) -> None:
        """Twice as many rows: a column that repeats itself has every play where it belongs."""
        for name in Columns._fields:
            setattr(self, name, getattr(self, name) * 2)
        self.mask = 2 * self.mask + 1


def _empty(typecode: str, name: str) -> "array[int]":
    return array(typecode, [EMPTY[name]]) * BLOCK
