"""The store in a SQLite file: every fact on disk before it is answered, for one process.

Threads that wait for the disk at the same time share one commit: whoever comes first writes what
all of them have appended. Snapshots and history are written by another thread, in small parts, so
that nobody waits for them (`tarry.live.store.keeper`).

A child of a fork never touches the file: closing it there would delete the parent's log.
"""

import logging
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from tarry.errors import JournalError
from tarry.live.facts import Fact
from tarry.live.history import Chunk
from tarry.live.store.files import Files
from tarry.live.store.keeper import Keeper
from tarry.live.store.letting_go import keep_for_ever, let_go, missing
from tarry.live.store.lock import MarkFile, mark_path
from tarry.live.store.opening import Opened, explained, opened
from tarry.live.store.place import plain_file
from tarry.live.store.protocol import Kept
from tarry.live.store.schema import (
    ADD_FACT,
    delete_facts,
    delete_snapshots,
    discard_after,
    fact_row,
    read_chunks,
    split,
    write_chunk,
    write_facts,
    write_part,
    write_settings,
    write_snapshot,
)
from tarry.live.store.tail import Tail
from tarry.live.store.unwritten import Unwritten

SNAPSHOT_EVERY = 2_500  # facts, or a fortieth of the plays in the state if that is more
PART = 1 << 18  # bytes of a snapshot that are written at once
ROWS = 1_000  # facts that are deleted at once
WAITING = 200_000  # facts that wait in memory for a file that cannot be written
LOG = 1 << 22  # bytes of the write-ahead log at which it is folded into the file

Durability = Literal["full", "normal"]
log = logging.getLogger("tarry")


