"""CSV: which sign parts the columns, and rows and quotes that do not fit."""

import csv
from collections.abc import Iterator, Sequence
from itertools import chain

from tarry.errors import InputError
from tarry.logs.columns import Columns, checked

DELIMITERS = ",;\t|"
END = "\x04end"  # a last line of our own: it is a row by itself unless a quote is still open


def read_csv(text: str, names: Sequence[str], file: str) -> Columns:
    """The columns of a CSV with a header; commas, semicolons, tabs and bars may part them."""
    if not text.strip():
        raise InputError(f"{file!r} is empty; it must have a header and one row per play.")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    first = text.split("\n", 1)[0]
    delimiter = max(DELIMITERS, key=lambda sign: header_fit(first, sign, names))
    records = records_of(text, delimiter, file)
    header = trimmed([name.strip() for name in next(records, (1, []))[1]], 0)
    places = {name: header.index(name) for name in checked(header, names)}
    numbers, rows = [], []
    for number, fields in records:
        numbers.append(number)
        rows.append(trimmed(fields, len(header)))
    columns = {
        name: [row[place].strip() if place < len(row) else "" for row in rows]
        for name, place in places.items()
    }
    faults = faults_of(rows, numbers, len(header), file)
    return Columns(columns, delimiter != ",", place="line", numbers=numbers, faults=faults)


def faults_of(
    rows: Sequence[Sequence[str]], numbers: Sequence[int], width: int, file: str
) -> dict[int, str]:
    """Rows with more or fewer fields than the header: nobody knows which field is which."""
    if rows and all(len(row) > width for row in rows):
        raise InputError(
            f"Every row of {file!r} has more fields than the header (line {numbers[0]} has "
            f"{len(rows[0])}, the header {width}), as where decimal commas stand between commas; "
            "quote such numbers, or part the columns by semicolons."
        )
    return {
        place: f"line {number} has {len(row)} field{'s'[: len(row) != 1]}, the header {width}"
        for place, (number, row) in enumerate(zip(numbers, rows, strict=True))
        if len(row) != width
    }


def trimmed(fields: list[str], width: int) -> list[str]:
    """The fields without empty ones at the end beyond `width`: some programs end lines so."""
    while len(fields) > width and not fields[-1].strip():
        fields = fields[:-1]
    return fields


def records_of(text: str, delimiter: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the number of its first line."""
    lines = text.removesuffix("\n").split("\n")
    parts = (f"{line}\n" for line in chain(lines, [END]))
    reader = csv.reader(parts, delimiter=delimiter, skipinitialspace=True)
    while True:
        number = reader.line_num + 1
        try:
            fields = next(reader, [END])
            if reader.line_num > number:  # a field with line ends: is its quote really closed?
                piece = [f"{line}\n" for line in lines[number - 1 : reader.line_num]]
                list(csv.reader(piece, delimiter=delimiter, skipinitialspace=True, strict=True))
        except csv.Error as error:
            if reader.line_num > number:
                raise InputError(
                    f"A quote opens in line {number} of {file!r} and is not closed as it should "
                    "be; close it, or take it out."
                ) from error
            raise InputError(f"{file!r} is no CSV in line {number}: {error}.") from error
        if fields == [END]:
            return
        if fields:
            yield number, fields


def header_fit(header: str, delimiter: str, names: Sequence[str]) -> tuple[int, int]:
    """How many of `names` this delimiter finds in the header, and how many columns it makes."""
    cells = [cell.strip() for cell in next(csv.reader([header], delimiter=delimiter), [])]
    return sum(name in cells for name in names), len(cells)
