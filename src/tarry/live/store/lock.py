"""One agent per file: a lock that cannot vanish, and a mark of what was acknowledged.

SQLite locks by POSIX, and such a lock is gone as soon as any part of the process closes the same
file: a copy made for a backup is enough. `flock` belongs to the open file and stays until that is
closed or the process ends.

The mark is a small file beside the journal that says how many facts were acknowledged. If a
journal comes back with fewer, something took them: a damaged or missing write-ahead log, an old
copy put in its place. It is written through shared memory, so it costs nothing and is there after
the process ends, however suddenly.
"""

import contextlib
import fcntl
import mmap
import os
import struct
import time
import zlib
from pathlib import Path
from typing import NamedTuple

from tarry.errors import JournalError

SIZE = 4096
HEAD = b"tarry mark 1\n"
SLOTS = (1024, 2048)  # written in turns, so that one of them is always whole
PATIENCE = 50  # hundredths of a second
FIELDS = struct.Struct("<QQ16sB")  # facts, which file, which run of the machine, durability


class Mark(NamedTuple):
    """What was acknowledged last."""

    facts: int
    file: int  # the identity of the journal
    boot: bytes
    full: bool  # whether each fact was on the disk itself


class FileLock:
    """A journal file, locked for as long as this is open."""

    def __init__(self, path: Path, *, make: bool) -> None:
        """Open and lock the file; a new one is made if `make` says so."""
        try:
            self._fd = _opened(path, make=make)
        except OSError as error:
            raise JournalError(
                f"The journal {path} cannot be opened or made ({error.strerror}); give a path in a "
                f"folder that exists and can be written."
            ) from error
        try:
            self._take()
        except OSError as error:
            os.close(self._fd)
            if not isinstance(error, BlockingIOError):
                raise JournalError(
                    f"The journal {path} cannot be locked ({error.strerror}); give a path on a "
                    f"disk of this machine."
                ) from error
            raise JournalError(
                f"The journal {path} is in use by another agent or process; close it there, or "
                f"give another path."
            ) from error
        self._open = True

    def _take(self) -> None:
        """Lock. A child just forked by a process that died holds on until it has noticed."""
        for _ in range(PATIENCE):
            try:
                return fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.01)
        return fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def head(self) -> bytes:
        """The first bytes of the file."""
        return os.pread(self._fd, 100, 0)

    def size(self) -> int:
        """Bytes of the file."""
        return os.fstat(self._fd).st_size

    def is_at(self, path: Path) -> bool:
        """Whether the locked file is the one that the path leads to."""
        try:
            there, here = path.stat(), os.fstat(self._fd)
        except OSError:
            return False
        return there.st_ino == here.st_ino and there.st_dev == here.st_dev

    def close(self) -> None:
        """Let go. In a forked child this leaves the parent's lock alone."""
        if self._open:
            self._open = False
            os.close(self._fd)


def _opened(path: Path, *, make: bool) -> int:
    """The file; for reading alone if nothing is to be made and the disk takes nothing any more."""
    try:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if make else 0), 0o666)
    except OSError:
        if make:
            raise
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


class MarkFile:
    """The mark beside a journal, mapped into memory."""

    def __init__(self, path: Path, file: int, *, full: bool) -> None:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            os.truncate(fd, SIZE)
            self._map = mmap.mmap(fd, SIZE)
        finally:
            os.close(fd)
        self._map[: len(HEAD)] = HEAD
        self._turn = 0
        self._about = file, boot_id(), full

    def write(self, facts: int) -> None:
        """So many facts are acknowledged from now on."""
        body = FIELDS.pack(facts, *self._about)
        self._turn = 1 - self._turn
        place = SLOTS[self._turn]
        self._map[place : place + len(body) + 4] = body + zlib.crc32(body).to_bytes(4, "little")

    def close(self) -> None:
        """Let go of the memory."""
        self._map.close()


def mark_path(path: Path) -> Path:
    """Where the mark of a journal is."""
    return path.with_name(path.name + "-mark")


def read_mark(path: Path) -> Mark | None:
    """The mark of a journal, None if there is none that can be trusted."""
    try:
        body = mark_path(path).read_bytes()
    except OSError:
        return None
    found = []
    for place in SLOTS:
        piece = body[place : place + FIELDS.size]
        crc = body[place + FIELDS.size : place + FIELDS.size + 4]
        if len(crc) == 4 and zlib.crc32(piece) == int.from_bytes(crc, "little"):
            facts, file, boot, full = FIELDS.unpack(piece)
            found.append(Mark(facts, file, boot, bool(full)))
    return max(found, default=None)


def inode(path: Path) -> int:
    """Which file is at this path; 0 if there is none."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def size_of(path: Path) -> int:
    """Its size in bytes; 0 if there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def boot_id() -> bytes:
    """Which run of the machine this is; 16 bytes."""
    with contextlib.suppress(OSError, ValueError):
        text = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        return bytes.fromhex(text.replace("-", "").strip())[:16]
    return bytes(16)
