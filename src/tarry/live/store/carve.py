"""Reading the rows of a journal out of the pages of its file, without SQLite.

SQLite finds a row through the pages above it, and gives up where one of these is lost. But every
row of ours carries a checksum, so each page that is still there can be read by itself. The layout
is that of https://www.sqlite.org/fileformat2.html, sections 1.6 and 2.1.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tarry.live.store.wal import FRAME, HEADER, wal_path

LEAF = 0x0D  # the kind of page that holds rows of a table
PAGE = 4096
Row = tuple[int, list[Any]]  # the number of the row, and its fields


def carve(path: Path, largest: int) -> Iterator[Row]:
    """All rows of all tables that can still be read, some of them twice, some of them old."""
    main = path.read_bytes()
    size = _page_size(main)
    pages = {k + 1: main[k * size : (k + 1) * size] for k in range(-(-len(main) // size))}
    yield from _rows(pages, size, largest)
    written = list(_logged(path, size))
    if written:
        for number, page in written:  # every state that the log ever brought about
            yield from _rows_of(page, number, pages | {number: page}, size, largest)
        yield from _rows(pages | dict(written), size, largest)


def _page_size(main: bytes) -> int:
    size = int.from_bytes(main[16:18], "big")
    return size if size >= 512 and size & (size - 1) == 0 else PAGE


def _logged(path: Path, size: int) -> Iterator[tuple[int, bytes]]:
    """Pages in the write-ahead log, in order, whatever their checksums say."""
    try:
        body = wal_path(path).read_bytes()
    except OSError:
        return
    for place in range(HEADER.size, len(body) - FRAME - size + 1, FRAME + size):
        yield int.from_bytes(body[place : place + 4], "big"), body[place + FRAME :][:size]


def _rows(pages: dict[int, bytes], size: int, largest: int) -> Iterator[Row]:
    for number, page in pages.items():
        yield from _rows_of(page, number, pages, size, largest)


def _rows_of(
    page: bytes, number: int, pages: dict[int, bytes], size: int, largest: int
) -> Iterator[Row]:
    """The rows of one page, each by itself, so that one may be lost."""
    begin = 100 if number == 1 else 0
    if len(page) < begin + 8 or page[begin] != LEAF:
        return
    count = int.from_bytes(page[begin + 3 : begin + 5], "big")
    for k in range(min(count, size // 2)):
        pointer = begin + 8 + 2 * k
        cell = int.from_bytes(page[pointer : pointer + 2], "big")
        try:
            yield _row(page, cell, pages, size, largest)
        except (IndexError, ValueError, KeyError, UnicodeDecodeError):
            continue


def _row(page: bytes, cell: int, pages: dict[int, bytes], size: int, largest: int) -> Row:
    length, cell = _varint(page, cell)
    number, cell = _varint(page, cell)
    if not 0 < length <= largest:
        raise ValueError("too long")
    most = size - 35
    local = length
    if length > most:
        least = (size - 12) * 32 // 255 - 23
        local = least + (length - least) % (size - 4)
        local = local if local <= most else least
    payload = page[cell : cell + local]
    following = int.from_bytes(page[cell + local : cell + local + 4], "big")
    pieces, left = [payload], length - local
    while left > 0:
        more = pages[following]
        pieces.append(more[4 : 4 + left])
        left -= size - 4
        following = int.from_bytes(more[:4], "big")
    payload = b"".join(pieces)
    if len(payload) != length:
        raise ValueError("cut short")
    return number, _fields(payload)


def _fields(payload: bytes) -> list[Any]:
    """The values of a record."""
    head, place = _varint(payload, 0)
    kinds = []
    while place < head:
        kind, place = _varint(payload, place)
        kinds.append(kind)
    fields: list[Any] = []
    for kind in kinds:
        width = _width(kind)
        piece = payload[place : place + width]
        if len(piece) != width:
            raise ValueError("cut short")
        place += width
        fields.append(_value(kind, piece))
    return fields


def _width(kind: int) -> int:
    if kind >= 12:
        return (kind - 12) // 2
    return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)[kind]


def _value(kind: int, piece: bytes) -> Any:
    if kind == 0:
        return None
    if kind in (8, 9):
        return kind - 8
    if kind <= 6:
        return int.from_bytes(piece, "big", signed=True)
    if kind >= 12:
        return piece if kind % 2 == 0 else piece.decode()
    raise ValueError(f"a value of kind {kind}")


def _varint(body: bytes, place: int) -> tuple[int, int]:
    """A number of one to nine bytes, and the place after it."""
    value = 0
    for k in range(8):
        byte = body[place + k]
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            return value, place + k + 1
    return (value << 8) | body[place + 8], place + 9
