"""The thread of a process that speaks with the database: it sends facts, and brings all of them.

It takes whatever waits, sends it as one batch, waits until that is on the disk, reads what all
processes have appended since, hands it over, and wakes those who waited. When nothing waits it
looks now and then what others have appended.

A batch has a number. If the connection is lost, nobody knows whether it arrived; so it is sent
again under the same number, and the database takes it once.

Facts of others may be read before they are on the disk, and be lost if the database crashes. After
every new connection the latest ones that were read are compared with what is there; if they differ,
all is read anew.
"""

import contextlib
import os
import random
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from tarry.live.facts import TIME, Row
from tarry.live.store.postgres.link import abandon, connected, reason
from tarry.live.store.postgres.schema import TURN

POLL = 0.01  # seconds between two looks, while this process is in use
RESTING = 0.25  # and when it has not been for long
LONG = 2.0  # seconds
BATCH = 1000  # facts that are sent at once
PILED = 250  # of those that have piled up while the database was away
LONGEST_PAUSE = 0.1  # seconds between two batches of these
READ = 5000  # facts that are read at once
BOUND = 1.0  # seconds without an answer after which the database counts as away
AGAIN = (0.05, 1.0)  # seconds until the next attempt, the first time and at most
FLUSH = 1.0  # seconds after which what was read of others is made safe by this process as well
HEARTBEAT = 10.0  # seconds
GATHER = 0.25  # of the time that a turn takes, is waited for more facts to send in the next one
LONGEST_TURN = 0.01  # seconds, of those that count for that
COMPARED = 64  # facts with which a database is recognised after it was away
LONG_PILE = 12
LAST_TURN = 0.5  # seconds that who closes waits at least for the thread to end
WAITING = 1_000_000  # facts that may wait for a database that is away

Taken = Callable[[list[Row], dict[int, int]], None]  # facts in order; tickets of own ones by place
Lost = Callable[[Any], int]  # with a connection: begin anew; the number of the latest fact known


