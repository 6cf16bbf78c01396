"""The journal: every ask and every tell on disk before it is answered.

A SQLite file in write-ahead mode. It holds the settings, the two latest snapshots of the agent's
state, and the events since the older of the two; everything earlier is deleted, so the file stays
small. Every row carries a checksum. The file is locked for as long as the agent lives.

Threads that wait for the disk at the same time share one commit: whoever comes first writes what
all of them have appended.
"""

import json
import os
import sqlite3
import threading
import weakref
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tarry.errors import JournalError

APPLICATION = 0x74617272  # "tarr", in the header of the file
FORMAT = 1
SNAPSHOT_EVERY = 10_000  # events

ASK, TELL, CANCEL, FAIL, ADD, REMOVE, PAUSE, RESUME = range(1, 9)

Durability = Literal["full", "normal"]

_TABLES = """
CREATE TABLE settings (body TEXT NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE events (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, time INTEGER NOT NULL,
                     play INTEGER, value INTEGER, name TEXT, crc INTEGER NOT NULL);
CREATE TABLE snapshots (seq INTEGER PRIMARY KEY, body BLOB NOT NULL, crc INTEGER NOT NULL);
"""


class Event(NamedTuple):
    """One thing that happened, at tick `time`."""

    kind: int
    time: int
    play: int | None = None  # the id of the play; for an ask, the slot of the arm chosen or -1
    value: int | None = None  # the delay that was told, if it was
    name: str | None = None  # of an arm


class Snapshot(NamedTuple):
    """The state after event number `seq`."""

    seq: int
    body: bytes


def row_crc(seq: int, event: Event) -> int:
    """The checksum of an event."""
    return zlib.crc32(repr((seq, *event)).encode())


