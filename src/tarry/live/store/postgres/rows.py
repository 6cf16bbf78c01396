"""An agent as rows in a PostgreSQL database: its settings, arms, snapshots and history.

Facts get there and back by `tarry.turn`: see `tarry.live.store.postgres.courier`.
"""

import json
import time
import zlib
from collections.abc import Sequence
from typing import Any

from tarry.live.history import Chunk
from tarry.live.store.postgres.schema import NEWEST
from tarry.live.store.schema import inflated

ROWS = 5_000  # facts that are deleted at once


def read_agent(db: Any, name: str) -> Any:
    """The agent of this name: its number, settings, when it was made, its newest snapshot."""
    return db.execute(
        "SELECT id, settings, created, snapshot FROM tarry.agent WHERE name = %s", (name,)
    ).fetchone()


def make_agent(db: Any, name: str, settings: dict[str, Any], created: int | None) -> Any:
    """The agent of this name, which is made now, unless another process was quicker."""
    db.execute(
        "INSERT INTO tarry.agent (name, settings, created) VALUES (%s, %s, "
        "coalesce(%s, tarry.clock(0))) ON CONFLICT DO NOTHING",
        (name, json.dumps(settings), created),
    )
    row = read_agent(db, name)
    write_arms(db, row[0], row[1]["arms"])
    return row


def read_policy(db: Any, agent: int) -> str | None:
    """By what the agent is decided on; None if there is no such agent any more."""
    row = db.execute(
        "SELECT settings ->> 'policy' FROM tarry.agent WHERE id = %s", (agent,)
    ).fetchone()
    return None if row is None else row[0]


def write_settings(db: Any, agent: int, settings: dict[str, Any]) -> None:
    """From now on these are the settings."""
    db.execute("UPDATE tarry.agent SET settings = %s WHERE id = %s", (json.dumps(settings), agent))


def write_arms(db: Any, agent: int, names: Sequence[str]) -> None:
    """Write down the names of the arms, by slot, for those who look at the facts."""
    db.execute(
        "INSERT INTO tarry.arm SELECT %s, slot - 1, name FROM unnest(%s::text[]) "
        "WITH ORDINALITY AS arms(name, slot) ON CONFLICT DO NOTHING",
        (agent, list(names)),
    )


def write_snapshot(db: Any, agent: int, seq: int, packed: bytes) -> None:
    """Write evidence after fact number `seq`, compressed."""
    # Only after facts that are there: they are on the disk before it is.
    db.execute(
        "INSERT INTO tarry.snapshot VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
        (agent, seq, zlib.crc32(packed), packed),
    )
    db.execute(
        "UPDATE tarry.agent SET snapshot = greatest(snapshot, %s) WHERE id = %s", (seq, agent)
    )


def read_snapshots(db: Any, agent: int) -> list[tuple[int, bytes]]:
    """The snapshots that can be trusted, the newest first."""
    rows = db.execute(
        "SELECT seq, crc, body FROM tarry.snapshot WHERE agent = %s ORDER BY seq DESC LIMIT %s",
        (agent, NEWEST),
    ).fetchall()
    return [(seq, inflated(body)) for seq, crc, body in rows if zlib.crc32(body) == crc]


def first_and_last_after(db: Any, agent: int, seq: int) -> tuple[int | None, int]:
    """The first fact after number `seq` that is there, and the latest that there ever was."""
    first, last = db.execute(
        "SELECT (SELECT min(seq) FROM tarry.fact WHERE agent = id AND seq > %s), seq "
        "FROM tarry.agent WHERE id = %s",
        (seq, agent),
    ).fetchone()
    return first, last


def delete_superfluous(db: Any, agent: int, history: int) -> None:
    """Keep two snapshots, the facts after the older one, and those of the latest plays."""
    kept = db.execute(
        "SELECT seq FROM tarry.snapshot WHERE agent = %s ORDER BY seq DESC LIMIT 2", (agent,)
    ).fetchall()
    db.execute("DELETE FROM tarry.snapshot WHERE agent = %s AND seq < %s", (agent, kept[-1][0]))
    last = min(kept[-1][0], kept[0][0] - 2 * history)
    while True:
        gone = db.execute(
            "DELETE FROM tarry.fact WHERE agent = %(agent)s AND seq <= %(last)s AND seq < "
            "(SELECT min(seq) FROM tarry.fact WHERE agent = %(agent)s) + %(rows)s",
            {"agent": agent, "last": last, "rows": ROWS},
        ).rowcount
        if gone < ROWS:
            break
        time.sleep(0.01)  # others want the disk as well


def write_chunk(db: Any, agent: int, chunk: Chunk, oldest: int) -> None:
    """Write plays of the history, unless another process has, and delete those before `oldest`."""
    body = zlib.compress(chunk.body, 6)
    db.execute(
        "INSERT INTO tarry.history SELECT %s, %s, %s, %s WHERE NOT EXISTS "
        "(SELECT 1 FROM tarry.history WHERE agent = %s AND first = %s) "
        "ON CONFLICT DO NOTHING",
        (agent, chunk.first, zlib.crc32(body), body, agent, chunk.first),
    )
    db.execute("DELETE FROM tarry.history WHERE agent = %s AND first < %s", (agent, oldest))


def read_chunks(db: Any, agent: int) -> list[Chunk]:
    """The chunks of the history that can be trusted."""
    rows = db.execute(
        "SELECT first, crc, body FROM tarry.history WHERE agent = %s ORDER BY first", (agent,)
    ).fetchall()
    return [Chunk(first, inflated(body)) for first, crc, body in rows if zlib.crc32(body) == crc]
