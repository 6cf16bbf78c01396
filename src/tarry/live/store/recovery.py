"""Saving the good part of a damaged journal."""

import shutil
import sqlite3
import tempfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

from tarry.errors import InputError, JournalError
from tarry.live.store.sqlite import (
    Event,
    Journal,
    Snapshot,
    connect,
    read_events,
    read_settings,
)


class Recovered(NamedTuple):
    """What `recover` saved."""

    events: int  # all events up to this number are in the new file, in effect
    lost: str  # what stopped it, empty if nothing is lost


def recover(path: str | Path, new_path: str | Path) -> Recovered:
    """Write a new journal with all events of a damaged one up to the first that is unreadable.

    The damaged file is not touched. An agent made with `new_path` and the old settings goes on
    from the last good event.
    """
    source, target = Path(path), Path(new_path)
    if not source.is_file():
        raise JournalError(f"There is no journal {source}; give the path of a damaged one.")
    if target.exists():
        raise InputError(f"The file {target} exists; give a new path, nothing is overwritten.")
    with tempfile.TemporaryDirectory(prefix="tarry-") as folder:
        copy = Path(folder) / "journal"
        shutil.copyfile(source, copy)
        wal = source.with_name(source.name + "-wal")
        if wal.is_file():
            shutil.copyfile(wal, copy.with_name("journal-wal"))
        settings, snapshot, events, lost = _read(copy, source)
    part = target.with_name(target.name + ".part")
    part.unlink(missing_ok=True)
    journal = Journal(part, lambda: settings, "full")
    first = 0
    if snapshot is not None:
        first = journal.appended = snapshot.seq
        journal.take_snapshot(snapshot.body)
    for event in events:
        journal.append(event)
    journal.close()
    part.replace(target)
    return Recovered(first + len(events), lost)


def _read(copy: Path, source: Path) -> tuple[dict[str, Any], Snapshot | None, list[Event], str]:
    """The settings, a snapshot, the events that follow it, and what is lost."""
    db = connect(copy)
    try:
        db.execute("PRAGMA writable_schema = ON")  # else SQLite reads nothing of a file cut short
        settings = read_settings(db, source)
        choices: list[tuple[Snapshot | None, list[Event], str]] = []
        for snapshot in [*_snapshots(db), None]:
            events, lost = read_events(db, snapshot.seq if snapshot else 0)
            choices.append((snapshot, events, lost))
    except sqlite3.DatabaseError as error:
        raise JournalError(
            f"Nothing can be saved from {source} ({error}); start again with a new journal."
        ) from error
    finally:
        db.close()
    best = max(choices, key=lambda c: (c[0].seq if c[0] else 0) + len(c[1]))
    return settings, *best


def _snapshots(db: sqlite3.Connection) -> list[Snapshot]:
    """The snapshots that can be read, oldest first, each on its own so that one may be lost."""
    found = []
    for direction in ("ASC", "DESC"):
        query = f"SELECT seq, body, crc FROM snapshots ORDER BY seq {direction}"  # noqa: S608  # ours
        try:
            for seq, body, crc in db.execute(query):
                if zlib.crc32(body) == crc:
                    found.append(Snapshot(seq, zlib.decompress(body)))
        except sqlite3.DatabaseError:
            continue
    return found
