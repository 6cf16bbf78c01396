"""The store in a PostgreSQL database: one agent, any number of processes.

What this process appends is numbered by itself, from 1 on; in the log the facts of all processes
are in one order. See `tarry.live.store.postgres.courier` for how they get there and back.
"""

import contextlib
import logging
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tarry.errors import JournalError, TarryError
from tarry.live.clock import Clock, to_ticks
from tarry.live.facts import Fact, Row
from tarry.live.history import Chunk
from tarry.live.store.postgres import rows, writers
from tarry.live.store.postgres.courier import Courier
from tarry.live.store.postgres.line import Line
from tarry.live.store.postgres.link import (
    bounded,
    cannot_open,
    check_encoding,
    connected,
    reason,
    shown,
)
from tarry.live.store.postgres.schema import VERSION, bring_up_to_date
from tarry.live.store.postgres.tidying import Tidying
from tarry.live.store.protocol import Kept
from tarry.live.store.unwritten import Unwritten

PATIENCE = 5.0  # seconds that somebody who insists waits for a database that is away
SNAPSHOT_EVERY = 20_000  # facts, or an eighth of the plays in the state if that is more
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
        row = rows.read_agent(self._db, self.name)
        if row is None:
            settings, created = fresh(), None if clock is None else to_ticks(clock.utc())
            row = rows.make_agent(self._db, self.name, settings, created)
        self.agent, self.settings, created, newest = row
        self.created = created / 1e6
        self.writer = writers.new_writer(self._db, self.agent)
        self.line = Line()
        self.courier = Courier(self.line, self.address, self.agent, self.writer, safe=safe)
        self.courier.mark = self.settings.get("file")
        if clock is not None:
            self.line.given = lambda: to_ticks(clock.utc()) - created
            self.line.local = clock.monotonic
        self.courier.snapshot = newest
        self.keeper = self.line  # who says to those who wait without a thread that facts are safe
        self._history: int = self.settings.get("history", 0)
        self._seen: list[Row] = []  # since the snapshot, where nobody else folds them
        self._body: bytes | None = None
        self._foreign: list[Fact] = []
        self.tidying = Tidying(self.where)
        self._outdated = False
        self._unwritten = Unwritten(self._history)
        self._stagger = 1.0 + random.random() / 2  # lest all processes make a snapshot at once

    def read_on(self) -> list[Row]:
        """The next facts of the log, before this process begins to send."""
        with bounded(self._db, self.address):
            return self.courier.read_on(self._db)

    def others_alive(self) -> bool:
        """Whether other processes have the agent open."""
        with bounded(self._db, self.address):
            return writers.are_others_there(self._db, self.agent, self.writer)

    def begin(
        self,
        take: Callable[[list[Row], dict[int, int]], None] | None = None,
        lost: Callable[[Any], int] | None = None,
    ) -> None:
        """Start to send and to read; `take` is handed all facts, with what is known of own ones."""
        self.courier.look = self._look_at_policy
        self.courier.begin(take or self._collect, lost or self._forget, self._db)

    def _look_at_policy(self, db: Any) -> None:
        """Say, once, if another policy has taken over while this process was not heard of."""
        policy = rows.read_policy(db, self.agent)
        if policy is None or self._outdated:
            return
        if policy != self.settings["policy"]:
            self._outdated = True
            log.warning(
                "The agent %s is decided on by %s in other processes, which took over while this "
                "one was not heard of, and by %s in this one; start it again.",
                self.where,
                policy,
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
        since = self.courier.cursor - self.courier.snapshot
        wanted = max(SNAPSHOT_EVERY, plays // 8) * self._stagger
        return since >= wanted and not self.tidying.is_busy()

    def take_snapshot(self, body: bytes) -> None:
        """See `Store`; where no agent folds the facts."""
        self.wait(self.appended)
        self._body, self._seen = body, []
        self.write_snapshot(self.courier.cursor, body, [])

    def write_snapshot(self, seq: int, body: bytes, arms: Sequence[str]) -> None:
        """Write evidence after fact number `seq`, and delete what is not needed any more.

        On a connection of its own, so that nobody waits for it.
        """
        packed = zlib.compress(body, 1)
        with connected(self.address) as db:
            with db.transaction():
                rows.write_snapshot(db, self.agent, seq, packed)
                rows.write_arms(db, self.agent, arms)
            rows.delete_superfluous(db, self.agent, self._history)
            writers.forget_long_gone(db, self.agent, self.writer)

    def snapshots(self, db: Any = None) -> list[tuple[int, bytes]]:
        """The snapshots that can be trusted, the newest first."""
        with self._connection(db) as there:
            return rows.read_snapshots(there, self.agent)

    def check_facts_after(self, seq: int, db: Any = None) -> None:
        """Refuse to go on from a fact after which some are missing."""
        with self._connection(db) as there:
            first, last = rows.first_and_last_after(there, self.agent, seq)
        if last > seq and first != seq + 1:
            raise JournalError(
                f"The agent {self.where} is damaged: its newest snapshots are unreadable, and the "
                f"facts before number {first} are deleted; restore the schema tarry from a copy."
            )

    @contextlib.contextmanager
    def _connection(self, db: Any) -> Iterator[Any]:
        """This connection; without one, that of who opens the agent, who does not wait for ever."""
        if db is not None:
            yield db
            return
        with bounded(self._db, self.address):
            yield self._db

    def keep(self, chunk: Chunk) -> None:
        """See `Store`; all processes come to the same chunks, and the first to write one has."""
        if not self._history:
            return

        self._unwritten.add(chunk)

        def write(db: Any) -> None:
            rows.write_chunk(db, self.agent, chunk, self._unwritten.oldest_beside(chunk))
            self._unwritten.written(chunk)

        self.line.do(write)

    def chunks(self) -> list[Chunk]:
        """See `Store`."""

        def read() -> list[Chunk]:
            with connected(self.address) as db:
                return rows.read_chunks(db, self.agent)

        try:
            return self._unwritten.joined(read)
        except Exception as error:
            raise JournalError(
                f"The history of the agent {self.where} cannot be read ({reason(error)}); try "
                f"again when the database is back."
            ) from error

    def change(self, settings: dict[str, Any]) -> None:
        """See `Store`."""
        self.settings = settings
        if self.courier.is_at_work():
            self.line.do(lambda db: rows.write_settings(db, self.agent, settings))
        else:  # others may look at once
            with bounded(self._db, self.address):
                rows.write_settings(self._db, self.agent, settings)

    def knows_writer(self, writer: int) -> bool:
        """Whether this is a process of this agent; if nobody can be asked, it may be."""
        try:
            with connected(self.address) as db:
                return writers.is_writer_of(db, self.agent, writer)
        except Exception:  # noqa: BLE001  # the database is away
            return True

    def backup(self, path: Path) -> None:
        """A database is copied by its own means."""
        raise JournalError(
            f"The agent {self.where} is in a database, so nothing is copied to {path}; copy the "
            f"schema tarry with pg_dump."
        )

    def go_on_as_another(self, cursor: int) -> None:
        """This is a child of a fork: leave the connection to the parent, and be another process."""
        self.writer = writers.any_writer()
        self.courier = self.courier.successor(self.writer, cursor)
        self.line = self.keeper = self.courier.line
        self._db = None
        self.tidying = Tidying(self.where)

    def close(self) -> None:
        """See `Store`."""
        self.tidying.wait(PATIENCE)
        if self.courier.is_at_work():
            self.line.do(self._leave)
        elif self._db is not None:  # an opening that was refused: it is no process of the agent
            with contextlib.suppress(Exception):
                self._leave(self._db)
        say_left(self.where, self.courier.stop(PATIENCE), self.line.trouble)
        if self._db is not None:
            self._db.close()

    def _leave(self, db: Any) -> None:
        writers.leave(db, self.writer)


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
