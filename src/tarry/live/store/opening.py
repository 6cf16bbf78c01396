"""Opening a journal: is it ours, is it whole, is it all there."""

import contextlib
import logging
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tarry.errors import JournalError
from tarry.live.facts import Fact
from tarry.live.store.lock import FileLock, boot_id, read_mark
from tarry.live.store.schema import (
    TABLES,
    check_head,
    check_tables,
    connect,
    create,
    damaged,
    read_chunks,
    read_facts,
    read_settings,
    read_snapshots,
)
from tarry.live.store.tail import Snapshot
from tarry.live.store.wal import look, wal_path

log = logging.getLogger("tarry")


class Opened(NamedTuple):
    """A journal that was found in order."""

    lock: FileLock
    db: sqlite3.Connection
    second: sqlite3.Connection
    settings: dict[str, Any]
    snapshot: Snapshot
    facts: list[Fact]
    before: int  # the number of the snapshot before that one


class explained:  # noqa: N801  # reads as a word after `with`
    """Turns errors of SQLite into one sentence about the journal."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Say it in our words."""
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            raise JournalError(
                f"The journal {self.path} is in use by another program; close it there, or give "
                f"another path."
            ) from error
        if isinstance(error, sqlite3.Error | ValueError | TypeError | KeyError | MemoryError):
            raise damaged(self.path, str(error)) from error


def opened(path: Path, fresh: Callable[[], dict[str, Any]], *, full: bool) -> Opened:
    """Open a journal, or make one with `fresh` settings where there is none or an empty file."""
    lock = locked(path, make=True)
    try:
        version = check_head(lock.head(), path)
        if version == 1:
            from tarry.live.store.upgrade import upgraded

            lock = _replaced(path, lock, lambda part: upgraded(path, part))
        elif version == 0:
            settings = fresh()
            lock = _replaced(path, lock, lambda part: made(part, settings))
        return _read(path, lock, full=full)
    except BaseException:
        lock.close()
        raise


def locked(path: Path, *, make: bool) -> FileLock:
    """The lock of the file at this path, though others may put another one there meanwhile."""
    while True:
        lock = FileLock(path, make=make)
        if lock.is_at(path):
            return lock
        lock.close()


def made(path: Path, settings: dict[str, Any]) -> None:
    """Write a new, complete journal."""
    db = connect(path)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("BEGIN IMMEDIATE")
        create(db, settings)
        db.execute("COMMIT")
    finally:
        db.close()


def _replaced(path: Path, lock: FileLock, make: Callable[[Path], None]) -> FileLock:
    """Put what `make` writes into the place of the file, all at once; the lock of the new file."""
    part = path.with_name(path.name + ".part")
    pieces = part, wal_path(part)
    try:
        for piece in pieces:
            piece.unlink(missing_ok=True)
        make(part)
        new = FileLock(part, make=False)
        part.replace(path)
    except (sqlite3.Error, OSError) as error:
        for piece in pieces:
            with contextlib.suppress(OSError):
                piece.unlink(missing_ok=True)
        raise JournalError(
            f"The journal {path} cannot be made ({error}); see to the disk, or give another path."
        ) from error
    lock.close()
    return new


def _read(path: Path, lock: FileLock, *, full: bool) -> Opened:
    """Check and read a journal of the present format."""
    check_log(path)
    with explained(path):
        db = connect(path)
        try:
            check_tables(db, path, TABLES)
            settings = read_settings(db, path)
            snapshots, facts = _evidence(db, path)
            snapshot = snapshots[-1]
            check_mark(path, snapshot.number + len(facts), settings)
            second = connect(path)
            for each in (db, second):
                each.execute("PRAGMA journal_mode = WAL")
                each.execute(f"PRAGMA synchronous = {'FULL' if full else 'NORMAL'}")
                each.execute("PRAGMA wal_autocheckpoint = 0")
        except BaseException:
            db.close()
            raise
    return Opened(lock, db, second, settings, snapshot, facts, snapshots[-2].number)


def _evidence(db: sqlite3.Connection, path: Path) -> tuple[list[Snapshot], list[Fact]]:
    """At least two snapshots, of nothing where there are none, and the facts after the last."""
    snapshots, bad = read_snapshots(db)
    none = Snapshot(0, None)
    snapshots = [none, none, *snapshots]
    latest = db.execute("SELECT max(seq) FROM snapshots").fetchone()[0] or 0
    if bad and latest > snapshots[-1].number:
        raise damaged(path, "the latest snapshot of its evidence is unreadable")
    facts, stopped = read_facts(db, snapshots[-1].number)
    if stopped:
        raise damaged(path, stopped)
    rows = db.execute("SELECT count(*) FROM history").fetchone()[0]
    if len(read_chunks(db)) != rows:
        raise damaged(path, "a part of its history is unreadable")
    return snapshots, facts


def check_log(path: Path) -> None:
    """Refuse a journal whose log is damaged, before SQLite cuts it short without a word.

    A frame may also be half-written because the process ended right there. Then nothing that was
    acknowledged is lost, and the mark says so.
    """
    found = look(path)
    if not found.damage:
        return
    mark = read_mark(path)
    if mark is None or _facts_in_copy(path) < mark.facts:
        raise damaged(path, found.damage)


def check_mark(path: Path, facts: int, settings: dict[str, Any]) -> None:
    """Refuse a journal that has fewer facts than were acknowledged."""
    mark = read_mark(path)
    if mark is None or mark.file != settings["file"] or facts >= mark.facts:
        return
    missing = mark.facts - facts
    if mark.boot != boot_id() and not mark.full:
        log.warning(
            "The journal %s lost its latest %d facts when the machine went down; "
            "durability='full' would have kept them.",
            path,
            missing,
        )
        return
    raise damaged(
        path,
        f"{missing} of the {mark.facts} facts that were acknowledged are missing, "
        f"by a lost write-ahead log or an older copy of the file",
    )


def _facts_in_copy(path: Path) -> int:
    """How many facts SQLite finds, looked at in a copy."""
    with tempfile.TemporaryDirectory(prefix="tarry-") as folder:
        copy = Path(folder) / "journal"
        copy.write_bytes(path.read_bytes())
        wal_path(copy).write_bytes(wal_path(path).read_bytes())
        try:
            db = connect(copy)
            try:
                snapshots, _ = read_snapshots(db)
                first = snapshots[-1].number if snapshots else 0
                return first + len(read_facts(db, first)[0])
            finally:
                db.close()
        except (sqlite3.Error, ValueError):
            return -1
