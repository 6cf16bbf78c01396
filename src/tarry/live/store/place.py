"""Where a journal is: the one plain file that a path leads to.

A new journal is put into the place of an empty file, and the log, the mark and the lock are beside
it. So a link is followed before anything is made: the file, and all beside it, is at its end. What
is no plain file looks empty and is not: it is refused before it is touched.
"""

import os
import stat
from pathlib import Path
from typing import Any

from tarry.errors import InputError, JournalError

KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}

LONGEST = 240  # bytes of a name; file systems allow 255, and others get longer names beside it


def check_path(path: Any) -> Path:
    """A path that a file can have."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise InputError(
            f"The path is {path!r}; give the name of a file, as text without NUL or a pathlib.Path."
        )
    if len(os.fsencode(Path(text).name)) > LONGEST:
        raise InputError(
            f"The name of the file has {len(Path(text).name)} letters; give one of at most "
            f"{LONGEST} bytes, since others are kept beside it."
        )
    if text == ":memory:":
        raise InputError(
            "The path is ':memory:', which is no file; leave path out for an agent in memory."
        )
    return Path(text)


def followed(path: Path) -> Path:
    """The path with all links followed, whether or not there is a file at the end."""
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:  # links in a circle
        raise JournalError(
            f"The path {path} leads nowhere ({_why(error)}); give the path of a file."
        ) from error


def plain_file(path: Path) -> Path:
    """The real path of a journal; refuses what is there and is no plain file with one name."""
    real = followed(path)
    try:
        found = real.stat()
    except OSError:  # there is none yet, or opening it says why not
        return real
    kind = stat.S_IFMT(found.st_mode)
    if kind != stat.S_IFREG:
        raise JournalError(
            f"The path {path} is {KINDS.get(kind, 'no plain file')}, and was left alone; give the "
            f"path of a file."
        )
    if found.st_nlink > 1:
        raise JournalError(
            f"The file {path} has {found.st_nlink} names (hard links), and SQLite's log would be "
            f"beside one of them only; give a file with one name, or a symbolic link to it."
        )
    return real


def _why(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).partition(":")[0]
