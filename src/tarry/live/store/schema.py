"""The tables of a journal, and how they are read; every row carries a checksum.

    settings     what the agent was made with, as JSON
    facts        one row each, numbered from 1 without a gap
    snapshots    evidence after fact number `seq`, compressed, in parts
    history      plays that ended long ago, in chunks, compressed

A journal may come from anybody: nothing in it is run, and nothing is made larger than it says in
advance.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tarry.errors import JournalError
from tarry.live.facts import Fact, Row
from tarry.live.history import Chunk
from tarry.live.store.tail import Snapshot

APPLICATION = 0x74617272  # "tarr", in the header of the file
FORMAT = 3  # of an agent with a lease; of others 2, which former versions open as well
PLAIN = 2
LARGEST = 2**28  # bytes of one snapshot or chunk, unpacked: some millions of plays
MAGIC = b"SQLite format 3\x00"

TABLES = {
    "settings": "CREATE TABLE settings (body TEXT NOT NULL, crc INTEGER NOT NULL)",
    "facts": "CREATE TABLE facts (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, "
    "time INTEGER NOT NULL, play INTEGER, value INTEGER, name TEXT, crc INTEGER NOT NULL)",
    "snapshots": "CREATE TABLE snapshots (id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, "
    "part INTEGER NOT NULL, parts INTEGER NOT NULL, body BLOB NOT NULL, crc INTEGER NOT NULL)",
    "history": "CREATE TABLE history (first INTEGER PRIMARY KEY, body BLOB NOT NULL, "
    "crc INTEGER NOT NULL)",
}
ADD_FACT = "INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?, ?)"
AT_ONCE = (64, 16, 4)  # facts in one statement
ADD_FACTS = {size: ADD_FACT + ", (?, ?, ?, ?, ?, ?, ?)" * (size - 1) for size in AT_ONCE}


class Part(NamedTuple):
    """A part of a compressed snapshot."""

    seq: int
    part: int
    parts: int
    body: bytes


def damaged(path: Path, why: str) -> JournalError:
    """What to say of a file that cannot be trusted."""
    return JournalError(
        f"The journal {path} is damaged: {why}; tarry.live.recover(path, new_path) saves the good "
        f"part."
    )


def connect(path: Path) -> sqlite3.Connection:
    """A connection without transactions of its own, usable from all threads, that runs nothing."""
    db = sqlite3.connect(path, isolation_level=None, timeout=5, check_same_thread=False)
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA cell_size_check = ON")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
    return db


def check_head(head: bytes, path: Path) -> int:
    """The format of a journal by its first bytes, 0 for an empty file; refuses what is not ours."""
    if not head:
        return 0
    if not head.startswith(MAGIC) or len(head) < 100:
        raise JournalError(
            f"The file {path} is no journal of tarry, or its beginning is lost; give another path."
        )
    application = int.from_bytes(head[68:72], "big")
    version = int.from_bytes(head[60:64], "big")
    if application != APPLICATION:
        raise JournalError(f"The file {path} is a database of something else; give another path.")
    if not 1 <= version <= FORMAT:
        raise JournalError(
            f"The journal {path} has format {version}, and this version of tarry knows 1 to "
            f"{FORMAT}; use a newer version."
        )
    return version


def check_tables(db: sqlite3.Connection, path: Path, expected: dict[str, str]) -> None:
    """Refuse a file with other tables than ours, or with anything besides, before it is used."""
    found = dict(db.execute("SELECT name, sql FROM sqlite_master").fetchall())
    if {name: _plain(sql) for name, sql in found.items()} != {
        name: _plain(sql) for name, sql in expected.items()
    }:
        raise damaged(path, f"it holds {', '.join(sorted(map(str, found))) or 'no tables'}")
    verdict = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise damaged(path, " ".join(str(verdict).replace("*", "").split()))


def create(db: sqlite3.Connection, settings: dict[str, Any]) -> None:
    """Make the tables of a new journal."""
    for statement in TABLES.values():
        db.execute(statement)
    write_settings(db, settings)
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {FORMAT if 'lease' in settings else PLAIN}")


def write_settings(db: sqlite3.Connection, settings: dict[str, Any]) -> None:
    """These instead of those that are there."""
    body = json.dumps(settings)
    db.execute("DELETE FROM settings")
    db.execute("INSERT INTO settings VALUES (?, ?)", (body, zlib.crc32(body.encode())))


def read_settings(db: sqlite3.Connection, path: Path) -> dict[str, Any]:
    """What the agent was made with."""
    row = db.execute("SELECT body, crc FROM settings").fetchone()
    settings = None if row is None else good_settings(*row)
    if settings is None:
        raise damaged(path, "its settings are unreadable")
    return settings


def good_settings(body: Any, crc: Any) -> dict[str, Any] | None:
    """Settings from their row, None if it cannot be trusted."""
    if not isinstance(body, str) or zlib.crc32(body.encode(errors="replace")) != crc:
        return None
    settings = json.loads(body)
    return settings if isinstance(settings, dict) else None


def fact_crc(seq: int, fact: Fact) -> int:
    """The checksum of a fact."""
    return zlib.crc32(repr((seq, *fact)).encode())


def fact_row(seq: int, fact: Row) -> tuple[Any, ...]:
    """The row of a fact."""
    return (seq, *fact, zlib.crc32(repr((seq, *fact)).encode()))


def write_facts(db: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> None:
    """Add facts, many with one statement: after each, other threads may have their turn first."""
    done = 0
    for size, statement in ADD_FACTS.items():
        while len(rows) - done >= size:
            db.execute(statement, [x for row in rows[done : done + size] for x in row])
            done += size
    db.executemany(ADD_FACT, rows[done:])


def read_facts(db: sqlite3.Connection, after: int, table: str = "facts") -> tuple[list[Fact], str]:
    """The facts that follow number `after`, up to the first that cannot be trusted, and why."""
    facts: list[Fact] = []
    query = (
        f"SELECT seq, kind, time, play, value, name, crc FROM {table} WHERE seq > ? ORDER BY seq"  # noqa: S608  # a name of ours
    )
    expected = after
    try:
        for seq, *fields, crc in db.execute(query, (after,)):
            expected += 1
            fact = Fact(*fields)
            if seq != expected:
                return facts, f"fact {expected} is missing"
            if crc != fact_crc(seq, fact):
                return facts, f"fact {seq} is unreadable"
            facts.append(fact)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        return facts, f"fact {expected + 1} is unreadable ({error})"
    return facts, ""


def split(snapshot: Snapshot, size: int) -> list[Part]:
    """A snapshot in parts of so many bytes."""
    body = zlib.compress(snapshot.body or b"", 1)
    pieces = [body[place : place + size] for place in range(0, len(body), size)]
    return [Part(snapshot.number, k, len(pieces), piece) for k, piece in enumerate(pieces)]


def write_part(part: Part, db: sqlite3.Connection) -> None:
    """Store a part of a snapshot."""
    db.execute("INSERT INTO snapshots VALUES (NULL, ?, ?, ?, ?, ?)", (*part, zlib.crc32(part.body)))


def write_snapshot(snapshot: Snapshot, size: int, after: int, db: sqlite3.Connection) -> None:
    """Store a snapshot as a whole, in the place of any that follows number `after`."""
    discard_after(after, db)
    for part in split(snapshot, size):
        write_part(part, db)


def discard_after(number: int, db: sqlite3.Connection) -> None:
    """Delete snapshots after this one: they were not finished."""
    db.execute("DELETE FROM snapshots WHERE seq > ?", (number,))


def delete_snapshots(before: int, db: sqlite3.Connection) -> None:
    """Delete snapshots before this one."""
    db.execute("DELETE FROM snapshots WHERE seq < ?", (before,))


def delete_facts(last: int, db: sqlite3.Connection) -> None:
    """Delete facts up to this one."""
    db.execute("DELETE FROM facts WHERE seq <= ?", (last,))


def read_snapshots(db: sqlite3.Connection) -> tuple[list[Snapshot], bool]:
    """The snapshots that are whole, oldest first, and whether one of the others is damaged.

    One whose last parts are missing was being written when the process ended, which is no damage.
    """
    rows = db.execute("SELECT seq, part, parts, body, crc FROM snapshots ORDER BY id").fetchall()
    bad = {row[0] for row in rows if zlib.crc32(row[3]) != row[4]}
    parts = [Part(*row[:4]) for row in rows if row[0] not in bad]
    return joined(parts), bool(bad)


def joined(parts: Iterable[Part]) -> list[Snapshot]:
    """The snapshots of which all parts are there, oldest first."""
    by_seq: dict[int, dict[int, Part]] = {}
    for part in parts:
        by_seq.setdefault(part.seq, {})[part.part] = part
    found = []
    for seq, pieces in sorted(by_seq.items()):
        count = next(iter(pieces.values())).parts
        if len(pieces) == count and all(k in pieces for k in range(count)):
            body = b"".join(pieces[k].body for k in range(count))
            found.append(Snapshot(seq, inflated(body)))
    return found


def inflated(body: bytes) -> bytes:
    """Compressed bytes unpacked, if they are not too many; ValueError if they are."""
    tool = zlib.decompressobj()
    try:
        whole = tool.decompress(body, LARGEST)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if tool.unconsumed_tail or not tool.eof:
        raise ValueError("more bytes than anybody wrote")
    return whole


def write_chunk(db: sqlite3.Connection, chunk: Chunk) -> None:
    """Store a chunk of the history."""
    body = zlib.compress(chunk.body, 6)
    db.execute(
        "INSERT OR REPLACE INTO history VALUES (?, ?, ?)", (chunk.first, body, zlib.crc32(body))
    )


def good_chunk(first: int, body: bytes, crc: int) -> Chunk | None:
    """A chunk from its row, None if it cannot be trusted."""
    return Chunk(first, inflated(body)) if zlib.crc32(body) == crc else None


def read_chunks(db: sqlite3.Connection) -> list[Chunk]:
    """The history, the earliest first; what cannot be trusted is left out."""
    rows = db.execute("SELECT first, body, crc FROM history ORDER BY first").fetchall()
    return [chunk for row in rows if (chunk := good_chunk(*row)) is not None]


def _plain(sql: object) -> str:
    return " ".join(str(sql).split())
