"""The store in memory: all that an agent needs to make itself whole again, while it lives."""

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tarry.errors import JournalError
from tarry.live.facts import Fact
from tarry.live.history import CHUNK, Chunk
from tarry.live.store.protocol import Kept
from tarry.live.store.tail import Snapshot, Tail

SNAPSHOT_EVERY = 10_000  # facts, or a sixteenth of the plays in the state if that is more


class MemoryStore:
    """Facts since the latest snapshot, and the history, in this process only."""

    trouble = ""
    failures = 0
    dropped = 0

    def __init__(self, settings: dict[str, Any], history: int) -> None:
        self.settings = settings
        self._tail = Tail(Snapshot(0, None), [])
        self.append = self._tail.append  # see `Store`
        self._chunks: deque[Chunk] = deque(maxlen=-(-history // CHUNK))

    @property
    def appended(self) -> int:
        """See `Store`."""
        return self._tail.appended

    @property
    def durable(self) -> int:
        """See `Store`; as safe at once as it will ever be."""
        return self._tail.appended

    def kept(self) -> Kept:
        """See `Store`."""
        return self._tail.since_snapshot()

    def wait(self, number: int) -> None:
        """See `Store`."""

    def is_busy(self) -> bool:
        """See `Store`; nobody ever waits."""
        return False

    def others(self) -> Sequence[Fact]:
        """See `Store`."""
        return ()

    def snapshot_due(self, plays: int) -> bool:
        """See `Store`."""
        since = self._tail.appended - self._tail.snapshot.number
        return since >= SNAPSHOT_EVERY and since >= plays // 16

    def take_snapshot(self, body: bytes) -> None:
        """See `Store`."""
        self._tail.take_snapshot(body)
        self._tail.forget(self.appended)

    def keep(self, chunk: Chunk) -> None:
        """See `Store`; one that is there already stays."""
        if not self._chunks or self._chunks[-1].first < chunk.first:
            self._chunks.append(chunk)

    def chunks(self) -> list[Chunk]:
        """See `Store`."""
        return list(self._chunks)

    def change(self, settings: dict[str, Any]) -> None:
        """See `Store`."""
        self.settings = settings

    def backup(self, path: Path) -> None:
        """There is nothing that another process could open."""
        raise JournalError(
            f"This agent has no file, so nothing can be copied to {path}; give Agent(path=...)."
        )

    def close(self) -> None:
        """See `Store`."""
