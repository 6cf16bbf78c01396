"""Saving the good part of a damaged journal, and copying a good one."""

import secrets
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tarry.errors import InputError, JournalError
from tarry.live.facts import Fact, apply
from tarry.live.history import Chunk, due_chunks
from tarry.live.restore import new_core, take_evidence
from tarry.live.store.carve import carve
from tarry.live.store.fragment import longest_run, without_beginning
from tarry.live.store.lock import read_mark
from tarry.live.store.opening import explained, locked, made, opened
from tarry.live.store.place import check_path, followed
from tarry.live.store.schema import (
    ADD_FACT,
    LARGEST,
    Part,
    connect,
    fact_crc,
    fact_row,
    good_chunk,
    good_settings,
    joined,
    split,
    write_chunk,
    write_part,
    write_settings,
)
from tarry.live.store.tail import Snapshot
from tarry.live.store.wal import wal_path
from tarry.policies import by_name

PIECE = 1 << 18


class Recovered(NamedTuple):
    """What `recover` saved."""

    events: int  # so many facts are in the new file, in effect
    lost: str  # which are not, empty if nothing is lost


def recover(path: str | Path, new_path: str | Path) -> Recovered:
    """Write a new journal with all facts of a damaged one up to the first that is unreadable.

    The damaged file is not touched, and must not be in use. An agent made with `new_path` and the
    old settings goes on from the last good fact; that it can has been tried when this returns.
    """
    source, target = followed(check_path(path)), followed(check_path(new_path))
    if not source.is_file():
        raise JournalError(f"There is no journal {source}; give the path of a damaged one.")
    if target.exists():
        raise InputError(f"The file {target} exists; give a new path, nothing is overwritten.")
    lock = locked(source, make=False)
    try:
        found = salvage(source)
        best, count = _best(found, source)
        mark = read_mark(source)
    finally:
        lock.close()
    _write(target, best, found)
    acknowledged = mark.facts if mark and mark.file == found.settings.get("file") else 0
    last = max([acknowledged, *found.facts, *(s.number for s in found.snapshots)], default=0)
    return Recovered(count, _lost(best, count, last) or _cut_short(source))


@dataclass
class Salvage:
    """What can be read of a journal, each piece with the right checksum."""

    settings: dict[str, Any] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    facts: dict[int, Fact] = field(default_factory=dict)
    chunks: dict[int, Chunk] = field(default_factory=dict)
    snapshots: list[Snapshot] = field(default_factory=list)

    def add(self, number: int, row: list[Any]) -> None:
        """A row, of whichever table it is."""
        if len(row) == 2:
            settings = good_settings(*row)
            if settings and settings.get("revision", 0) >= self.settings.get("revision", 0):
                self.settings = settings
        elif len(row) == 3 and isinstance(row[1], bytes):
            chunk = good_chunk(number, row[1], row[2])
            if chunk is not None:
                self.chunks[number] = chunk
        elif len(row) == 6 and isinstance(row[4], bytes):
            part = Part(*row[1:5])
            if _crc(part.body) == row[5]:
                self.parts.append(part)
        elif len(row) == 7:
            fact = Fact(*row[1:6])
            if fact_crc(number, fact) == row[6]:
                self.facts[number] = fact


def salvage(source: Path) -> Salvage:
    """All that can be read of a journal, in any format."""
    found = Salvage()
    try:
        if source.read_bytes()[60:64] == b"\x00\x00\x00\x01":
            from tarry.live.store.upgrade import salvage_old

            return salvage_old(source)
        for number, row in carve(source, LARGEST):
            found.add(number, row)
        for part in {part.seq for part in found.parts}:
            own = [p for p in found.parts if p.seq == part]
            try:
                found.snapshots += joined(own)
            except ValueError:
                continue
    except (ValueError, TypeError, KeyError) as error:
        raise _nothing(source, str(error)) from error
    if not found.settings:
        raise _nothing(source, "its settings are lost")
    return found


class Best(NamedTuple):
    """The snapshot to begin with, and the facts that follow."""

    snapshot: Snapshot
    facts: list[Fact]


