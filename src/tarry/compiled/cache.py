"""Where machine code is kept on disk.

Numba notices a change only in the file of the function it compiles, not in the files of what that
function calls, and would go on using stale machine code. Cached code is therefore kept in a
directory named after a fingerprint of all sources of the package. A process that loaded sources
which have changed since keeps its code to itself. Machine code of a user's rule is kept in there
too, in a directory named after a fingerprint of all that the user's code does.
"""

import contextlib
import functools
import hashlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numba

from tarry.fingerprint import PACKAGE as FOLDER
from tarry.fingerprint import changed_since_import, source_fingerprint
from tarry.inspection import PACKAGE


@functools.cache
def cache_directory() -> Path | None:
    """The directory of machine code made from exactly these sources, created if need be.

    None if it is not known what this process has loaded, or if no place can be written to.
    """
    if changed_since_import():
        return None
    name = f"compiled-{source_fingerprint()}-{_toolchain()}"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    places = [Path(chosen)] if chosen else [FOLDER / "__pycache__"]
    for place in [*places, *_user_cache()]:
        directory = place / name
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(directory, os.W_OK):
            _drop_older(place, keep=name)
            return directory
    return None


OWN_KEPT = 40  # versions of users' rules


def own_directory(code: str) -> Path | None:
    """The directory of machine code of a user's rule with this fingerprint, or None, as above."""
    place = cache_directory()
    if place is None:
        return None
    name = f"own-{hashlib.sha256(code.encode()).hexdigest()[:16]}"
    directory = place / name
    try:
        directory.mkdir(exist_ok=True)
        os.utime(directory)
    except OSError:
        return None
    _drop_older(place, keep=name, spared=OWN_KEPT, pattern="own-*")
    return directory


@contextlib.contextmanager
def kept_in(directory: Path) -> Iterator[None]:
    """Functions handed to Numba in here keep their machine code in this directory."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(directory)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def _toolchain() -> str:
    """A hash over the versions of Numba and Python, which decide the machine code as well."""
    return hashlib.sha256(f"{numba.__version__} {sys.version}".encode()).hexdigest()[:8]


def _user_cache() -> list[Path]:
    """The user's own cache folder, if the user has a home."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return [(Path(base) if base else Path.home() / ".cache") / PACKAGE]
    except RuntimeError:
        return []


def _drop_older(place: Path, keep: str, spared: int = 2, pattern: str = "compiled-*") -> None:
    """Delete all but the newest few directories of other sources; going back to one is cheap."""
    ages = []
    for directory in place.glob(pattern):
        with contextlib.suppress(OSError):  # another process may be deleting it just now
            ages.append((directory.stat().st_mtime, directory))
    others = [directory for _, directory in sorted(ages, reverse=True) if directory.name != keep]
    for old in others[spared:]:
        shutil.rmtree(old, ignore_errors=True)