class SqliteStore:
    """An open journal; `settings` are those of the file, or `fresh` ones for a new file."""

    def __init__(
        self,
        path: str | Path,
        fresh: Callable[[], dict[str, Any]],
        durability: Durability,
        history: int,
    ) -> None:
        self.path = plain_file(Path(path))
        self.trouble = ""
        self.failures = self.dropped = 0
        self._history = history
        self._writing = threading.RLock()  # held by whoever uses the first connection
        self._aside = threading.RLock()  # the second one
        self._promised = 0  # the latest fact that a visitor of a writing thread wants durable
        self._unsure = False  # whether a commit was interrupted
        self._instead = 0  # the snapshot written in the place of facts, in that commit
        self._changed: dict[str, Any] | None = None
        self._folding = False
        self._unwritten = Unwritten(history)
        self.keeper = Keeper(self)
        found = opened(self.path, fresh, full=durability == "full")
        self._take(found, durability)

    def _take(self, found: Opened, durability: Durability) -> None:
        self._db, self._second = found.db, found.second
        self.settings = found.settings
        self._tail = Tail(found.snapshot, found.facts)
        self.append = self._tail.append  # see `Store`
        self.durable = self._tail.appended
        self._written = found.snapshot.number  # the latest snapshot that is in the file
        self._before = found.before  # the one before, from which on facts are kept
        self._mark = MarkFile(
            mark_path(self.path), self.settings["file"], full=durability == "full"
        )
        self._mark.write(self.durable)
        self._process = os.getpid()
        self._files = Files(self.path, found.lock)
        self._ended = weakref.finalize(
            self,
            let_go,
            (self._db, self._second),
            (self._writing, self._aside),
            found.lock,
            self.keeper,
            self._process,
        )

    @property
    def appended(self) -> int:
        """See `Store`."""
        return self._tail.appended

    def kept(self) -> Kept:
        """See `Store`."""
        return self._tail.since_snapshot()

    def others(self) -> Sequence[Fact]:
        """See `Store`."""
        return ()

    def wait(self, number: int) -> None:
        """See `Store`."""
        if self.is_busy():
            self._promised = max(self._promised, number)
            return
        while self.durable < max(number, self._promised):
            with self._writing:
                if self.durable < max(number, self._promised):
                    self._using(self._write)

    def is_busy(self) -> bool:
        """See `Store`."""
        return self._writing._is_owned()  # type: ignore[attr-defined]  # noqa: SLF001  # as Condition does

    def snapshot_due(self, plays: int) -> bool:
        """See `Store`."""
        since = self._tail.appended - self._tail.snapshot.number
        return since >= SNAPSHOT_EVERY and since >= plays // 40

    def take_snapshot(self, body: bytes) -> None:
        """See `Store`."""
        snapshot = self._tail.take_snapshot(body)
        waiting = snapshot.number - max(self.durable, self._tail.forgotten)
        if self.trouble and waiting > WAITING:  # the snapshot will be written in their place
            self.dropped += waiting
            self._tail.forget(snapshot.number)
        else:
            self._tail.forget(self.durable)
        self.keeper.do(partial(self._write_snapshot, snapshot.number))

    def keep(self, chunk: Chunk) -> None:
        """See `Store`."""
        if self._history:
            self._unwritten.add(chunk)
            self.keeper.do(partial(self._alone, partial(self._keep, chunk.first)))

    def chunks(self) -> list[Chunk]:
        """See `Store`; some may still be on their way to the disk."""

        def read() -> list[Chunk]:
            with self._aside, explained(self.path):
                return read_chunks(self._second)

        return self._unwritten.joined(read)

    def change(self, settings: dict[str, Any]) -> None:
        """See `Store`."""
        self.settings = settings
        self._changed = settings

    def backup(self, path: Path) -> None:
        """See `Store`; the copy is a journal of its own, whose plays have the same ids."""
        from tarry.live.store.recovery import copied

        self.wait(self.appended)
        with self._aside:
            copied(self._second, self.path, path)

    def close(self) -> None:
        """See `Store`."""
        if not self._ended.alive:
            return
        try:
            left = self.keeper.stop()
            self.wait(self.appended)
            for job in left:
                job()
            with self._writing:
                self._using(self._fold)
        except JournalError as error:
            lost = self.appended - self.durable
            raise JournalError(
                f"The journal {self.path} is closed without its latest {lost} facts, which could "
                f"not be written ({self.trouble}); see to the disk before it is opened again."
                if lost
                else f"The journal {self.path} is closed with all facts in it, but the end of its "
                f"work failed ({self.trouble}); see to the disk before it is opened again."
            ) from error
        finally:
            self._mark.close()
            self._ended()

    def after_fork(self) -> None:
        """This is a child: leave everything to the parent, for good."""
        self._ended.detach()
        keep_for_ever(self._db)
        keep_for_ever(self._second)
        self._files.lock.close()

    def _using(self, work: Callable[[], None]) -> None:
        """Let `work` use the first connection; the caller holds its lock."""
        if not self._ended.alive:
            self.trouble = "the program ends"
            raise JournalError(f"The journal {self.path} was closed when the program ended.")
        try:
            self._files.check()
            work()
        except (sqlite3.Error, OSError) as error:
            raise self._failed(str(error)) from error
        if self.trouble:
            log.warning(
                "The journal %s can be written again; %s.", self.path, missing(self.dropped)
            )
            self.trouble = ""

    def _failed(self, why: str) -> JournalError:
        said = JournalError(
            f"The journal {self.path} cannot be written ({why}); it will be tried again with the "
            f"next call."
        )
        if not self.trouble:
            self.failures += 1
            log.error("%s", said)
        self.trouble = why
        return said

    def _write(self) -> None:
        """Make durable all that was appended."""
        db = self._db
        if self._unsure:
            self._make_sure()
        facts, first = self._tail.since(self.durable)
        rows = [fact_row(seq, fact) for seq, fact in enumerate(facts, first)]
        gap = first > self.durable + 1
        snapshot = self._tail.snapshot
        self._instead = snapshot.number if gap else 0
        changed, self._unsure = self._changed, True
        if len(rows) == 1 and changed is None and not gap:
            db.execute(ADD_FACT, rows[0])
        else:
            db.execute("BEGIN IMMEDIATE")
            if gap:
                write_snapshot(snapshot, PART, self._written, db)
            write_facts(db, rows)
            if changed is not None:
                write_settings(db, changed)
            db.execute("COMMIT")
        self._wrote(first - 1 + len(rows), changed)

    def _wrote(self, durable: int, changed: dict[str, Any] | None) -> None:
        """A commit is done."""
        self.durable = durable
        self._mark.write(durable)
        self._take_instead()
        self._unsure = False
        if self._changed is changed:
            self._changed = None
        if self._files.log_size() > LOG and not self._folding:
            self._folding = True
            self.keeper.do(self._fold_aside)

    def _make_sure(self) -> None:
        """A commit was interrupted, or failed: find out whether it took place."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        last = self._db.execute("SELECT max(seq) FROM facts").fetchone()[0] or 0
        self.durable = max(self.durable, last)
        latest = self._db.execute("SELECT max(seq) FROM snapshots").fetchone()[0] or 0
        if latest == self._instead:
            self._take_instead()
        self._instead = 0
        self._unsure = False

    def _take_instead(self) -> None:
        """A snapshot is in the file in the place of facts."""
        if self._instead:
            self._before, self._written, self._instead = self._written, self._instead, 0

    def _alone(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """A transaction of its own for `work`, behind which nobody has to wait for long."""

        def transaction() -> None:
            if self._unsure:
                self._make_sure()
            self._unsure = True
            self._db.execute("BEGIN IMMEDIATE")
            work(self._db)
            self._db.execute("COMMIT")
            self._unsure = False

        with self._writing:
            self._using(transaction)

    def _keep(self, first: int, db: sqlite3.Connection) -> None:
        """Write a chunk, if it is still wanted, and delete those beyond what is to be kept."""
        chunk = self._unwritten.get(first)
        if chunk is None:
            return
        write_chunk(db, chunk)
        oldest = self._unwritten.oldest_beside(chunk)
        db.execute("DELETE FROM history WHERE first < ?", (oldest,))
        self._unwritten.written(chunk)

    def _write_snapshot(self, number: int) -> None:
        """Write a snapshot in parts, and then delete what the one before it made superfluous.

        One that a later one has followed meanwhile is not needed any more.
        """
        snapshot = self._tail.snapshot
        if snapshot.number != number or number <= self._written:
            return
        self.wait(number)
        parts = split(snapshot, PART)
        self._alone(partial(discard_after, self._written))
        for part in parts:
            self._alone(partial(write_part, part))
        before, self._before, self._written = self._before, self._written, snapshot.number
        self._tail.forget(self.durable)
        self._alone(partial(delete_snapshots, self._before))
        while before < self._before:
            before = min(before + ROWS, self._before)
            self._alone(partial(delete_facts, before))

    def _fold_aside(self) -> None:
        """Fold the log into the file: most of it while others write, the rest at once."""
        try:
            with self._aside:
                self._second.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            with self._writing:
                self._using(self._fold)
        except sqlite3.Error as error:
            raise self._failed(str(error)) from error
        finally:
            self._folding = False

    def _fold(self) -> None:
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self._files.folded()