def _best(found: Salvage, source: Path) -> tuple[Best, int]:
    """What holds most, tried out: the facts are folded by a policy that takes all."""
    tried = []
    for snapshot in [Snapshot(0, None), *sorted(found.snapshots, key=lambda s: s.number)]:
        facts, number = [], snapshot.number
        while number + 1 in found.facts:
            number += 1
            facts.append(found.facts[number])
        good = _foldable(found, snapshot, facts)
        if good is not None:
            tried.append((snapshot.number + good, Best(snapshot, facts[:good])))
    if not tried:
        raise _nothing(source, "no snapshot of its evidence can be read")
    count, best = max(tried, key=lambda pair: (pair[0], pair[1].snapshot.number))
    run = longest_run(found.facts)
    if len(run) > count:
        body = without_beginning(found.settings, [found.facts[number] for number in run])
        if body is not None:
            return Best(Snapshot(run[-1], body), []), len(run)
    return best, count


def _lost(best: Best, count: int, last: int) -> str:
    """What is not in the new file."""
    end = best.snapshot.number + len(best.facts)
    if end > count:
        after = f", and those after {end}" if last > end else ""
        return f"facts 1 to {end - count} are unreadable or missing{after}"
    return "" if last <= count else f"facts {count + 1} to {last} are unreadable or missing"


def _cut_short(source: Path) -> str:
    """Whether the file says that it once was longer."""
    head = source.read_bytes()[:32]
    pages, size = int.from_bytes(head[28:32], "big"), int.from_bytes(head[16:18], "big")
    return "the end of the file is missing" if pages * size > source.stat().st_size else ""


def _foldable(found: Salvage, snapshot: Snapshot, facts: list[Fact]) -> int | None:
    """How many of the facts can be folded after this snapshot; None if it cannot be read."""
    try:
        core = new_core(by_name("Uniform")(), found.settings)
        if snapshot.body is not None:
            chunks = [found.chunks[first] for first in sorted(found.chunks)]
            take_evidence(core, snapshot.body, chunks)
    except Exception:  # noqa: BLE001  # whatever a damaged file can bring about
        return None
    for count, fact in enumerate(facts):
        try:
            apply(core, fact)
            for _ in due_chunks(core):
                pass
        except Exception:  # noqa: BLE001  # as above
            return count
    return len(facts)


def _write(target: Path, best: Best, found: Salvage) -> None:
    """Make the new journal, try to open it, and only then let it be there."""
    part = target.with_name(target.name + ".part")
    for piece in (part, wal_path(part)):
        piece.unlink(missing_ok=True)
    settings = renamed(found.settings)
    made(part, settings)
    with explained(part):
        db = connect(part)
        try:
            db.execute("BEGIN IMMEDIATE")
            if best.snapshot.body is not None:
                for piece_of in split(best.snapshot, PIECE):
                    write_part(piece_of, db)
            first = best.snapshot.number + 1
            db.executemany(ADD_FACT, (fact_row(n, f) for n, f in enumerate(best.facts, first)))
            for chunk in found.chunks.values():
                write_chunk(db, chunk)
            db.execute("COMMIT")
        finally:
            db.close()
    tried = opened(part, dict, full=True)
    tried.db.close()
    tried.second.close()
    part.replace(target)
    tried.lock.close()


def copied(source: sqlite3.Connection, path: Path, target: Path) -> None:
    """A copy of an open journal, under a name of its own."""
    target = followed(target)
    if target.exists():
        raise InputError(f"The file {target} exists; give a new path, nothing is overwritten.")
    part = target.with_name(target.name + ".part")
    try:
        part.unlink(missing_ok=True)
        db = connect(part)
        try:
            source.backup(db, pages=256)
            settings = good_settings(*db.execute("SELECT body, crc FROM settings").fetchone())
            db.execute("BEGIN IMMEDIATE")
            write_settings(db, renamed(settings or {}))
            db.execute("COMMIT")
        finally:
            db.close()
        part.replace(target)
    except (sqlite3.Error, OSError) as error:
        raise JournalError(f"The journal {path} cannot be copied to {target} ({error}).") from error


def renamed(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a file of its own: marks of the original say nothing about it."""
    return settings | {"file": secrets.randbits(63)}


def _crc(body: bytes) -> int:
    import zlib

    return zlib.crc32(body)


def _nothing(source: Path, why: str) -> JournalError:
    return JournalError(f"Nothing can be saved from {source} ({why}); start with a new journal.")
