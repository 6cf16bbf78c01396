"""The store in a PostgreSQL database: one agent, any number of processes.

What this process appends is numbered by itself, from 1 on; in the log the facts of all processes
are in one order. See `tarry.live.store.postgres.line` for how they get there and back.
"""

import contextlib
import json
import logging
import random
import secrets
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tarry.errors import JournalError, TarryError
from tarry.live.clock import Clock, to_ticks
from tarry.live.facts import Fact, Row
from tarry.live.history import CHUNK, Chunk
from tarry.live.ids import STEP
from tarry.live.store.postgres.line import Line, register
from tarry.live.store.postgres.link import (
    bounded,
    cannot_open,
    check_encoding,
    connected,
    reason,
    shown,
)
from tarry.live.store.postgres.schema import NEWEST, VERSION, bring_up_to_date
from tarry.live.store.protocol import Kept
from tarry.live.store.schema import inflated

PATIENCE = 5.0  # seconds that somebody who insists waits for a database that is away
SNAPSHOT_EVERY = 20_000  # facts, or an eighth of the plays in the state if that is more
ROWS = 5_000  # facts that are deleted at once
log = logging.getLogger("tarry")


class PostgresStore:
    """An open agent; `settings` are those of the database, or `fresh` ones for a new agent."""

    def __init__(
        self,
        address: str,
        name: str,
        fresh: Callable[[], dict[str, Any]],
        *,
        safe: bool = True,
        clock: Clock | None = None,
    ) -> None:
        """`clock` is looked at in the place of the database's, for tests."""
        self.address, self.name = address, name
        self.where = f"{name!r} in {shown(address)}"
        self._db: Any = None
        try:
            self._db = connected(address)
            with bounded(self._db, address):
                check_encoding(self._db, address)
                check_version(bring_up_to_date(self._db), address)
                self._open(fresh, clock, safe=safe)
        except BaseException as error:
            if self._db is not None:
                self._db.close()
            if isinstance(error, TarryError) or not isinstance(error, Exception):
                raise
            raise cannot_open(address, reason(error)) from error

    def _open(
        self, fresh: Callable[[], dict[str, Any]], clock: Clock | None, *, safe: bool
    ) -> None:
        query = "SELECT id, settings, created, snapshot FROM tarry.agent WHERE name = %s"
        row = self._db.execute(query, (self.name,)).fetchone()
        if row is None:
            settings = fresh()
            self._db.execute(
                "INSERT INTO tarry.agent (name, settings, created) VALUES (%s, %s, "
                "coalesce(%s, tarry.clock(0))) ON CONFLICT DO NOTHING",
                (self.name, json.dumps(settings), None if clock is None else to_ticks(clock.utc())),
            )
            row = self._db.execute(query, (self.name,)).fetchone()
            write_arms(self._db, row[0], row[1]["arms"])
        self.agent, self.settings, created, newest = row
        self.created = created / 1e6
        self.writer = new_writer(self._db, self.agent)
        self.line = Line(self.address, self.agent, self.writer, safe=safe)
        self.line.mark = self.settings.get("file")
        if clock is not None:
            self.line.given = lambda: to_ticks(clock.utc()) - created
            self.line.local = clock.monotonic
        self.line.snapshot = newest
        self.keeper = self.line  # who says to those who wait without a thread that facts are safe
        self._history: int = self.settings.get("history", 0)
        self._seen: list[Row] = []  # since the snapshot, where nobody else folds them
        self._body: bytes | None = None
        self._foreign: list[Fact] = []
        self._tidying: threading.Thread | None = None
        self._outdated = False
        self._unwritten: dict[int, Chunk] = {}
        self._stagger = 1.0 + random.random() / 2  # lest all processes make a snapshot at once

    def read_on(self) -> list[Row]:
        """The next facts of the log, before this process begins to send."""
        with bounded(self._db, self.address):
            return self.line.read_on(self._db)

    def others_alive(self) -> bool:
        """Whether other processes have the agent open."""
        query = (
            "SELECT 1 FROM tarry.writer WHERE agent = %s AND id <> %s AND NOT closed "
            "AND seen > now() - interval '60 seconds' LIMIT 1"
        )
        return bool(self._found(None, query, self.agent, self.writer))

    def _found(self, db: Any, query: str, *values: Any) -> list[Any]:
        """Rows of the database; without a connection, for who opens the agent."""
        if db is not None:
            return list(db.execute(query, values).fetchall())
        with bounded(self._db, self.address):
            return list(self._db.execute(query, values).fetchall())

    def begin(
        self,
        take: Callable[[list[Row], dict[int, int]], None] | None = None,
        lost: Callable[[Any], int] | None = None,
    ) -> None:
        """Start to send and to read; `take` is handed all facts, with what is known of own ones."""
        self.line.look = self._look_at_policy
        self.line.begin(take or self._collect, lost or self._forget, self._db)

    def _look_at_policy(self, db: Any) -> None:
        """Say, once, if another policy has taken over while this process was not heard of."""
        query = "SELECT settings ->> 'policy' FROM tarry.agent WHERE id = %s"
        row = db.execute(query, (self.agent,)).fetchone()
        if row is not None and row[0] != self.settings["policy"] and not self._outdated:
            self._outdated = True
            log.warning(
                "The agent %s is decided on by %s in other processes, which took over while this "
                "one was not heard of, and by %s in this one; start it again.",
                self.where,
                row[0],
                self.settings["policy"],
            )

    @property
    def trouble(self) -> str:
        """See `Store`."""
        return self.line.trouble

    @property
    def failures(self) -> int:
        """See `Store`."""
        return self.line.failures

    @property
    def dropped(self) -> int:
        """See `Store`."""
        return self.line.dropped

    @property
    def appended(self) -> int:
        """See `Store`; by this process."""
        return self.line.appended

    @property
    def durable(self) -> int:
        """See `Store`."""
        return self.line.durable

    def append(self, fact: Row) -> int:
        """See `Store`."""
        return self.line.append(fact)

    def wait(self, number: int) -> None:
        """See `Store`; a database that is away is waited for."""
        if not self.line.wait(number, PATIENCE, through_trouble=True):
            raise self.cannot_write()

    def cannot_write(self) -> JournalError:
        """What to say of facts that cannot be made safe."""
        why = self.trouble or f"no answer for {PATIENCE:g} s"
        return JournalError(
            f"The agent {self.where} cannot be written ({why}); it is tried again all the time."
        )

    def is_busy(self) -> bool:
        """See `Store`; whoever comes in between may wait as well."""
        return False

    def kept(self) -> Kept:
        """See `Store`; where no agent folds the facts."""
        own = [Fact._make(row) for _, row in self.line.unsent]
        return Kept(self._body, [*map(Fact._make, self._seen), *own])

    def others(self) -> Sequence[Fact]:
        """See `Store`; where no agent folds the facts."""
        found, self._foreign = self._foreign, []
        return found

    def _collect(self, facts: list[Row], own: dict[int, int]) -> None:
        self._seen += facts
        self._foreign += [Fact._make(row) for k, row in enumerate(facts) if k not in own]

    def _forget(self, db: Any) -> int:
        self._seen, self._body = [], None
        return 0

    def snapshot_due(self, plays: int) -> bool:
        """See `Store`; processes take turns by chance."""
        since = self.line.cursor - self.line.snapshot
        wanted = max(SNAPSHOT_EVERY, plays // 8) * self._stagger
        return since >= wanted and self._tidying is None

    def take_snapshot(self, body: bytes) -> None:
        """See `Store`; where no agent folds the facts."""
        self.wait(self.appended)
        self._body, self._seen = body, []
        self.write_snapshot(self.line.cursor, body, [])

    def write_snapshot(self, seq: int, body: bytes, arms: Sequence[str]) -> None:
        """Write evidence after fact number `seq`, and delete what is not needed any more.

        On a connection of its own, so that nobody waits for it.
        """
        packed = zlib.compress(body, 1)
        with connected(self.address) as db:
            with db.transaction():
                # Only after facts that are there: they are on the disk before it is.
                db.execute(
                    "INSERT INTO tarry.snapshot VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
                    (self.agent, seq, zlib.crc32(packed), packed),
                )
                db.execute(
                    "UPDATE tarry.agent SET snapshot = greatest(snapshot, %s) WHERE id = %s",
                    (seq, self.agent),
                )
                write_arms(db, self.agent, arms)
            self._delete_old(db)

    def _delete_old(self, db: Any) -> None:
        """Keep two snapshots, the facts after the older one, and those of the latest plays."""
        kept = db.execute(
            "SELECT seq FROM tarry.snapshot WHERE agent = %s ORDER BY seq DESC LIMIT 2",
            (self.agent,),
        ).fetchall()
        db.execute(
            "DELETE FROM tarry.snapshot WHERE agent = %s AND seq < %s", (self.agent, kept[-1][0])
        )
        last = min(kept[-1][0], kept[0][0] - 2 * self._history)
        while True:
            gone = db.execute(
                "DELETE FROM tarry.fact WHERE agent = %(agent)s AND seq <= %(last)s AND seq < "
                "(SELECT min(seq) FROM tarry.fact WHERE agent = %(agent)s) + %(rows)s",
                {"agent": self.agent, "last": last, "rows": ROWS},
            ).rowcount
            if gone < ROWS:
                break
            time.sleep(0.01)  # others want the disk as well
        db.execute(
            "DELETE FROM tarry.writer WHERE agent = %s AND seen < now() - interval '30 days' "
            "AND id <> %s",
            (self.agent, self.writer),
        )

    def tidy_up(self, work: Callable[[], None]) -> None:
        """Do this behind everybody's back, one thing at a time; what fails is done another day."""

        def run() -> None:
            try:
                work()
            except Exception as error:  # noqa: BLE001  # the database is away, say
                log.info("The agent %s: no snapshot was written (%s).", self.where, reason(error))
            finally:
                self._tidying = None

        if self._tidying is None:
            self._tidying = threading.Thread(target=run, name="tarry-snapshot", daemon=True)
            self._tidying.start()

    def snapshots(self, db: Any = None) -> list[tuple[int, bytes]]:
        """The snapshots that can be trusted, the newest first."""
        query = (
            "SELECT seq, crc, body FROM tarry.snapshot WHERE agent = %s ORDER BY seq DESC LIMIT %s"
        )
        rows = self._found(db, query, self.agent, NEWEST)
        return [(seq, inflated(body)) for seq, crc, body in rows if zlib.crc32(body) == crc]

    def check_facts_after(self, seq: int, db: Any = None) -> None:
        """Refuse to go on from a fact after which some are missing."""
        query = (
            "SELECT (SELECT min(seq) FROM tarry.fact WHERE agent = id AND seq > %s), seq "
            "FROM tarry.agent WHERE id = %s"
        )
        [row] = self._found(db, query, seq, self.agent)
        first, last = row
        if last > seq and first != seq + 1:
            raise JournalError(
                f"The agent {self.where} is damaged: its newest snapshots are unreadable, and the "
                f"facts before number {first} are deleted; restore the schema tarry from a copy."
            )

    def keep(self, chunk: Chunk) -> None:
        """See `Store`; all processes come to the same chunks, and the first to write one has."""
        if not self._history:
            return

        self._unwritten[chunk.first] = chunk

        def write(db: Any) -> None:
            body = zlib.compress(chunk.body, 6)
            db.execute(
                "INSERT INTO tarry.history SELECT %s, %s, %s, %s WHERE NOT EXISTS "
                "(SELECT 1 FROM tarry.history WHERE agent = %s AND first = %s) "
                "ON CONFLICT DO NOTHING",
                (self.agent, chunk.first, zlib.crc32(body), body, self.agent, chunk.first),
            )
            oldest = chunk.first - CHUNK * (-(-self._history // CHUNK) - 1)
            db.execute(
                "DELETE FROM tarry.history WHERE agent = %s AND first < %s", (self.agent, oldest)
            )
            self._unwritten.pop(chunk.first, None)

        self.line.do(write)

    def chunks(self) -> list[Chunk]:
        """See `Store`."""
        try:
            with connected(self.address) as db:
                rows = db.execute(
                    "SELECT first, crc, body FROM tarry.history WHERE agent = %s ORDER BY first",
                    (self.agent,),
                ).fetchall()
        except Exception as error:
            raise JournalError(
                f"The history of the agent {self.where} cannot be read ({reason(error)}); try "
                f"again when the database is back."
            ) from error
        found = {
            row[0]: Chunk(row[0], inflated(row[2])) for row in rows if zlib.crc32(row[2]) == row[1]
        }
        found |= self._unwritten
        return [found[first] for first in sorted(found)]

    def change(self, settings: dict[str, Any]) -> None:
        """See `Store`."""
        self.settings = settings

        def write(db: Any) -> None:
            query = "UPDATE tarry.agent SET settings = %s WHERE id = %s"
            db.execute(query, (json.dumps(settings), self.agent))

        if self.line.is_at_work():
            self.line.do(write)
        else:  # others may look at once
            with bounded(self._db, self.address):
                write(self._db)

    def knows_writer(self, writer: int) -> bool:
        """Whether this is a process of this agent; if nobody can be asked, it may be."""
        try:
            with connected(self.address) as db:
                row = db.execute(
                    "SELECT 1 FROM tarry.writer WHERE id = %s AND agent = %s", (writer, self.agent)
                ).fetchone()
        except Exception:  # noqa: BLE001  # the database is away
            return True
        return row is not None

    def backup(self, path: Path) -> None:
        """A database is copied by its own means."""
        raise JournalError(
            f"The agent {self.where} is in a database, so nothing is copied to {path}; copy the "
            f"schema tarry with pg_dump."
        )

    def go_on_as_another(self, cursor: int) -> None:
        """This is a child of a fork: leave the connection to the parent, and be another process."""
        self.line.abandon()
        self.writer = any_writer()
        self.line = self.keeper = self.line.successor(self.writer, cursor)
        self._db = None
        self._tidying = None

    def close(self) -> None:
        """See `Store`."""
        tidying = self._tidying
        if tidying is not None and tidying is not threading.current_thread():
            tidying.join(PATIENCE)
        if self.line.is_at_work():
            self.line.do(self._leave)
        elif self._db is not None:  # an opening that was refused: it is no process of the agent
            with contextlib.suppress(Exception):
                self._leave(self._db)
        say_left(self.where, self.line.stop(PATIENCE), self.line.trouble)
        if self._db is not None:
            self._db.close()

    def _leave(self, db: Any) -> None:
        """This process has the agent open no longer."""
        db.execute("UPDATE tarry.writer SET closed = true WHERE id = %s", (self.writer,))


def say_left(where: str, facts: int, why: str) -> None:
    """Say what was in memory only, and is lost since the agent is closed."""
    if facts:
        log.warning(
            "The agent %s is closed without its latest %d facts, which could not be written (%s).",
            where,
            facts,
            why or "no answer",
        )


def check_version(found: int, address: str) -> None:
    """Refuse tables that this version does not know."""
    if found > VERSION:
        raise JournalError(
            f"The database {shown(address)} has tables of version {found}, and this version of "
            f"tarry knows 1 to {VERSION}; use a newer version."
        )


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


def write_arms(db: Any, agent: int, names: Sequence[str]) -> None:
    """Write down the names of the arms, by slot, for those who look at the facts."""
    db.execute(
        "INSERT INTO tarry.arm SELECT %s, slot - 1, name FROM unnest(%s::text[]) "
        "WITH ORDINALITY AS arms(name, slot) ON CONFLICT DO NOTHING",
        (agent, list(names)),
    )
