"""Facts on their way between a process and the database, and those who wait for them.

Own facts are numbered as they are appended; each waits, is sent in a batch, and is safe once it was
read back. The thread that carries them is `tarry.live.store.postgres.courier`.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from tarry.live.facts import TIME, Row

POLL = 0.01  # seconds between two looks, while this process is in use
RESTING = 0.25  # and when it has not been for long
LONG = 2.0  # seconds
BATCH = 1000  # facts that are sent at once
PILED = 250  # of those that have piled up while the database was away
GATHER = 0.25  # of the time that a turn takes, is waited for more facts to send in the next one
LONG_PILE = 12
WAITING = 1_000_000  # facts that may wait for a database that is away

Taken = Callable[[list[Row], dict[int, int]], None]  # facts in order; tickets of own ones by place
Job = Callable[[Any], None]  # with a connection


class Line:
    """Facts on their way; `lock` guards all that is here."""

    def __init__(self) -> None:
        self.lock = threading.Condition()
        self.trouble = ""
        self.since = 0.0  # when the trouble began
        self.failures = self.dropped = 0
        self.durable = 0  # own facts that are safe, and were handed over
        self.batch: list[tuple[int, Row]] = []  # what is being sent
        self.number = 0  # of the batch
        self.unhurried = False  # whether nobody waits for what has piled up
        self.hurry = False  # whether somebody waits to close
        self.over = False
        self.given: Callable[[], int] | None = None  # the clock, if it is not the database's
        self.local: Callable[[], float] = time.monotonic  # this machine's, which is not set
        self.low, self.high = -(2**62), 2**62  # what to add to this machine's clock, at least
        self._told = 0.0  # when that was heard
        self._tickets = count(1)
        self._last = 0
        self._waiting: deque[tuple[int, Row]] = deque()
        self._calls: list[tuple[int, Callable[[], None]]] = []
        self._jobs: deque[Job] = deque()
        self._used = -LONG
        self._wanted = 1  # facts that wait before the thread is told so
        self._woken = 0  # who waited for the latest batch
        self._piled_up = 0  # own facts up to this one were made while the database was away
        self._take: Taken = lambda facts, own: None

    def begin(self, take: Taken) -> None:
        """From now on `take` is handed what is read."""
        self._take = take

    def successor(self) -> "Line":
        """A line for a process that was forked from this one: what waits here is the parent's."""
        new = Line()
        new.given, new.local = self.given, self.local
        new.low, new.high, new._told = self.low, self.high, self._told
        return new

    @property
    def appended(self) -> int:
        """How many facts this process has appended."""
        return self._last

    @property
    def unsent(self) -> list[tuple[int, Row]]:
        """Own facts that were not read back yet, with their numbers."""
        with self.lock:
            return [*self.batch, *self._waiting]

    @property
    def undurable(self) -> int:
        """Facts that are in memory only since the database is, or was, away."""
        if self.over:
            return 0
        alone = self.trouble or self.unhurried
        return max((self._last if alone else self._piled_up) - self.durable, 0)

    @property
    def in_use(self) -> bool:
        """Whether this process has appended something lately."""
        return time.monotonic() - self._used < LONG

    def rejoined(self) -> int:
        """From now on facts are waited for again; the latest of those that were not."""
        with self.lock:
            self.unhurried = False
            self._piled_up = self._last
        return self._piled_up

    def append(self, fact: Row) -> int:
        """One more; its number among those of this process."""
        with self.lock:
            ticket = next(self._tickets)
            self._waiting.append((ticket, fact))
            self._last = ticket
            if len(self._waiting) > WAITING:
                self._waiting.popleft()
                self.dropped += 1
            if fact[0] != TIME:
                self._used = time.monotonic()
            if len(self._waiting) >= self._wanted:
                self.lock.notify()  # the thread, which alone waits for that
        return ticket

    def wait(
        self, number: int, patience: float, *, through_trouble: bool, anew: bool = False
    ) -> bool:
        """Return when this fact is safe, or cannot be made so; whether it is.

        With `through_trouble`, a database that is away is waited for, so many seconds since it
        went; or, `anew`, so many from now on.
        """
        until = time.monotonic() + patience
        while self.durable < number:
            gate = threading.Lock()
            gate.acquire()
            with self.lock:
                now, end = time.monotonic(), until
                if self.trouble and not anew:
                    end = min(until, self.since + patience) if through_trouble else now
                if self.over or end <= now:
                    break
                if self.durable < number:
                    self._calls.append((number, gate.release))
                else:
                    gate.release()
            gate.acquire(timeout=end - now)  # each is woken once, when it is its turn
        return self.durable >= number

    def when_durable(self, number: int, call: Callable[[], None]) -> None:
        """Call this, from another thread, when the fact is safe or cannot be made so."""
        with self.lock:
            if self.durable < number and not self.trouble and not self.over:
                self._calls.append((number, call))
                return
        call()

    def do(self, job: Job) -> None:
        """Have this done with the connection, between two turns."""
        with self.lock:
            self._jobs.append(job)
            self.lock.notify_all()

    def finish(self, patience: float) -> None:
        """Wait for what is still to be sent and done, before the end.

        What waits was acknowledged: that is given up if for so many seconds no fact could be
        written, though a database that is away is tried, or after LONG_PILE times as many.
        """
        with self.lock:
            self.hurry = True
            self.lock.notify_all()
        last, until = self._last, time.monotonic() + LONG_PILE * patience
        while self.durable < last and time.monotonic() < until:
            some = min(self.durable + BATCH, last)
            if not self.wait(some, patience, through_trouble=True, anew=True):
                break
        with self.lock:
            self.lock.wait_for(lambda: not self._jobs or self.trouble, patience)

    def end(self) -> None:
        """Nobody waits any longer, and nothing is carried."""
        with self.lock:
            self.over = True
            self.lock.notify_all()
            ready, self._calls = self._calls, []
        _release(ready)

    # What follows is for the thread.

    def await_something(self, took: float) -> None:
        """Return when there is something to send or to do, or when it is time to look.

        What is to be sent is the batch then; the turn before took so many seconds.
        """
        with self.lock:
            until = POLL if self.in_use else RESTING
            self.lock.wait_for(
                lambda: self._waiting or self.batch or self._jobs or self.over, until
            )
            if self._waiting and not self.batch and not self._jobs:
                self._gather(took)
            if not self.batch and self._waiting:
                most = PILED if self.unhurried and not self.hurry else BATCH
                while self._waiting and len(self.batch) < most:
                    self.batch.append(self._waiting.popleft())
                self.number += 1

    def is_waited_for(self) -> bool:
        """Whether there are facts that were not read back yet."""
        return bool(self.batch or self._waiting)

    def next_job(self) -> Job | None:
        """What is to be done with the connection."""
        return self._jobs[0] if self._jobs and not self.over else None

    def job_done(self) -> None:
        """That is done."""
        with self.lock:
            self._jobs.popleft()
            self.lock.notify_all()

    def hand_over(self, facts: list[Row], own: dict[int, int]) -> None:
        """What was read, to the agent, with the tickets of own facts by their places."""
        with self.lock:  # before anybody decides on what is handed over
            if self.trouble:
                self._piled_up = self._last  # what has piled up is still to be sent
            self.trouble = ""
        self._take(facts, own)

    def arrived(self, tickets: Iterable[int], *, in_full: bool) -> None:
        """Own facts were read back, and handed over: with them the batch, or a part of it."""
        with self.lock:
            self.durable = max(self.durable, *tickets, 0)
            if in_full:
                self.batch = []
            ready = [item for item in self._calls if item[0] <= self.durable]
            self._calls = [item for item in self._calls if item[0] > self.durable]
        self._woken = len(ready)
        _release(ready)

    def failed(self, why: str) -> None:
        """The database is away, or refuses: those who wait are told so."""
        with self.lock:
            if not self.trouble:
                self.failures += 1
                self.since = time.monotonic()
            self.trouble = why or "it does not answer"
            ready, self._calls = self._calls, []
            self.lock.notify_all()
        _release(ready)

    def hear_time(self, begun: float, said: int) -> None:
        """The agent's time was `said` at some moment since `begun`."""
        end = self.local()
        if end < begun:  # a clock of a test, which was set meanwhile
            return
        drift = 0 if self.given else round((end - self._told) * 50)  # 50 millionths at most
        low, high = said - round(end * 1e6), said - round(begun * 1e6)
        self.low, self.high = max(self.low - drift, low), min(self.high + drift, high)
        if self.low > self.high:  # a clock was set
            self.low, self.high = low, high
        self._told = end

    def _gather(self, took: float) -> None:
        """Those who were just woken will most likely be back: wait for them, for a moment."""
        self._wanted = self._woken
        if len(self._waiting) < self._woken:
            self.lock.wait_for(
                lambda: len(self._waiting) >= self._wanted or self.over, GATHER * took
            )
        self._wanted = 1


def _release(ready: Iterable[tuple[int, Callable[[], None]]]) -> None:
    for _, call in ready:
        call()
