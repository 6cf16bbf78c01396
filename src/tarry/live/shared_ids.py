"""Ids of plays that many processes give out.

    id = writer * 2^32 + count

`writer` is the number of the process, and `count` its own count of plays.
"""

from collections.abc import Callable

from tarry.errors import LiveError
from tarry.live.replica import SHIFT
from tarry.live.store.postgres.store import PostgresStore

MOST_PLAYS = 2**SHIFT - 1  # of one process
END = 2**62  # of all ids


class SharedIds:
    """What this process gives out, and which processes there are besides."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store
        self._writers: set[int] = set()  # processes of this agent
        self._count = 0  # plays of this one

    def begin(self) -> None:
        """This process is a new one: that which the store says."""
        self._writers.add(self._store.writer)
        self._count = 0

    def new(self) -> int:
        """The id of the next play."""
        if self._count >= MOST_PLAYS:
            raise LiveError("This process has made all plays that it can; make a new agent.")
        self._count += 1
        return (self._store.writer << SHIFT) + self._count

    def has(self, play: int, was_read: Callable[[int], bool]) -> bool:
        """Whether a process has given out this id, or may have; `was_read` knows those of the log.

        Of another process it is enough that it is one of this agent: its facts may be on their way.
        """
        if not 0 < play < END:
            return False
        writer, count = play >> SHIFT, play & MOST_PLAYS
        if writer == self._store.writer:
            return 0 < count <= self._count
        return count > 0 and (was_read(play) or self._is_ours(writer))

    def _is_ours(self, writer: int) -> bool:
        if writer not in self._writers and self._store.knows_writer(writer):
            self._writers.add(writer)
        return writer in self._writers