class Line:
    """Facts on their way; `lock` guards everything but the connection."""

    def __init__(self, address: str, agent: int, writer: int, *, safe: bool) -> None:
        self.address, self.agent, self.writer = address, agent, writer
        self.lock = threading.Condition()
        self.safe = safe
        self.trouble = ""
        self.since = 0.0  # when the trouble began
        self.failures = self.dropped = 0
        self.durable = 0  # own facts that are safe, and were handed over
        self.snapshot = 0  # the fact after which the latest one was made, by anybody
        self.cursor = 0  # the latest fact that was read
        self.look: Callable[[Any], None] = lambda db: None  # what is done now and then
        self.mark: int | None = None  # which this agent has, and no other one with its number
        self.given: Callable[[], int] | None = None  # the clock, if it is not the database's
        self.local: Callable[[], float] = time.monotonic  # this machine's, which is not set
        self.low, self.high = -(2**62), 2**62  # what to add to this machine's clock, at least
        self._told = 0.0  # when that was heard
        self._tickets = count(1)
        self._last = 0
        self._waiting: deque[tuple[int, Row]] = deque()
        self._batch: list[tuple[int, Row]] = []
        self._number = 0  # of the batch
        self._placed: dict[int, int] = {}  # own facts that were not read yet, by number in the log
        self._latest: deque[Row] = deque()  # the latest facts that were read: all that may be lost
        self._unsure = False  # whether some of them may not be on the disk
        self._flushed = 0.0
        self._calls: list[tuple[int, Callable[[], None]]] = []
        self._jobs: deque[Callable[[Any], None]] = deque()
        self._used = -LONG
        self._wanted = 1  # facts that wait before the thread is told so
        self._woken = 0  # who waited for the latest batch
        self._took = 0.0  # seconds that it took
        self._piled_up = 0  # own facts up to this one were made while the database was away
        self._alive = 0.0  # when the database last heard that this process is there
        self._sent = 0.0  # when something was sent that is not answered yet
        self._db: Any = None
        self.unhurried = False  # whether nobody waits for what has piled up
        self._hurry = False  # whether somebody waits to close
        self._over = False
        self._take: Taken = lambda facts, own: None
        self._lost: Lost = lambda db: 0
        self._threads: list[threading.Thread] = []

    def begin(self, take: Taken, lost: Lost, db: Any = None) -> None:
        """Start to work; `take` is handed facts, `lost` is called when all is to be read anew."""
        self._take, self._lost, self._db = take, lost, db
        self._threads = [
            threading.Thread(target=self._work, name="tarry-line", daemon=True),
            threading.Thread(target=self._watch, name="tarry-watch", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def is_at_work(self) -> bool:
        """Whether the thread is there; in a child of a fork it is not."""
        return any(thread.is_alive() for thread in self._threads)

    @property
    def appended(self) -> int:
        """How many facts this process has appended."""
        return self._last

    @property
    def unsent(self) -> list[tuple[int, Row]]:
        """Own facts that were not read back yet, with their numbers."""
        with self.lock:
            return [*self._batch, *self._waiting]

    @property
    def undurable(self) -> int:
        """Facts that are in memory only since the database is, or was, away."""
        if self._over:
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
                if self._over or end <= now:
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
            if self.durable < number and not self.trouble and not self._over:
                self._calls.append((number, call))
                return
        call()

    def do(self, job: Callable[[Any], None]) -> None:
        """Have this done with the connection, between two turns."""
        with self.lock:
            self._jobs.append(job)
            self.lock.notify_all()

    def stop(self, patience: float = 5.0) -> int:
        """Send what waits, and end; how many facts were not written.

        What waits was acknowledged: that is given up if for so many seconds no fact could be
        written, though a database that is away is tried, or after LONG_PILE times as many.
        """
        if self.is_at_work() and threading.current_thread() not in self._threads:
            with self.lock:
                self._hurry = True
                self.lock.notify_all()
            self._send_all(patience)
            with self.lock:
                self.lock.wait_for(lambda: not self._jobs or self.trouble, patience)
        with self.lock:
            self._over = True
            self.lock.notify_all()
            ready, self._calls = self._calls, []
        self._release(ready)
        for thread in self._threads[:1]:
            if thread is not threading.current_thread():
                thread.join(LAST_TURN if self.trouble else patience)
        if self._db is not None:
            with contextlib.suppress(Exception):
                self._db.close()
        left = sum(fact[0] != TIME for _, fact in self.unsent)
        self.dropped += left
        return left

    def _send_all(self, patience: float) -> None:
        last, until = self._last, time.monotonic() + LONG_PILE * patience
        while self.durable < last and time.monotonic() < until:
            some = min(self.durable + BATCH, last)
            if not self.wait(some, patience, through_trouble=True, anew=True):
                break

    def abandon(self) -> None:
        """This is a child of a fork: the connection, and what waits, are the parent's."""
        if self._db is not None:
            abandon(self._db)

    def successor(self, writer: int, cursor: int) -> "Line":
        """A line that goes on from here for another process, which has read up to the cursor."""
        new = Line(self.address, self.agent, writer, safe=self.safe)
        new.cursor, new.snapshot = cursor, self.snapshot
        new.given, new.local, new.mark = self.given, self.local, self.mark
        new.low, new.high, new._told = self.low, self.high, self._told
        if cursor == self.cursor:
            new._latest = self._latest.copy()
        return new

    def read_on(self, db: Any) -> list[Row]:
        """The next facts, read by the caller before the thread begins."""
        facts, _ = self._turn(db, [], flush=False)
        self.cursor += len(facts)
        self._latest.extend(facts)
        self._forget_all_but(READ)  # those before have been there for long
        return facts

    def _forget_all_but(self, count: int) -> None:
        while len(self._latest) > count:
            self._latest.popleft()

    def _work(self) -> None:
        pause = AGAIN[0]
        while not self._over:
            self._await_something()
            begun = time.monotonic()
            try:
                self._sent = begun
                if self._db is None:
                    self._reconnect()
                self._exchange(self._db)
                self._work_off(self._db)
                pause = AGAIN[0]
                if self.unhurried and not self._hurry:  # others have to read, and fold, all of that
                    self._pause(min(time.monotonic() - begun, LONGEST_PAUSE))
            except Exception as error:  # noqa: BLE001  # whatever it is, it is tried again
                self._failed(reason(error))
                self._hang_up()
                self._pause(pause * (0.5 + random.random()))
                pause = min(2 * pause, AGAIN[1])
        self._hang_up()

    def _pause(self, seconds: float) -> None:
        """Before the next attempt; a short one if somebody waits to close."""
        time.sleep(min(seconds, AGAIN[0]))
        with self.lock:
            self.lock.wait_for(lambda: self._hurry or self._over, seconds - AGAIN[0])

    def _await_something(self) -> None:
        """Return when there is something to send or to do, or when it is time to look."""
        with self.lock:
            until = POLL if self.in_use else RESTING
            self.lock.wait_for(
                lambda: self._waiting or self._batch or self._jobs or self._over, until
            )
            if self._waiting and not self._batch and not self._jobs:
                self._gather()
            if not self._batch and self._waiting:
                most = PILED if self.unhurried and not self._hurry else BATCH
                while self._waiting and len(self._batch) < most:
                    self._batch.append(self._waiting.popleft())
                self._number += 1

    def _gather(self) -> None:
        """Those who were just woken will most likely be back: wait for them, for a moment."""
        self._wanted = self._woken
        if len(self._waiting) < self._woken:
            self.lock.wait_for(
                lambda: len(self._waiting) >= self._wanted or self._over, GATHER * self._took
            )
        self._wanted = 1

    def _exchange(self, db: Any) -> None:
        """One turn, or as many as it takes until nothing is left to read."""
        more = True
        while more and not self._over:
            batch = self._batch
            flush = self.safe and any(row[0] != TIME for _, row in batch)
            if self._unsure and time.monotonic() - self._flushed > FLUSH:
                flush = True
            self._sent = begun = time.monotonic()
            facts, own = self._turn(db, batch, flush=flush)
            self._sent = 0.0
            self._took = min(time.monotonic() - begun, LONGEST_TURN)
            self._placed |= own
            more = len(facts) == READ
            self._hand_over(facts)
        if time.monotonic() - self._alive > HEARTBEAT:
            self._sent = time.monotonic()
            db.execute("UPDATE tarry.writer SET seen = now() WHERE id = %s", (self.writer,))
            self._alive = time.monotonic()
            self.look(db)
            self._sent = 0.0

    def _turn(
        self, db: Any, batch: list[tuple[int, Row]], *, flush: bool
    ) -> tuple[list[Row], dict[int, int]]:
        """What was appended after the cursor, and where this batch is in the log."""
        kinds, times, plays, values, names = _columns(row for _, row in batch)
        given = None if self.given is None else self.given()
        begun = self.local()
        told = (self.agent, self.writer, self._number, kinds, times, plays, values, names)
        answer = db.execute(TURN, (*told, self.cursor, READ, flush, given), prepare=True).fetchone()
        self._hear_time(begun, answer[0])
        if flush:
            self._flushed = time.monotonic()
            self._unsure = False
            self._forget_all_but(COMPARED)
        first, self.snapshot = answer[1], answer[2]
        own = {first + k: ticket for k, (ticket, _) in enumerate(batch, 1)}
        kinds, times, plays, values, names = answer[4:]
        if kinds is None:
            return [], own
        if answer[3] != self.cursor + 1:  # so long away that what follows was deleted
            self._latest.clear()
            self.cursor = self._lost(db)
            return [], own
        return list(
            zip(kinds, times, plays, values, names or [None] * len(kinds), strict=True)
        ), own

    def _hear_time(self, begun: float, said: int) -> None:
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

    def _hand_over(self, facts: list[Row]) -> None:
        """All that was read: to the agent, and then to those who wait for their own facts."""
        first = self.cursor
        own = {
            place - first - 1: ticket
            for place, ticket in self._placed.items()
            if place <= first + len(facts)
        }
        with self.lock:
            self._recovered()  # before anybody decides on what is handed over
        self._take(facts, own)
        self.cursor = first + len(facts)
        self._latest.extend(facts)
        self._unsure = self._unsure or bool(facts)
        arrived = [place for place in self._placed if place <= self.cursor]
        with self.lock:
            for place in arrived:
                self.durable = max(self.durable, self._placed.pop(place))
            if not self._placed:
                self._batch = []
            ready = [item for item in self._calls if item[0] <= self.durable]
            self._calls = [item for item in self._calls if item[0] > self.durable]
        self._woken = len(ready)
        self._release(ready)

    def _recovered(self) -> None:
        """The database answers; what has piled up meanwhile is still to be sent."""
        if self.trouble:
            self._piled_up = self._last
        self.trouble = ""

    def _failed(self, why: str) -> None:
        """The database is away, or refuses: those who wait are told so."""
        with self.lock:
            if not self.trouble:
                self.failures += 1
                self.since = time.monotonic()
            self.trouble = why or "it does not answer"
            ready, self._calls = self._calls, []
            self.lock.notify_all()
        self._release(ready)

    def _release(self, ready: Iterable[tuple[int, Callable[[], None]]]) -> None:
        for _, call in ready:
            call()

    def _hang_up(self) -> None:
        db, self._db = self._db, None
        self._sent = 0.0
        self._placed = {}
        if db is not None:
            with contextlib.suppress(Exception):
                db.close()

    def _reconnect(self) -> None:
        """A new connection; what was read and may have been lost is compared with what is there."""
        db = connected(self.address)
        self._db = db
        after = self.cursor - len(self._latest)
        there = db.execute(
            "SELECT kind, time, play, value, name FROM tarry.fact "
            "WHERE agent = %s AND seq > %s AND seq <= %s ORDER BY seq",
            (self.agent, after, self.cursor),
        ).fetchall()
        reached = db.execute(
            "SELECT seq, (settings ->> 'file')::bigint FROM tarry.agent WHERE id = %s",
            (self.agent,),
        ).fetchone()
        if reached is None or self.mark not in (None, reached[1]):  # or another has its number
            raise RuntimeError("the agent was deleted")
        known = register(db, self.agent, self.writer)
        if known < self._number - 1:  # a database that has lost what it said was safe
            self._number = known + 1
        if reached[0] < self.cursor or there != list(self._latest):
            self._latest.clear()
            self.cursor = self._lost(db)

    def _work_off(self, db: Any) -> None:
        while self._jobs and not self._over:
            self._sent = time.monotonic()
            self._jobs[0](db)
            self._sent = 0.0
            with self.lock:
                self._jobs.popleft()
                self.lock.notify_all()

    def _watch(self) -> None:
        """Notice a database that neither answers nor fails."""
        while not self._over:
            time.sleep(BOUND / 8)
            sent, waited_for = self._sent, self._batch or self._waiting
            if sent and waited_for and not self.trouble and time.monotonic() - sent > BOUND:
                self._failed(f"no answer for {BOUND:g} s")


def register(db: Any, agent: int, writer: int) -> int:
    """See to it that this process is known; the number of its latest batch."""
    db.execute(
        "INSERT INTO tarry.writer (id, agent, host, pid) VALUES (%s, %s, %s, %s) "
        "ON CONFLICT (id) DO UPDATE SET seen = now()",
        (writer, agent, socket.gethostname(), os.getpid()),
    )
    row = db.execute("SELECT batch FROM tarry.writer WHERE id = %s", (writer,)).fetchone()
    return int(row[0])


def _columns(rows: Iterable[Row]) -> tuple[Any, ...]:
    """Facts as arrays in the database's own notation."""
    facts = list(rows)
    if not facts:
        return (None,) * 5
    kinds, times, plays, values, names = zip(*facts, strict=True)
    numbers = [_array(column) for column in (kinds, times, plays, values)]
    return *numbers, list(names) if any(names) else None


def _array(numbers: Iterable[int | None]) -> str:
    return "{" + ",".join(["NULL" if x is None else str(x) for x in numbers]) + "}"
