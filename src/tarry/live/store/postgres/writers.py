"""The processes that have an agent open in a database: their numbers, and which of them are there.

A process is a row of `tarry.writer`, which also says which batch of its facts was the latest.
"""

import os
import secrets
import socket
from typing import Any

from tarry.live.ids import STEP


def any_writer() -> int:
    """A number that hardly any process has; with a count of plays, an id has 62 bits."""
    return STEP * (secrets.randbelow(2**30 // STEP - 1) + 1)


def new_writer(db: Any, agent: int) -> int:
    """The number of a process that no other one has, not even of another agent."""
    while True:
        writer = any_writer()
        if db.execute("SELECT 1 FROM tarry.writer WHERE id = %s", (writer,)).fetchone() is None:
            register(db, agent, writer)
            return writer


def register(db: Any, agent: int, writer: int) -> int:
    """See to it that this process is known; the number of its latest batch."""
    db.execute(
        "INSERT INTO tarry.writer (id, agent, host, pid) VALUES (%s, %s, %s, %s) "
        "ON CONFLICT (id) DO UPDATE SET seen = now()",
        (writer, agent, socket.gethostname(), os.getpid()),
    )
    row = db.execute("SELECT batch FROM tarry.writer WHERE id = %s", (writer,)).fetchone()
    return int(row[0])


def stay(db: Any, writer: int) -> None:
    """This process is still there."""
    db.execute("UPDATE tarry.writer SET seen = now() WHERE id = %s", (writer,))


def leave(db: Any, writer: int) -> None:
    """This process has the agent open no longer."""
    db.execute("UPDATE tarry.writer SET closed = true WHERE id = %s", (writer,))


def are_others_there(db: Any, agent: int, writer: int) -> bool:
    """Whether other processes have the agent open."""
    row = db.execute(
        "SELECT 1 FROM tarry.writer WHERE agent = %s AND id <> %s AND NOT closed "
        "AND seen > now() - interval '60 seconds' LIMIT 1",
        (agent, writer),
    ).fetchone()
    return row is not None


def is_writer_of(db: Any, agent: int, writer: int) -> bool:
    """Whether this is, or was, a process of the agent."""
    row = db.execute(
        "SELECT 1 FROM tarry.writer WHERE id = %s AND agent = %s", (writer, agent)
    ).fetchone()
    return row is not None


def forget_long_gone(db: Any, agent: int, writer: int) -> None:
    """Delete processes of the agent that were not heard of for long, but never this one."""
    db.execute(
        "DELETE FROM tarry.writer WHERE agent = %s AND seen < now() - interval '30 days' "
        "AND id <> %s",
        (agent, writer),
    )
