"""The table of plays: one row for each play that is out or not yet complete.

A play is a row, in the simulator and in live use. The row of play number n is n modulo the size of
the table, a power of two, so that a row is found without a search and old plays make room for new
ones by themselves. Decision rules are handed the table and a row; what a play brings along is a
column here and not another parameter there.

A rule may look at all of it and cannot peek: the delay of a play is `OUT` until its answer is seen.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import FloatArray, Floats, IntArray, Ints

OUT = -1  # the delay of a play that is still out
CANCELLED = -2  # at or below: nobody watches the play any longer; booked with CANCELLED - delay
ROW_BYTES = 36  # of a row of a `regular` table and of the calendar beside it, without features
NOBODY = -1  # the arm of a row that concerns nobody here: its arm is gone, or at another desk


class Plays(NamedTuple):
    """The latest plays, by row. While a play is decided on, its row is filled but for the arm."""

    number: Ints  # plays count from 1
    arm: Ints
    start: Ints  # when it started
    delay: Ints  # how long it took, OUT while nobody knows
    ahead: Ints  # plays of its arm that were out when it started, for rules that ask for crowding
    note: Floats  # a number that a rule keeps with the play; its hooks write it
    context: FloatArray  # (rows, p): what was known of the request, NaN where it was not

    def row_of(self, number: int) -> int:
        """The row of a play."""
        return number & (len(self.number) - 1)

    def complete_delay(self, row: int, max_delay: int) -> int:
        """What a play that is D old took: D if it is still out, what was booked if cancelled."""
        delay = self.delay[row]
        return max_delay if delay == OUT else max(delay, CANCELLED - delay)


COMPLETE, FIRST_EDGE = 0, 1  # places in `edges`: D, at which a play is complete, and what follows
AT_ONCE = 256  # plays that are told to reach an edge at once; of more, the rest at the next time
ALL = 2**62  # where one call is to tell of everything


class Ages(NamedTuple):
    """How far the plays have aged, as far as it was told: per edge the first play still younger.

    Plays start in the order of their numbers, so the plays that are old enough for an edge are
    those before a cursor, and each of them passes each edge once. After a long pause many are due:
    a call tells of `most` of them, so that none takes long, and the next ones of the rest.
    """

    edges: Ints  # D, and then the ages that a rule asked for, in 1..D
    reached: Ints  # per edge: the first play that was not told to reach it
    most: Ints  # one number: how many plays are told at once to reach an edge

    def fill(self, plays: Plays, row: int, number: int, now: int) -> None:
        """Fill the row of the play that is decided on now."""
        plays.number[row] = number
        plays.start[row] = now
        plays.delay[row] = OUT

    def concerned(self, plays: Plays, row: int) -> bool:
        """Whether the play in `row` is of an arm that is here."""
        return plays.arm[row] != NOBODY

    def first_due(self, edge: int, now: int) -> int:
        """The first play that was not told to have reached this edge; before `end_due`."""
        return self.reached[edge]

    def end_due(self, edge: int, plays: Plays, last: int, now: int) -> int:
        """One past the last play up to `last` that has reached it now; the cursor moves there."""
        number = self.reached[edge]
        limit, mask = now - self.edges[edge], len(plays.start) - 1
        end = min(last + 1, number + self.most[0])
        while number < end and plays.start[number & mask] <= limit:
            number += 1
        self.reached[edge] = number
        return number


class SteadyAges(NamedTuple):
    """`Ages` where play number n starts at time n and time goes by ones, as in simulation.

    One play at a time reaches an edge, and which one it is needs no looking up.
    """

    edges: IntArray

    def fill(self, plays: Plays, row: int, number: int, now: int) -> None:
        """As in `Ages`; number and start are one column."""
        plays.number[row] = number
        plays.delay[row] = OUT

    def concerned(self, plays: Plays, row: int) -> bool:
        """As in `Ages`; no arm ever leaves."""
        return True

    def first_due(self, edge: int, now: int) -> int:
        """As in `Ages`."""
        return max(now - self.edges[edge], 1)

    def end_due(self, edge: int, plays: Plays, last: int, now: int) -> int:
        """As in `Ages`."""
        return now - self.edges[edge] + 1


def empty_plays(most: int, *, regular: bool = False, features: int = 0) -> Plays:
    """A table with room for `most` plays and the one being decided on.

    Where plays are made one per unit of time, `regular`, a play starts at its own number: the two
    columns are one. Of each request `features` numbers are kept.
    """
    rows = 1 << most.bit_length()  # a power of two above `most`
    number = np.zeros(rows, np.int64)
    return Plays(
        number=number,
        arm=np.full(rows, NOBODY, np.int32),
        start=number if regular else np.zeros(rows, np.int64),
        delay=np.full(rows, OUT, np.int32 if regular else np.int64),
        ahead=np.zeros(rows, np.int32),
        note=np.zeros(rows),
        context=np.zeros((rows, features)),
    )


def wide(plays: Plays) -> Plays:
    """The table with all whole numbers in 64 bits, as compiled code reckons with them.

    NumPy reckons with those of 32 bits in 32, so a user's rule that is interpreted, and takes the
    square of a delay, would get another number than a compiled one.
    """
    arm, delay, ahead = (
        np.asarray(column, np.int64) for column in (plays.arm, plays.delay, plays.ahead)
    )
    return plays._replace(arm=arm, delay=delay, ahead=ahead)


def room_of(most: int, features: int = 0) -> int:
    """Bytes of a `regular` table with room for `most` plays, and of its calendar."""
    return (1 << most.bit_length()) * (ROW_BYTES + 8 * features)


def steady_ages(max_delay: int, edges: IntArray) -> SteadyAges:
    """The ages of plays made one per unit of time."""
    return SteadyAges(np.array([max_delay, *edges], np.int64))


def no_ages(max_delay: int, edges: IntArray, most: int = AT_ONCE) -> Ages:
    """Nothing was played yet."""
    ages = np.array([max_delay, *edges], np.int64)
    return Ages(ages, np.ones(len(ages), np.int64), np.array([most], np.int64))
