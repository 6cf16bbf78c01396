"""From cells to plays: which arm, how long, finished or not; and which rows are none."""

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from tarry.checks import shortened

TRUE = {"true", "t", "yes", "y", "1", "1.0"}
FALSE = {"false", "f", "no", "n", "0", "0.0"}


class BadRows(NamedTuple):
    """Rows that are no plays: how many, and the first of them in words."""

    number: int = 0
    first: str = ""

    def __str__(self) -> str:
        if not self.number:
            return "No bad rows."
        what = "1 bad row was" if self.number == 1 else f"{self.number} bad rows were"
        return f"{what} left out; the first: {self.first}."


class Row(NamedTuple):
    """A play as it was written down."""

    arm: str
    time: float
    finished: bool
    start: float


class BadCellError(ValueError):
    """A cell that cannot be what it should be."""


def parse_rows(
    arms: Sequence[Any],
    times: Sequence[Any],
    finished: Sequence[Any],
    starts: Sequence[Any] | None,
    *,
    decimal_comma: bool,
    place_of: Callable[[int], str],
) -> Iterator[tuple[int, Row | str]]:
    """Each row with its place: a play, or what is wrong with it."""
    no_start = [0.0] * len(arms)
    for place, (arm, time, end, start) in enumerate(
        zip(arms, times, finished, no_start if starts is None else starts, strict=True)
    ):
        try:
            row = Row(
                arm_name(arm),
                duration(time, decimal_comma=decimal_comma),
                truth(end),
                0.0 if starts is None else moment(start, decimal_comma=decimal_comma),
            )
        except BadCellError as error:
            yield place, f"{place_of(place)}: {error}"
        else:
            yield place, row


def arm_name(cell: Any) -> str:
    """The name of an arm; whole numbers are names too."""
    if missing(cell) or not str(cell).strip():
        raise BadCellError("the arm is empty")
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))  # pandas makes floats of whole numbers next to an empty cell
    return str(cell).strip()


def duration(cell: Any, *, decimal_comma: bool) -> float:
    """A time that is at least 0; a timedelta counts in seconds."""
    if missing(cell) or cell == "":
        raise BadCellError("the time is empty")
    value = number(cell, "time", decimal_comma=decimal_comma)
    if not 0 <= value < math.inf:
        raise BadCellError(f"the time is {shortened(cell)}, not a number from 0 on")
    return value


def number(cell: Any, what: str, *, decimal_comma: bool) -> float:
    """A cell as a number."""
    if isinstance(cell, timedelta):  # those of pandas and polars, too
        return cell.total_seconds()
    text = cell
    if isinstance(cell, str) and decimal_comma and "." not in cell and cell.count(",") == 1:
        text = cell.replace(",", ".")
    try:
        if isinstance(cell, bool) or (isinstance(text, str) and "_" in text):
            raise ValueError  # noqa: TRY301  # Python reads 1_000 and True as numbers; people do not
        return float(text)
    except (TypeError, ValueError):
        raise BadCellError(f"the {what} is {shortened(cell)}, not a number") from None


def truth(cell: Any) -> bool:
    """Whether a play is finished."""
    word = str(cell).strip().lower()
    if not missing(cell) and word in TRUE:
        return True
    if not missing(cell) and word in FALSE:
        return False
    raise BadCellError(f"finished is {shortened(cell)}, not one of true, false, yes, no, 1, 0")


def moment(cell: Any, *, decimal_comma: bool) -> float:
    """When a play started: a number, a date, or an ISO 8601 text; in seconds if it is a date."""
    if missing(cell) or cell == "":
        raise BadCellError("the start is empty")
    if isinstance(cell, str):
        try:
            cell = datetime.fromisoformat(cell)
        except ValueError:
            value = number(cell, "start", decimal_comma=decimal_comma)
            if not math.isfinite(value):
                raise BadCellError(f"the start is {shortened(cell)}, not a time") from None
            return value
    if isinstance(cell, datetime):
        zero = datetime(1970, 1, 1, tzinfo=cell.tzinfo)
        return (cell - zero).total_seconds()
    if isinstance(cell, date):
        return (cell - date(1970, 1, 1)).total_seconds()
    return number(cell, "start", decimal_comma=decimal_comma)


def missing(cell: Any) -> bool:
    """Whether there is nothing: None, NaN, or what pandas has in its place."""
    if cell is None:
        return True
    try:
        return bool(cell != cell)  # noqa: PLR0124  # nothing but NaN and NaT is unequal to itself
    except TypeError:  # pandas.NA is neither equal nor unequal
        return True
