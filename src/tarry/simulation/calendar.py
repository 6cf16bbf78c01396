"""The calendar: which plays of the last D steps come back when.

Plays are made one a step, so the plays that may still be out fit into rings of W > D places, and
play number s lives at s modulo W. Answers due at the same step form a linked list.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import IntArray


class Calendar(NamedTuple):
    """The plays of the last W > D steps; W is a power of two."""

    arm_of: IntArray  # the arm of the play in this place
    delay_of: IntArray  # its delay, which only the calendar knows before it is due
    next_of: IntArray  # another play due at the same step, or -1
    due: IntArray  # at step modulo W: the latest play whose answer arrives then, or -1
    edges: IntArray  # ages at which a rule wants to hear of plays still out, in 1..D
    max_delay: int

    def add(self, step: int, arm: int, delay: int) -> None:
        """Play number `step` is of `arm`, and its answer will be due `delay` steps later."""
        mask = len(self.due) - 1
        place = step & mask
        day = (step + delay) & mask
        self.arm_of[place] = arm
        self.delay_of[place] = delay
        self.next_of[place] = self.due[day]
        self.due[day] = place


def empty_calendar(max_delay: int, edges: IntArray) -> Calendar:
    """A calendar without plays."""
    places = 1 << int(max_delay).bit_length()  # the smallest power of two above max_delay

    def ring() -> IntArray:
        return np.full(places, -1, np.int32)

    return Calendar(ring(), ring(), ring(), ring(), edges, max_delay)
