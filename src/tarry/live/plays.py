"""What an agent remembers of plays and arms."""

from enum import StrEnum
from typing import NamedTuple

from tarry.live.curve import DelayCurve
from tarry.live.desk import Desk
from tarry.live.pace import Pace


class Play(NamedTuple):
    """A choice: what `ask` returns."""

    id: int  # whole numbers from 1 on
    arm: str
    time: float  # UTC, seconds since the epoch


class Told(StrEnum):
    """What became of an answer."""

    RETURNED = "returned"  # it is the first, and counts
    REPEATED = "repeated"  # it was known already; nothing changed
    LATE = "late"  # the play was closed or cancelled before; stored, but the statistics stay
    FORGOTTEN = "forgotten"  # the play ended so long ago that its answer is no longer kept


class Status(StrEnum):
    """Where a play stands."""

    OUT = "out"
    RETURNED = "returned"
    CLOSED = "closed"  # it reached age D
    CANCELLED = "cancelled"


class Counts(NamedTuple):
    """Numbers of plays; asked = returned + pending + closed + cancelled, always."""

    asked: int
    returned: int  # failed ones included
    pending: int
    closed: int  # at age D
    cancelled: int
    late: int  # answers to plays that were closed or cancelled before
    failed: int  # of the returned ones


class Entry:
    """The life of one play."""

    __slots__ = ("arm", "delay", "id", "late", "start", "status")

    def __init__(self, number: int, arm: "Arm", start: int) -> None:
        self.id = number
        self.arm = arm
        self.start = start
        self.status = Status.OUT
        self.delay = -1  # the delay booked; -1 while nothing is
        self.late = -1  # the delay told when it was too late


class Arm:
    """One arm of an agent, and where its evidence is."""

    __slots__ = (
        "cancelled",
        "closed",
        "curve",
        "desk",
        "failed",
        "index",
        "late",
        "name",
        "pace",
        "paused",
        "plays",
        "returned",
        "slot",
    )

    def __init__(self, slot: int, name: str, max_delay: int) -> None:
        self.slot = slot  # its number for life, in order of arrival
        self.name = name
        self.paused = False
        self.desk: Desk | None = None  # None once it is removed
        self.index = -1  # its number at the desk
        self.curve = DelayCurve(max_delay)
        self.pace = Pace(max_delay)
        self.plays = 0
        self.returned = 0
        self.closed = 0
        self.cancelled = 0
        self.late = 0
        self.failed = 0
