"""Looking at a write-ahead log before SQLite does.

SQLite takes a damaged log for one that ends at the damage, and says nothing. But what it skips is
there to see: each transaction ends with a frame that carries a commit mark, and all frames of one
generation of the log carry the two salts of its header. The layout and the checksum are those of
https://www.sqlite.org/fileformat2.html, section 4.
"""

import struct
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Bytes: TypeAlias = npt.NDArray[np.uint8]
Words: TypeAlias = npt.NDArray[np.uint32]

HEADER = struct.Struct(">8I")  # magic, version, page size, checkpoint, two salts, two checksums
FRAME = 24  # bytes before each page: page, size after a commit, two salts, two checksums
MAGIC = (0x377F0682, 0x377F0683)


class Log(NamedTuple):
    """What a log holds."""

    claimed: int  # frames up to the last one that ends a transaction, by what it says of itself
    valid: int  # those that SQLite will read
    damage: str  # what is wrong, empty if nothing is


def wal_path(path: Path) -> Path:
    """Where SQLite keeps the write-ahead log of a file."""
    return path.with_name(path.name + "-wal")


def look(path: Path) -> Log:
    """What the log of this file holds."""
    try:
        body = np.fromfile(wal_path(path), np.uint8)
    except OSError:
        return Log(0, 0, "")
    if len(body) <= HEADER.size:
        return Log(0, 0, "")
    magic, _, page, _, salt1, salt2, *check = HEADER.unpack(body[: HEADER.size].tobytes())
    if magic not in MAGIC or not 512 <= page <= 65536 or page % 8:
        return Log(0, 0, "its write-ahead log has lost its beginning")
    order = ">u4" if magic == MAGIC[1] else "<u4"
    if not (sums(body[None, :24], order)[0] == check).all():
        return Log(0, 0, "the beginning of its write-ahead log is unreadable")
    frames = (len(body) - HEADER.size) // (FRAME + page)
    whole = body[HEADER.size : HEADER.size + frames * (FRAME + page)].reshape(frames, FRAME + page)
    heads = np.ascontiguousarray(whole[:, :FRAME]).view(">u4")
    ours = (heads[:, 2] == salt1) | (heads[:, 3] == salt2)
    commits = np.flatnonzero(ours & (heads[:, 1] != 0)) + 1
    good = _valid(whole, heads, (salt1, salt2, *check), order)
    claimed = int(commits[-1]) if len(commits) else 0
    valid = int(commits[commits <= good][-1]) if (commits <= good).any() else 0
    lost = "" if claimed == valid else f"frame {good + 1} of its write-ahead log is unreadable"
    return Log(claimed, valid, lost)


def _valid(whole: Bytes, heads: Words, header: tuple[int, ...], order: str) -> int:
    """How many frames from the first on carry the salts and the checksums that they should."""
    content = np.concatenate([whole[:, :8], whole[:, FRAME:]], axis=1)
    own = sums(content, order).tolist()
    carry = powers(content.shape[1] // 8)[-1].tolist()
    salt1, salt2, first, second = header
    for number, (head, (a, b)) in enumerate(zip(heads.tolist(), own, strict=True)):
        first, second = (
            (carry[0][0] * first + carry[0][1] * second + a) & 0xFFFFFFFF,
            (carry[1][0] * first + carry[1][1] * second + b) & 0xFFFFFFFF,
        )
        if head[2:] != [salt1, salt2, first, second]:
            return number
    return len(own)


def sums(rows: Bytes, order: str) -> Words:
    """The checksum of each row, begun at 0.

    Over pairs of words (a, b): s = s + a + t, then t = t + b + s, modulo 2^32. That is linear in
    (s, t), so the pair i of n has the weight M^(n-1-i) N with M = [[1, 1], [1, 2]] and
    N = [[1, 0], [1, 1]].
    """
    words = np.ascontiguousarray(rows).view(order).astype(np.uint32)
    pairs = words.shape[1] // 2
    weights = powers(pairs)[:pairs][::-1] @ np.array([[1, 0], [1, 1]], np.uint32)
    first, second = words[:, ::2], words[:, 1::2]
    return np.stack(
        [first @ weights[:, k, 0] + second @ weights[:, k, 1] for k in range(2)], axis=1
    )


def powers(most: int) -> Words:
    """M^0 to M^most, modulo 2^32."""
    matrix, found = [1, 0, 0, 1], []
    for _ in range(most + 1):
        found.append(matrix)
        a, b, c, d = matrix
        matrix = [(a + b), (a + 2 * b), (c + d), (c + 2 * d)]
        matrix = [x & 0xFFFFFFFF for x in matrix]
    return np.array(found, np.uint32).reshape(-1, 2, 2)
