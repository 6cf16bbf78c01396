"""Chunks of the history on their way to the disk."""

from tarry.live.history import CHUNK, Chunk
from tarry.live.store.unwritten import Unwritten


def test_a_chunk_that_is_written_while_the_disk_is_read_is_not_missed() -> None:
    """It is found on the way, if the disk was looked at too early for it."""
    unwritten, chunk = Unwritten(10 * CHUNK), Chunk(CHUNK + 1, b"b")
    unwritten.add(chunk)

    def read() -> list[Chunk]:
        unwritten.written(chunk)
        return [Chunk(1, b"a")]

    assert unwritten.joined(read) == [Chunk(1, b"a"), chunk]
    assert unwritten.joined(list) == []


def test_chunks_that_are_too_old_are_given_up() -> None:
    """No more are kept than the history can hold, however long nothing is written."""
    unwritten = Unwritten(2 * CHUNK)
    chunks = [Chunk(k * CHUNK + 1, b"") for k in range(5)]
    for chunk in chunks:
        unwritten.add(chunk)
    assert unwritten.joined(list) == chunks[2:]
    assert unwritten.get(1) is None
    assert unwritten.oldest_beside(chunks[4]) == chunks[3].first
