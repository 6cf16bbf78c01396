"""The calendar: which plays of the last D steps come back when; only the simulator knows.

Plays are made one a step, so the plays that may still be out fit into rings of W > D places, and
play number s lives at s modulo W, in the calendar as in the table of plays. Answers due at the same
step form a linked list, the latest play first.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import IntArray


class Calendar(NamedTuple):
    """When answers are due; W is a power of two."""

    next_of: IntArray  # by row: another play due at the same step, or -1
    due: IntArray  # at step modulo W: the row of the latest play whose answer arrives then, or -1

    def add(self, row: int, day: int) -> None:
        """The answer of the play in `row` will be seen in step `day`."""
        place = day & (len(self.due) - 1)
        self.next_of[row] = self.due[place]
        self.due[place] = row

    def tear_off(self, day: int) -> int:
        """The row of the first answer of step `day`, or -1; the others follow in `next_of`."""
        place = day & (len(self.due) - 1)
        row = self.due[place]
        self.due[place] = -1
        return row


def empty_calendar(rows: int) -> Calendar:
    """A calendar without plays, for a table with so many rows."""
    return Calendar(np.full(rows, -1, np.int32), np.full(rows, -1, np.int32))
