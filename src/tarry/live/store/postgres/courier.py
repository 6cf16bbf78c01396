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
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from tarry.live.facts import TIME, Row
from tarry.live.store.postgres.line import Line, Taken
from tarry.live.store.postgres.link import abandon, connected, reason
from tarry.live.store.postgres.schema import TURN
from tarry.live.store.postgres.writers import register, stay

LONGEST_PAUSE = 0.1  # seconds between two batches of those that have piled up
READ = 5000  # facts that are read at once
BOUND = 1.0  # seconds without an answer after which the database counts as away
AGAIN = (0.05, 1.0)  # seconds until the next attempt, the first time and at most
FLUSH = 1.0  # seconds after which what was read of others is made safe by this process as well
HEARTBEAT = 10.0  # seconds
LONGEST_TURN = 0.01  # seconds, of those that count for how long more facts are waited for
COMPARED = 64  # facts with which a database is recognised after it was away
LAST_TURN = 0.5  # seconds that who closes waits at least for the thread to end

Lost = Callable[[Any], int]  # with a connection: begin anew; the number of the latest fact known


class Courier:
    """The thread, its connection, and how far it has read; facts come from `line` and go there."""

    def __init__(self, line: Line, address: str, agent: int, writer: int, *, safe: bool) -> None:
        self.line = line
        self.address, self.agent, self.writer = address, agent, writer
        self.safe = safe
        self.snapshot = 0  # the fact after which the latest one was made, by anybody
        self.cursor = 0  # the latest fact that was read
        self.look: Callable[[Any], None] = lambda db: None  # what is done now and then
        self.mark: int | None = None  # which this agent has, and no other one with its number
        self._placed: dict[int, int] = {}  # own facts that were not read yet, by number in the log
        self._latest: deque[Row] = deque()  # the latest facts that were read: all that may be lost
        self._unsure = False  # whether some of them may not be on the disk
        self._flushed = 0.0
        self._took = 0.0  # seconds of the latest turn
        self._alive = 0.0  # when the database last heard that this process is there
        self._sent = 0.0  # when something was sent that is not answered yet
        self._db: Any = None
        self._lost: Lost = lambda db: 0
        self._threads: list[threading.Thread] = []

    def begin(self, take: Taken, lost: Lost, db: Any = None) -> None:
        """Start to work; `take` is handed facts, `lost` is called when all is to be read anew."""
        self.line.begin(take)
        self._lost, self._db = lost, db
        self._threads = [
            threading.Thread(target=self._work, name="tarry-line", daemon=True),
            threading.Thread(target=self._watch, name="tarry-watch", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def is_at_work(self) -> bool:
        """Whether the thread is there; in a child of a fork it is not."""
        return any(thread.is_alive() for thread in self._threads)

    def stop(self, patience: float = 5.0) -> int:
        """Send what waits, and end; how many facts were not written."""
        line = self.line
        if self.is_at_work() and threading.current_thread() not in self._threads:
            line.finish(patience)
        line.end()
        for thread in self._threads[:1]:
            if thread is not threading.current_thread():
                thread.join(LAST_TURN if line.trouble else patience)
        if self._db is not None:
            with contextlib.suppress(Exception):
                self._db.close()
        left = sum(fact[0] != TIME for _, fact in line.unsent)
        line.dropped += left
        return left

    def successor(self, writer: int, cursor: int) -> "Courier":
        """In a child of a fork: one that goes on for that process, which has read up to the cursor.

        The connection, and what waits, are left to the parent.
        """
        if self._db is not None:
            abandon(self._db)
        new = Courier(self.line.successor(), self.address, self.agent, writer, safe=self.safe)
        new.cursor, new.snapshot, new.mark = cursor, self.snapshot, self.mark
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
        line, pause = self.line, AGAIN[0]
        while not line.over:
            line.await_something(self._took)
            begun = time.monotonic()
            try:
                self._sent = begun
                if self._db is None:
                    self._reconnect()
                self._exchange(self._db)
                self._work_off(self._db)
                pause = AGAIN[0]
                if line.unhurried and not line.hurry:  # others have to read, and fold, all of that
                    self._pause(min(time.monotonic() - begun, LONGEST_PAUSE))
            except Exception as error:  # noqa: BLE001  # whatever it is, it is tried again
                line.failed(reason(error))
                self._hang_up()
                self._pause(pause * (0.5 + random.random()))
                pause = min(2 * pause, AGAIN[1])
        self._hang_up()

    def _pause(self, seconds: float) -> None:
        """Before the next attempt; a short one if somebody waits to close."""
        line = self.line
        time.sleep(min(seconds, AGAIN[0]))
        with line.lock:
            line.lock.wait_for(lambda: line.hurry or line.over, seconds - AGAIN[0])

    def _exchange(self, db: Any) -> None:
        """One turn, or as many as it takes until nothing is left to read."""
        more = True
        while more and not self.line.over:
            batch = self.line.batch
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
            stay(db, self.writer)
            self._alive = time.monotonic()
            self.look(db)
            self._sent = 0.0

    def _turn(
        self, db: Any, batch: list[tuple[int, Row]], *, flush: bool
    ) -> tuple[list[Row], dict[int, int]]:
        """What was appended after the cursor, and where this batch is in the log."""
        line = self.line
        kinds, times, plays, values, names = _columns(row for _, row in batch)
        given = None if line.given is None else line.given()
        begun = line.local()
        told = (self.agent, self.writer, line.number, kinds, times, plays, values, names)
        answer = db.execute(TURN, (*told, self.cursor, READ, flush, given), prepare=True).fetchone()
        line.hear_time(begun, answer[0])
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
            self._read_anew(db)
            return [], own
        return list(
            zip(kinds, times, plays, values, names or [None] * len(kinds), strict=True)
        ), own

    def _read_anew(self, db: Any) -> None:
        """What was read is not, or no longer, what the log begins with."""
        self._latest.clear()
        self.cursor = self._lost(db)

    def _hand_over(self, facts: list[Row]) -> None:
        """All that was read: to the agent, and then to those who wait for their own facts."""
        first = self.cursor
        end = first + len(facts)
        here = [place for place in self._placed if place <= end]
        own = {place - first - 1: self._placed[place] for place in here}
        self.line.hand_over(facts, own)
        self.cursor = end
        self._latest.extend(facts)
        self._unsure = self._unsure or bool(facts)
        for place in here:
            del self._placed[place]
        self.line.arrived(own.values(), in_full=not self._placed)

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
        if known < self.line.number - 1:  # a database that has lost what it said was safe
            self.line.number = known + 1
        if reached[0] < self.cursor or there != list(self._latest):
            self._read_anew(db)

    def _work_off(self, db: Any) -> None:
        while (job := self.line.next_job()) is not None:
            self._sent = time.monotonic()
            job(db)
            self._sent = 0.0
            self.line.job_done()

    def _watch(self) -> None:
        """Notice a database that neither answers nor fails."""
        line = self.line
        while not line.over:
            time.sleep(BOUND / 8)
            sent, waited_for = self._sent, line.is_waited_for()
            if sent and waited_for and not line.trouble and time.monotonic() - sent > BOUND:
                line.failed(f"no answer for {BOUND:g} s")


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
