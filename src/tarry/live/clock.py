"""Time for live use: whole microseconds since the agent was made, which never run backwards.

Within a process ages are measured on a monotonic clock. Across restarts, where monotonic clocks
mean nothing, they continue on UTC. A clock that jumps back stands still for the agent and then
goes on from there, so no age is ever negative.
"""

import time
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from tarry.checks import shortened
from tarry.errors import InputError

TICKS = 1_000_000  # ticks per second
LATEST = 1e12  # seconds; ticks beyond that would not fit into a file
FAR = 10**12  # ticks; a clock that has gone on so far may have gone too far


def to_ticks(seconds: float) -> int:
    """Whole ticks nearest to `seconds`."""
    try:
        return round(seconds * TICKS)
    except (ValueError, OverflowError) as error:
        raise _no_time(seconds) from error


def to_seconds(ticks: int) -> float:
    """`ticks` in seconds."""
    return ticks / TICKS


@runtime_checkable
class Clock(Protocol):
    """Where an agent gets its time from, in seconds."""

    def monotonic(self) -> float:
        """Time that does not jump while the process lives; its zero means nothing."""

    def utc(self) -> float:
        """Seconds since the epoch, the same for all processes."""


class SystemClock:
    """The clocks of the machine."""

    def monotonic(self) -> float:
        """The machine's monotonic clock."""
        return time.monotonic()

    def utc(self) -> float:
        """The machine's idea of UTC."""
        return time.time()


class ManualClock:
    """A clock that moves when told to, for tests and simulations.

    >>> clock = ManualClock()
    >>> clock.advance(1.5)
    >>> clock.monotonic()
    1.5
    """

    def __init__(self, start: float = 0.0) -> None:
        self.time = start

    def advance(self, seconds: float) -> None:
        """Move on by `seconds`; a negative number is a jump back."""
        self.time += seconds

    def monotonic(self) -> float:
        """Where the clock stands."""
        return self.time

    def utc(self) -> float:
        """Where the clock stands."""
        return self.time


class _Function:
    """A function of no arguments that returns seconds, as a clock."""

    def __init__(self, function: Callable[[], float]) -> None:
        self.monotonic = function
        self.utc = function


def as_clock(clock: Clock | Callable[[], float] | None) -> Clock:
    """The clock meant by an argument: None is the machine's, a function returns seconds."""
    if clock is None:
        return SystemClock()
    if isinstance(clock, Clock):
        return _checked(clock)
    if callable(clock):
        return _checked(_Function(clock))
    raise InputError(
        f"The clock is {clock!r}; give an object with monotonic() and utc(), or a function that "
        f"returns seconds."
    )


def _checked(clock: Clock) -> Clock:
    """The clock, if it gives seconds."""
    for seconds in (clock.monotonic(), clock.utc()):
        if not _fits(seconds):
            raise _no_time(seconds)
    return clock


def _fits(seconds: object) -> bool:
    try:
        return -LATEST < seconds < LATEST  # type: ignore[operator]  # that is the question
    except (TypeError, ValueError):
        return False


def _no_time(seconds: object) -> InputError:
    said = shortened(seconds)
    return InputError(f"The clock says {said}; it must give seconds, up to {LATEST:g}.")


class Ticker:
    """Ticks since an agent was made, from a clock."""

    def __init__(self, clock: Clock, created: float | None = None, last: int = 0) -> None:
        """Begin now, or go on for an agent `created` at that UTC which has seen tick `last`."""
        self._clock = clock
        utc = clock.utc()
        self.created = utc if created is None else created
        self._now = max(last, to_ticks(utc - self.created))
        self._raw = to_ticks(clock.monotonic())

    def now(self) -> int:
        """The current tick; never less than at the last call."""
        seconds = self._clock.monotonic()
        try:
            raw = round(seconds * TICKS)
        except (TypeError, ValueError, OverflowError) as error:
            raise _no_time(seconds) from error
        passed = raw - self._raw
        if abs(passed) > FAR and not _fits(seconds):
            raise _no_time(seconds)
        self._raw = raw
        if passed > 0:
            self._now += passed
        return self._now

    def utc(self, tick: int) -> float:
        """Seconds since the epoch at `tick`."""
        return self.created + tick / TICKS
