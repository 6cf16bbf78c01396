"""Measured run times from a CSV file: for `problems.from_table` in a TOML file."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tarry.arrays import FloatArray
from tarry.checks import shortened
from tarry.errors import InputError, UnknownNameError


def with_columns(settings: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Settings of `from_table` whose features and times are columns of the CSV file `file`.

    Its name is taken from `folder`. It has a head, and a row per request; an empty cell is a
    missing number. The arms are called as the columns of times are.
    """
    others = dict(settings)
    head, rows = read_rows(others.pop("file"), folder)
    chosen = {
        kind: columns_of(kind, others.pop(kind, None), head) for kind in ("features", "times")
    }
    for name in chosen["features"]:
        if name in chosen["times"]:
            raise InputError(
                f"The column {name!r} is among the features and the times; what a request takes is "
                "not known before it is served."
            )
    features = numbers_in(rows, head, chosen["features"], "a number, or empty where it is missing")
    times = numbers_in(rows, head, chosen["times"], "a number, as every time must be known")
    return {"names": chosen["times"], **others, "features": features, "times": times}


def read_rows(name: Any, folder: Path) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of a CSV file, all with as many cells."""
    path = name
    if name == "":  # which would be the folder that one is in
        raise InputError("file is ''; give the name of a CSV file.")
    try:
        path = folder / name
        with path.open(newline="", encoding="utf-8-sig") as file:  # Excel begins with a mark
            head, *rows = [row for row in csv.reader(file) if row] or [[]]
    except TypeError as error:
        raise InputError(f"file is {shortened(path)}; give the name of a CSV file.") from error
    except (OSError, ValueError, csv.Error) as error:  # no name of a file, or no text
        told = getattr(error, "strerror", None) or error
        raise InputError(f"{str(path)!r} cannot be read: {told}.") from error
    if not rows:
        raise InputError(f"{str(path)!r} has no rows; give a head and a row per request.")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(head):
            raise InputError(
                f"Row {number} (counted from 1) of {str(path)!r} has {len(row)} cells; its head "
                f"has {len(head)}."
            )
    return head, rows


def columns_of(kind: str, names: Any, head: Sequence[str]) -> list[str]:
    """The names of columns, all of which are in the head."""
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise InputError(f"{kind} is {shortened(names)}; give a list of columns of the file.")
    for name in names:
        if name not in head:
            raise UnknownNameError.of("column of the file", name, head)
        if names.count(name) > 1:
            raise InputError(f"The column {name!r} is twice among the {kind}; name it once.")
        if head.count(name) > 1:
            raise InputError(
                f"There are {head.count(name)} columns {name!r}; a column that is asked for must "
                "have a name of its own."
            )
    return names


def numbers_in(
    rows: list[list[str]], head: list[str], names: Sequence[str], allowed: str
) -> FloatArray:
    """The numbers of some columns, a row per request; NaN where a cell is empty.

    `allowed` says what a cell must be, for the message.
    """
    places = [head.index(name) for name in names]
    found = np.full((len(rows), len(places)), np.nan)
    for number, row in enumerate(rows, start=1):
        for column, place in enumerate(places):
            cell = row[place].strip()
            try:
                found[number - 1, column] = float(cell) if cell else np.nan
            except ValueError:
                raise InputError(
                    f"Row {number} (counted from 1) has {shortened(cell)} in column "
                    f"{head[place]!r}; it must be {allowed}."
                ) from None
    return found