class Journal:
    """An open journal file; `settings` are those of the file, or `fresh` ones for a new file."""

    def __init__(
        self, path: str | Path, fresh: Callable[[], dict[str, Any]], durability: Durability
    ) -> None:
        self.path = Path(path)
        self._batch: list[tuple[int, Event] | Snapshot] = []
        self._turn = threading.Condition()
        self._busy = False
        self._broken = ""
        self._process = os.getpid()
        self._db = connect(self.path)
        weakref.finalize(self, _let_go, self._db, self._process)
        try:
            with _explained(self.path):
                self._open(fresh, durability)
        except BaseException:
            self._db.close()
            raise

    def _open(self, fresh: Callable[[], dict[str, Any]], durability: Durability) -> None:
        """Lock the file, make its tables if it is new, and read it."""
        db = self._db
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"PRAGMA synchronous = {'FULL' if durability == 'full' else 'NORMAL'}")
        db.execute("BEGIN IMMEDIATE")
        check_ours(db, self.path)
        if not tables(db):
            self._create(fresh())
        db.execute("COMMIT")
        self.settings = read_settings(db, self.path)
        snapshots = read_snapshots(db)
        newest = db.execute("SELECT max(seq) FROM snapshots").fetchone()[0] or 0
        first = snapshots[-1].seq if snapshots else 0
        if first != newest:
            raise damaged(self.path, "the latest snapshot of its state is unreadable")
        self.snapshot = snapshots[-1] if snapshots else None
        self.events, stopped = read_events(db, first)
        if stopped:
            raise damaged(self.path, stopped)
        self.appended = self.durable = first + len(self.events)
        self._snapshot_at = first

    def append(self, event: Event) -> int:
        """Queue an event and return its number, to be given to `flush`."""
        if os.getpid() != self._process:
            raise JournalError(
                f"The journal {self.path} was opened before this process was forked; open an agent "
                f"in each process, with a path of its own."
            )
        with self._turn:
            self.appended += 1
            self._batch.append((self.appended, event))
            return self.appended

    def due(self, size: int) -> bool:
        """Whether it is time for a snapshot of a state with `size` plays in it."""
        return self.appended - self._snapshot_at >= max(SNAPSHOT_EVERY, size // 8)

    def take_snapshot(self, body: bytes) -> None:
        """Queue a snapshot of the state after all events appended so far."""
        with self._turn:
            self._batch.append(Snapshot(self.appended, body))
            self._snapshot_at = self.appended

    def flush(self, seq: int) -> None:
        """Return when event number `seq` is on disk."""
        while True:
            with self._turn:
                while self._busy and self.durable < seq:
                    self._turn.wait()
                if self._broken:
                    raise JournalError(self._broken)
                if self.durable >= seq:
                    return
                self._busy = True
                batch, self._batch = self._batch, []
            done = "the writing was interrupted"
            try:
                self._write(batch)
                done = ""
            except sqlite3.Error as error:
                done = str(error)
            finally:
                self._leave(batch, done)

    def _leave(self, batch: list[tuple[int, Event] | Snapshot], trouble: str) -> None:
        """After an attempt to write: say how far the disk is, or that it cannot go on."""
        with self._turn:
            self._busy = False
            if trouble:
                self._broken = (
                    f"The journal {self.path} can no longer be written ({trouble}); open the agent "
                    f"again when that is put right."
                )
            elif batch:
                last = batch[-1]
                self.durable = last.seq if isinstance(last, Snapshot) else last[0]
            self._turn.notify_all()

    def close(self) -> None:
        """Write what is queued, and let go of the file."""
        try:
            if not self._broken:
                self.flush(self.appended)
                if self._batch:  # a snapshot without an event after it
                    self._write(self._batch)
                    self._batch = []
        finally:
            self._db.close()

    def _write(self, batch: list[tuple[int, Event] | Snapshot]) -> None:
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        try:
            rows = [
                (item[0], *item[1], row_crc(*item))
                for item in batch
                if not isinstance(item, Snapshot)
            ]
            db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            for item in batch:
                if isinstance(item, Snapshot):
                    self._write_snapshot(item)
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    def _write_snapshot(self, item: Snapshot) -> None:
        """Store it, and delete what the snapshot before it made superfluous."""
        before = self._db.execute("SELECT max(seq) FROM snapshots").fetchone()[0] or 0
        body = zlib.compress(item.body, 1)
        self._db.execute(
            "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (item.seq, body, zlib.crc32(body))
        )
        if before < item.seq:
            self._db.execute("DELETE FROM snapshots WHERE seq < ?", (before,))
            self._db.execute("DELETE FROM events WHERE seq <= ?", (before,))

    def _create(self, settings: dict[str, Any]) -> None:
        for statement in _TABLES.split(";")[:-1]:
            self._db.execute(statement)
        body = json.dumps(settings)
        self._db.execute("INSERT INTO settings VALUES (?, ?)", (body, zlib.crc32(body.encode())))
        self._db.execute(f"PRAGMA application_id = {APPLICATION}")
        self._db.execute(f"PRAGMA user_version = {FORMAT}")


def connect(path: Path) -> sqlite3.Connection:
    """A connection without transactions of its own, usable from all threads."""
    with _explained(path):
        return sqlite3.connect(path, isolation_level=None, timeout=0, check_same_thread=False)


def damaged(path: Path, why: str) -> JournalError:
    """What to say of a file that cannot be trusted."""
    return JournalError(
        f"The journal {path} is damaged: {why}; tarry.live.recover(path, new_path) saves the good "
        f"part."
    )


def check_ours(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that is damaged, or of somebody else, or of a later version."""
    verdict = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise damaged(path, " ".join(str(verdict).replace("*", "").split()))
    application = db.execute("PRAGMA application_id").fetchone()[0]
    version = db.execute("PRAGMA user_version").fetchone()[0]
    known = {"settings", "events", "snapshots"}
    if tables(db) and (application != APPLICATION or not known <= tables(db)):
        raise JournalError(f"The file {path} is a database of something else; give another path.")
    if version > FORMAT:
        raise JournalError(
            f"The journal {path} has format {version}, and this version of tarry knows {FORMAT}; "
            f"use a newer version."
        )


def tables(db: sqlite3.Connection) -> set[str]:
    """The names of the tables."""
    rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {row[0] for row in rows}


def read_settings(db: sqlite3.Connection, path: Path) -> dict[str, Any]:
    """What the agent was made with."""
    row = db.execute("SELECT body, crc FROM settings").fetchone()
    if row is None or zlib.crc32(str(row[0]).encode()) != row[1]:
        raise damaged(path, "its settings are unreadable")
    settings: dict[str, Any] = json.loads(row[0])
    return settings


def read_snapshots(db: sqlite3.Connection) -> list[Snapshot]:
    """The snapshots whose checksums are right, oldest first."""
    rows = db.execute("SELECT seq, body, crc FROM snapshots ORDER BY seq")
    return [
        Snapshot(seq, zlib.decompress(body)) for seq, body, crc in rows if zlib.crc32(body) == crc
    ]


def read_events(db: sqlite3.Connection, after: int) -> tuple[list[Event], str]:
    """The events that follow number `after`, up to the first that cannot be trusted, and why."""
    events: list[Event] = []
    query = "SELECT seq, kind, time, play, value, name, crc FROM events WHERE seq > ? ORDER BY seq"
    expected = after
    try:
        for seq, kind, time, play, value, name, crc in db.execute(query, (after,)):
            expected += 1
            event = Event(kind, time, play, value, name)
            if seq != expected:
                return events, f"event {expected} is missing"
            if crc != row_crc(seq, event):
                return events, f"event {seq} is unreadable"
            events.append(event)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        return events, f"event {expected + 1} is unreadable ({error})"
    return events, ""


def _let_go(db: sqlite3.Connection, process: int) -> None:
    """Close the file of a journal that nobody closed, but never that of another process."""
    if os.getpid() == process:
        db.close()


class _explained:  # noqa: N801  # reads as a word after `with`
    """Turns errors of SQLite into one sentence about the journal."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Say it in our words."""
        if not isinstance(error, sqlite3.Error):
            return
        said = str(error)
        if "locked" in said:
            raise JournalError(
                f"The journal {self.path} is in use by another agent or process; close it there, "
                f"or give another path."
            ) from error
        if "not a database" in said:
            raise JournalError(
                f"The file {self.path} is no journal of tarry, or its beginning is lost; give "
                f"another path."
            ) from error
        if isinstance(error, sqlite3.OperationalError) and "unable to open" in said:
            raise JournalError(
                f"The journal {self.path} cannot be opened or made; give a path in a folder that "
                f"exists and can be written."
            ) from error
        raise damaged(self.path, said) from error
