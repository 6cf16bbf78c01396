"""Columns by name, from whatever holds a log: a file, a DataFrame, a dict, a list of dicts.

Nothing heavy is loaded here: a DataFrame brings its own package along, and pyarrow is imported only
for a Parquet file.
"""

import gzip
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tarry.checks import shortened
from tarry.errors import FileError, InputError

SOURCES = "a path of a CSV or Parquet file, a DataFrame, a dict of columns or a list of dicts"


class Columns(NamedTuple):
    """Some columns of a table."""

    values: dict[str, list[Any]]
    decimal_comma: bool = False  # whether "1,5" can be a number: not where commas part the columns
    place: str = "row"  # what people call a row
    numbers: Sequence[int] | None = None  # of the rows; without them they count from 1 on
    faults: Mapping[int, str] = {}  # rows that cannot be read at all, and why

    def place_of(self, row: int) -> str:
        """Where a row stands, for people to find it."""
        return f"{self.place} {row + 1 if self.numbers is None else self.numbers[row]}"


def read_columns(source: Any, names: Sequence[str], encoding: str | None) -> Columns:
    """The columns `names` of `source`."""
    if isinstance(source, str | os.PathLike):
        return read_file(Path(source), names, encoding)
    if isinstance(source, Mapping):
        found = checked(source, names)
        return of_equal_length({name: list(column_of(source, name)) for name in found})
    if hasattr(source, "column_names"):  # a table of pyarrow
        found = checked(source.column_names, names)
        return Columns({name: source.column(name).to_pylist() for name in found})
    if type(source).__name__ == "LazyFrame":
        raise InputError("The log is a LazyFrame, which holds no rows yet; call its .collect().")
    if hasattr(source, "columns"):  # a DataFrame of pandas or polars
        found = checked(list(source.columns), names)
        return Columns({name: source[name].to_list() for name in found})
    if isinstance(source, Sequence) and source and all(isinstance(row, Mapping) for row in source):
        found = checked(list(dict.fromkeys(name for row in source for name in row)), names)
        return Columns({name: [row.get(name) for row in source] for name in found})
    raise InputError(f"The log is {shortened(source)}; it must be {SOURCES}, not empty.")


def column_of(source: Mapping[str, Any], name: str) -> Any:
    """The column of a dict; it must be a list of something."""
    column = source[name]
    if isinstance(column, str) or not hasattr(column, "__iter__"):
        raise InputError(f"The column {name!r} is {shortened(column)}; it must be a list.")
    check_flat(f"column {name!r}", column)
    return column.tolist() if hasattr(column, "tolist") else column


def check_flat(what: str, column: Any) -> None:
    """Refuse an array or a table where one value per play is wanted."""
    dimensions = getattr(column, "ndim", 1)
    if dimensions != 1:
        raise InputError(f"The {what} has {dimensions} dimensions; it must be a list, with one.")


def of_equal_length(columns: dict[str, list[Any]]) -> Columns:
    """The columns, refused unless they have one length."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} {length}" for name, length in lengths.items())
        raise InputError(f"The columns have different lengths ({told}); they must be equally long.")
    return Columns(columns)


def checked(found: Iterable[str], wanted: Sequence[str]) -> list[str]:
    """`wanted` without repetitions, refused if one of them is not there, or twice, in `found`."""
    there = [str(name) for name in found]
    for name in wanted:
        if name not in there:
            listed = ", ".join(there[:12]) + (", ..." if len(there) > 12 else "")
            raise InputError(f"There is no column {name!r}; the columns are {listed or 'none'}.")
        if there.count(name) > 1:
            raise InputError(
                f"There are {there.count(name)} columns {name!r}; a column that is asked for must "
                "have a name of its own."
            )
    return list(dict.fromkeys(wanted))


def read_file(path: Path, names: Sequence[str], encoding: str | None) -> Columns:
    """The columns of a file: Parquet by its ending, else CSV, perhaps gzipped."""
    try:
        content = path.read_bytes()
    except OSError as error:
        why = error.strerror or error
        raise FileError(f"The log {str(path)!r} cannot be read: {why}.") from error
    if content[:4] == b"PAR1":
        return read_parquet(path, names)
    if path.suffix.lower() in {".xlsx", ".xls", ".ods"} or content[:4] == b"PK\x03\x04":
        raise InputError(f"{path.name!r} is a spreadsheet; save it as CSV, which tarry reads.")
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError) as error:
            raise FileError(f"The log {str(path)!r} is no complete gzip file: {error}.") from error
    from tarry.logs.delimited import read_csv

    return read_csv(decoded(content, encoding, path.name), names, path.name)


def read_parquet(path: Path, names: Sequence[str]) -> Columns:
    """The columns of a Parquet file."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            found = checked(file.schema_arrow.names, names)
            table = file.read(columns=found)
    except (ArrowException, OSError) as error:
        why = str(error).partition("\n")[0].rstrip(".")
        raise FileError(f"The log {str(path)!r} is no complete Parquet file: {why}.") from error
    return Columns({name: table.column(name).to_pylist() for name in found})


def decoded(content: bytes, encoding: str | None, name: str) -> str:
    """The text of a file: UTF-8 or UTF-16 with its mark, unless another encoding is named."""
    if encoding is None:
        marked = content[:2] in {b"\xff\xfe", b"\xfe\xff"}
        encoding = "utf-16" if marked else "utf-8-sig"
    try:
        return content.decode(encoding)
    except LookupError:
        raise InputError(f"There is no encoding {encoding!r}; try 'utf-8' or 'latin-1'.") from None
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(
            f"{name!r} is not {encoding.removesuffix('-sig').upper()} text (byte "
            f"0x{content[error.start]:02x} in line {line}); save it as UTF-8, or name its "
            f"encoding, such as encoding='latin-1'."
        ) from error
