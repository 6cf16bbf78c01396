"""Named columns of numbers, and what is said of them, in one piece of bytes.

    4 bytes    the length of what follows, a JSON text
    the text   {"meta": ..., "columns": [[name, type, count], ...]}
    the rest   the columns, one after the other

Whatever is read is checked against the bytes that are there before anything is made from it.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from tarry.arrays import IntArray

TYPES = {"<i1": 1, "<i4": 4, "<i8": 8, "<f8": 8}


def packed(meta: dict[str, Any], columns: Mapping[str, Any]) -> bytes:
    """`meta` is plain data; a column is a list or an array of numbers."""
    arrays = {name: _as_stored(column) for name, column in columns.items()}
    about = [[name, array.dtype.str, len(array)] for name, array in arrays.items()]
    head = json.dumps({"meta": meta, "columns": about}, separators=(",", ":")).encode()
    body: list[Any] = [len(head).to_bytes(4, "little"), head, *arrays.values()]
    return b"".join(body)  # the only copy


def unpacked(body: bytes) -> tuple[dict[str, Any], dict[str, IntArray]]:
    """What was packed; ValueError, KeyError or TypeError where the bytes do not hold it."""
    size = int.from_bytes(body[:4], "little")
    head = json.loads(body[4 : 4 + size])
    place = 4 + size
    columns = {}
    for name, kind, count in head["columns"]:
        length = TYPES[kind] * count
        if count < 0 or place + length > len(body):
            raise ValueError(f"{count} numbers for {name}")
        columns[name] = np.frombuffer(body, kind, count, place)
        place += length
    if place != len(body):
        raise ValueError(f"{len(body) - place} bytes too many")
    return head["meta"], columns


def _as_stored(column: Any) -> IntArray:
    """The column as an array of one of the types."""
    array = np.ascontiguousarray(column)
    if array.ndim != 1:
        array = array.reshape(-1)
    if array.dtype.str not in TYPES:
        array = array.astype("<f8" if array.dtype.kind == "f" or not len(array) else "<i8")
    return array
