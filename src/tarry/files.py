"""Files that are complete or do not exist: written beside their place, then renamed."""

import contextlib
import os
import secrets
import tempfile
from collections.abc import Collection
from pathlib import Path

from tarry.errors import InputError


def write_atomically(path: Path, content: bytes) -> None:
    """Put `content` into `path` by writing a file next to it and renaming it."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise


def check_place(path: str | os.PathLike[str], endings: Collection[str] = ()) -> Path:
    """A path to write a file to, refused now rather than after a long run.

    Its folder is made when the file is; the nearest folder that exists must be writable. With
    `endings`, the name must end in one of them.
    """
    place = Path(path)
    if endings and place.suffix.lstrip(".").lower() not in endings:
        known = ", ".join(f".{ending}" for ending in endings)
        raise InputError(f"The file {str(path)!r} cannot be written; its ending must be {known}.")
    if place.is_dir():
        raise InputError(f"The file {str(path)!r} cannot be written: it is a folder.")
    check_room(place, f"The file {str(path)!r}")
    return place


def check_room(place: Path, what: str) -> None:
    """That a file can be made where `place` will be; `what` begins the sentence if not."""
    folder = next(parent for parent in place.absolute().parents if parent.exists())
    if not folder.is_dir():
        raise InputError(f"{what} cannot be written: {str(folder)!r} is no folder.")
    try:  # rights do not tell of file systems that nobody may write to
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or error
        raise InputError(
            f"{what} cannot be written: no file can be made in {str(folder)!r} ({reason})."
        ) from error


def check_folder(path: str | os.PathLike[str]) -> Path:
    """A folder to write files into, likewise."""
    place = Path(path)
    if place.exists() and not place.is_dir():
        raise InputError(f"The folder {str(path)!r} cannot be written: it is a file.")
    check_room(place / "file", f"The folder {str(path)!r}")
    return place
