"""Plays as an agent tells of them, what it counts, and what it keeps of an arm."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple, Self

from tarry.live.curve import DelayCurve
from tarry.live.desk import Desk
from tarry.live.pace import Pace

BUCKETS = 256  # pieces of D by which the ages of the plays that are out are kept


class Play(NamedTuple):
    """A choice: what `ask` returns."""

    id: int  # a whole number that says which agent made it; ids of one agent increase
    arm: str
    time: float  # UTC, seconds since the epoch


# `Play(...)` for a tuple of its fields, in half the time.
new_play: Callable[[tuple[int, str, float]], Play] = partial(tuple.__new__, Play)


class Told(StrEnum):
    """What became of an answer."""

    RETURNED = "returned"  # it is the first, and counts
    REPEATED = "repeated"  # it was known already; nothing changed
    LATE = "late"  # the play was closed or cancelled before; stored, but the statistics stay
    FORGOTTEN = "forgotten"  # the play ended so long ago that its answer is no longer kept


class Status(StrEnum):
    """Where a play stands; in the order of the numbers in a register."""

    OUT = "out"
    RETURNED = "returned"
    CLOSED = "closed"  # it reached age D
    CANCELLED = "cancelled"
    FAILED = "failed"
    VANISHED = "vanished"  # its lease ran out after its last report; booked in the middle
    VOID = "void"  # its lease ran out, and nothing was ever heard of it


class PlayCounts(NamedTuple):
    """Numbers of plays; asked = returned + pending + closed + cancelled, always.

    With a lease there are void plays besides, `Counts.void`.
    """

    asked: int
    returned: int  # failed and vanished ones included
    pending: int
    closed: int  # at age D
    cancelled: int
    late: int  # answers to plays that were closed or cancelled before
    failed: int  # of the returned ones


class Odd(NamedTuple):
    """What was not normal since this agent was opened; all 0 on a good day."""

    repeated: int = 0  # answers that were known already
    forgotten: int = 0  # answers to plays that ended too long ago
    asked_again: int = 0  # asks with a key that an earlier one had
    conflicts: int = 0  # second answers that differed from the first, refused
    unknown: int = 0  # ids that are not of this agent, refused
    undecided: int = 0  # asks at which the policy failed or stopped
    unheard: int = 0  # facts at which a user's rule failed, which it has not learned
    repaired: int = 0  # changes that were interrupted half-way, and made whole again
    censored: int = 0  # plays left out by an earlier process, cancelled at opening
    store_failures: int = 0  # times at which the store could not be written
    undurable: int = 0  # facts that are in memory only, just now
    dropped: int = 0  # facts that were in memory only, and will not be on disk
    features_missing: int = 0  # values that contexts did not have
    features_unknown: int = 0  # values that no list of a feature has, or without a logarithm
    reported_late: int = 0  # reports of plays whose lease had run out: it may be too short


def odd_of(seen: Mapping[str, int], store: Any, undurable: int, unheard: int) -> Odd:
    """What an agent has seen that was not normal, with what its store says of itself."""
    counts = {name: seen.get(name, 0) for name in Odd._fields}
    counts |= {"store_failures": store.failures, "undurable": undurable, "dropped": store.dropped}
    counts["unheard"] += unheard
    return Odd(**counts)


class Counts(PlayCounts):
    """`PlayCounts`, and what was not normal as further attributes, as in `counts.repeated`.

    So are plays whose leases ran out. These are no part of the tuple, so counts compare and unpack
    as the seven numbers of plays.
    """

    odd: Odd
    vanished: int = 0  # of the returned ones: their leases ran out after a report
    void: int = 0  # asked, and never heard of: no evidence

    def with_leases(self, vanished: int, void: int) -> Self:
        """These counts with those of leases that ran out."""
        self.vanished, self.void = vanished, void
        return self

    def with_odd(self, odd: Odd) -> Self:
        """These counts with what was not normal."""
        self.odd = odd
        return self

    def __getattr__(self, name: str) -> Any:
        if name in Odd._fields:
            return getattr(self.__dict__.get("odd", Odd()), name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __repr__(self) -> str:
        """The numbers of plays, and of what was not normal those that are not 0."""
        odd = self.__dict__.get("odd", Odd())._asdict()
        odd |= {"vanished": self.vanished, "void": self.void}
        cells = self._asdict() | {name: count for name, count in odd.items() if count}
        return f"Counts({', '.join(f'{name}={count}' for name, count in cells.items())})"


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
        "out",
        "pace",
        "paused",
        "plays",
        "returned",
        "slot",
        "vanished",
        "void",
        "width",
    )

    def __init__(self, slot: int, name: str, max_delay: int) -> None:
        self.slot = slot  # its number for life, in order of arrival
        self.name = name
        self.paused = False
        self.desk: Desk | None = None  # None once it is removed
        self.index = -1  # its number at the desk
        self.curve = DelayCurve(max_delay)
        self.pace = Pace(max_delay)
        self.width = max(max_delay // BUCKETS, 1)
        self.out: dict[int, int] = {}  # plays that are out, by start // width, or reported age
        self.plays = 0
        self.returned = 0
        self.closed = 0
        self.cancelled = 0
        self.late = 0
        self.failed = 0
        self.vanished = 0
        self.void = 0

    def count_out(self, bucket: int, more: int) -> None:
        """So many more plays that began in this bucket are out."""
        count = self.out.get(bucket, 0) + more
        if count:
            self.out[bucket] = count
        else:
            del self.out[bucket]

    def ages(self, now: int) -> tuple[list[int], list[int]]:
        """Ages of the plays that are out, to D / BUCKETS, and how many have each."""
        half = self.width // 2
        ages = [max(now - start * self.width - half, 0) for start in self.out]
        return ages, list(self.out.values())
