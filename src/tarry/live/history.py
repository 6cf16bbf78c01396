"""The history of an agent: its plays, those that ended in chunks of so many, and all as a log.

A chunk is written once all of its plays are older than D, so that nothing about them can change.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tarry.arrays import IntArray
from tarry.live.core import Core
from tarry.live.features import Features
from tarry.live.lease import Leases
from tarry.live.packed import packed, unpacked
from tarry.live.plays import Status
from tarry.live.register import CANCELLED, CLOSED, NONE, OUT, VANISHED, VOID, Columns
from tarry.live.requests import by_feature

if TYPE_CHECKING:
    from tarry.logs.log import Log

CHUNK = 4096  # plays
KEPT = 1_000_000  # plays of a history, unless the user wants more or fewer


class Chunk(NamedTuple):
    """Plays `first` to `first` + CHUNK - 1, ended, packed."""

    first: int
    body: bytes


def due_chunks(core: Core) -> Iterator[Chunk]:
    """The chunks that have become complete; once one is taken, the core may forget its plays."""
    while core.ended > core.kept + CHUNK:
        first = core.kept + 1
        columns = core.register.columns(first, first + CHUNK)
        texts = core.requests.listed(first, first + CHUNK)
        ended = ended_only(columns, core.requests.column(first, first + CHUNK))._asdict()
        del ended["request"]
        yield Chunk(first, packed({"first": first, "requests": texts}, ended))
        core.kept += CHUNK


class Ended(NamedTuple):
    """What is kept of a play that ended."""

    slot: IntArray
    start: IntArray
    delay: IntArray
    status: IntArray
    request: IntArray  # contexts as texts, "" where there is none


def ended_only(columns: Columns, requests: IntArray) -> Ended:
    """What is kept of plays of a register; one that is out has what was reported, or no delay."""
    unfinished = (columns.status == CANCELLED) | (columns.status == OUT)
    watched = np.where(unfinished, columns.watched, columns.delay)
    return Ended(columns.slot, columns.start, watched, columns.status, requests)


def read_chunk(chunk: Chunk) -> Ended:
    """The plays of a chunk; ValueError if it holds something else."""
    meta, columns = unpacked(chunk.body)
    texts = np.array(meta.get("requests") or [""] * CHUNK, object)
    found = Ended(**{name: columns[name] for name in Ended._fields[:-1]}, request=texts)
    if meta["first"] != chunk.first or any(len(column) != CHUNK for column in found):
        raise ValueError(f"the plays from {chunk.first} on are not there")
    return found


def all_ended(chunks: Sequence[Chunk], core: Core, now: int) -> tuple[int, Ended]:
    """The plays of these chunks and those still in the register, and the number of the first.

    Those that are out are among them, with status OUT; those that have reached D count as closed.
    Chunks that do not join up are left out.
    """
    register = core.register
    here = core.kept + 1, register.last + 1
    rest = ended_only(register.columns(*here), core.requests.column(*here))
    if core.leases is not None:
        _book_silent(rest, core.leases, core.kept + 1, now)
    else:
        overdue = (rest.status == OUT) & (rest.start <= now - core.max_delay)
        rest.status[overdue] = CLOSED
        rest.delay[overdue] = core.max_delay
    parts, first = [rest], core.kept + 1
    for chunk in reversed(chunks):
        if chunk.first > core.kept:  # of another process, which knows more already
            continue
        if chunk.first != first - CHUNK:
            break
        parts.append(read_chunk(chunk))
        first = chunk.first
    parts.reverse()
    return first, Ended(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _book_silent(plays: Ended, leases: Leases, first: int, now: int) -> None:
    """Let plays whose leases have run out by `now` be what they are, though nobody noticed yet."""
    for number in leases.silent(now):
        age = leases.age(number)
        plays.status[number - first] = VOID if age == NONE else VANISHED
        plays.delay[number - first] = NONE if age == NONE else leases.booked(age)


def as_log(
    plays: Ended,
    names: Sequence[str],
    created: float,
    max_delay: int,
    most: int,
    now: int,
    features: Features | None,
    *,
    leased: bool,
) -> "Log":
    """The last `most` plays as a log, in seconds, with where each stands beside it.

    Args:
        plays: The plays. One still out is unfinished at its age: without it, those that take long
            would be missing, and every mean too short.
        names: Of the arms, by slot; an arm that came back is the arm it was.
        created: When the agent was made, UTC, seconds since the epoch.
        max_delay: D in microseconds.
        most: How many.
        now: The time, in microseconds.
        features: Of the requests, if they have any.
        leased: Whether the age of a play that is out is what was reported of it.
    """
    from tarry.logs.log import Log  # needed by those who look back, not by those who ask

    rows = Ended(*(column[-most:] if most else column[:0] for column in plays))
    rows = Ended(*(column[rows.status != VOID] for column in rows))
    out = rows.status == OUT
    age = np.maximum(rows.delay, 0) if leased else now - rows.start
    times = np.where(out, age, rows.delay)
    words = np.array([str(status) for status in Status], object)
    known = tuple(dict.fromkeys(names))
    place = np.array([known.index(name) for name in names], np.int64)
    return Log(
        names=known,
        arms=place[rows.slot],
        times=times / 1e6,
        finished=(~out & (rows.status != CANCELLED)) | (times >= max_delay),
        max_delay=max_delay / 1e6,
        starts=created + rows.start / 1e6,
        context={
            "status": words[rows.status].tolist(),
            **by_feature(features, rows.request.tolist()),
        },
    )
