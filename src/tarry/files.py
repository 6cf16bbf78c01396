"""Files that are complete or do not exist: written beside their place, then renamed."""

import contextlib
import os
import secrets
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
    folder = next(parent for parent in place.absolute().parents if parent.exists())
    if not folder.is_dir():
        raise InputError(f"The file {str(path)!r} cannot be written: {str(folder)!r} is no folder.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"The file {str(path)!r} cannot be written: no right to write there.")
    return place


def check_folder(path: str | os.PathLike[str]) -> Path:
    """A folder to write files into, likewise."""
    place = Path(path)
    if place.exists() and not place.is_dir():
        raise InputError(f"The folder {str(path)!r} cannot be written: it is a file.")
    check_place(place / "file")
    return place
