"""Chunks of the history that are on their way to the disk."""

from collections.abc import Callable, Iterable

from tarry.live.history import CHUNK, Chunk


class Unwritten:
    """The latest chunks, of a history of so many plays, that are not written yet."""

    def __init__(self, history: int) -> None:
        self._history = history
        self._chunks: dict[int, Chunk] = {}

    def add(self, chunk: Chunk) -> None:
        """One more; those that are too old for the history are given up."""
        self._chunks[chunk.first] = chunk
        while len(self._chunks) > self._history // CHUNK + 1:
            del self._chunks[min(self._chunks)]

    def get(self, first: int) -> Chunk | None:
        """The chunk from this play on, if it is still wanted and not written yet."""
        return self._chunks.get(first)

    def written(self, chunk: Chunk) -> None:
        """This one is on the disk."""
        self._chunks.pop(chunk.first, None)

    def oldest_beside(self, chunk: Chunk) -> int:
        """The first play of the oldest chunk that is kept once this one is there."""
        return chunk.first - CHUNK * (-(-self._history // CHUNK) - 1)

    def joined(self, read: Callable[[], Iterable[Chunk]]) -> list[Chunk]:
        """These chunks and those that `read` finds on the disk, the earliest first."""
        waiting = dict(self._chunks)  # before: what is written meanwhile is in one or the other
        found = {chunk.first: chunk for chunk in read()} | waiting
        return [found[first] for first in sorted(found)]
