"""From cells to plays: which arm, how long, finished or not; and which rows are none."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from tarry.checks import check_positive, shortened
from tarry.errors import InputError

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


def fields_of(
    arms: Sequence[Any],
    times: Sequence[Any],
    finished: Sequence[Any],
    starts: Sequence[Any] | None,
    *,
    max_delay: float,
    context: Mapping[str, Sequence[Any]],
    place_of: Callable[[int], str],
    decimal_comma: bool = False,
    faults: Mapping[int, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """The fields of a `Log`: plays in order, times cut at D, and the rows that are none."""
    most = check_positive("max_delay", max_delay)
    if decimal_comma:
        check_one_point("time", times)
    if starts is not None:
        check_one_clock(starts)
    rows: list[tuple[int, Row]] = []
    bad = BadRows()
    for place, row in parse_rows(
        arms, times, finished, starts, decimal_comma=decimal_comma, place_of=place_of
    ):
        fault = faults.get(place) or (row if isinstance(row, str) else "")
        if isinstance(row, Row) and not fault:
            rows.append((place, row))
        else:
            bad = BadRows(bad.number + 1, bad.first or fault)
    if not rows:
        raise InputError(f"The log has no plays. {bad}" if bad.number else "The log has no rows.")
    if starts is not None:
        rows.sort(key=lambda pair: pair[1].start)
    names = list(dict.fromkeys(row.arm for _, row in rows))
    number_of = {name: k for k, name in enumerate(names)}
    lasted = np.array([row.time for _, row in rows])
    return {
        "names": tuple(names),
        "arms": np.array([number_of[row.arm] for _, row in rows]),
        "times": np.minimum(lasted, most),
        "finished": np.array([row.finished for _, row in rows]) | (lasted >= most),
        "max_delay": most,
        "starts": None if starts is None else np.array([row.start for _, row in rows]),
        "context": {name: [values[p] for p, _ in rows] for name, values in context.items()},
        "bad": bad,
    }


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
    cell = as_date(cell)
    if isinstance(cell, datetime):
        zone = None if cell.utcoffset() is None else UTC
        return (cell - datetime(1970, 1, 1, tzinfo=zone)).total_seconds()
    if isinstance(cell, date):
        return (cell - date(1970, 1, 1)).total_seconds()
    value = number(cell, "start", decimal_comma=decimal_comma)
    if not math.isfinite(value):
        raise BadCellError(f"the start is {shortened(cell)}, not a time")
    return value


def as_date(cell: Any) -> Any:
    """A text in ISO 8601 as the date that it is; digits alone are a number."""
    if isinstance(cell, str) and not cell.strip().isdigit():
        try:
            return datetime.fromisoformat(cell.strip())
        except ValueError:
            return cell
    return cell


def check_one_clock(starts: Sequence[Any]) -> None:
    """Refuse starts of several kinds: nobody can say which of two is the earlier one."""
    seen: dict[str, Any] = {}
    for cell in starts:
        found = as_date(cell)
        if missing(cell) or (isinstance(found, str) and not is_number(found.replace(",", "."))):
            continue
        if isinstance(found, datetime) and found.utcoffset() is not None:
            kind = "dates with a time zone"
        else:
            kind = "dates without a time zone" if isinstance(found, date) else "numbers"
        seen.setdefault(kind, cell)
    if len(seen) > 1:
        told = " and ".join(f"{kind} ({shortened(str(cell))})" for kind, cell in seen.items())
        raise InputError(f"The starts are {told}; they must be of one kind.")


def check_one_point(what: str, cells: Sequence[Any]) -> None:
    """Refuse a column with points and commas: 1.234 may be a thousand times what it seems."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    points = (text for text in texts if "." in text and is_number(text))
    commas = (text for text in texts if "," in text and is_number(text.replace(",", ".")))
    point, comma = next(points, None), next(commas, None)
    if point is not None and comma is not None:
        raise InputError(
            f"The column with the {what} has both {point!r} and {comma!r}; all numbers must be "
            "written with a point, or all with a comma."
        )


def is_number(text: str) -> bool:
    """Whether this is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def missing(cell: Any) -> bool:
    """Whether there is nothing: None, NaN, or what pandas has in its place."""
    if cell is None:
        return True
    try:
        return bool(cell != cell)  # noqa: PLR0124  # nothing but NaN and NaT is unequal to itself
    except TypeError:  # pandas.NA is neither equal nor unequal
        return True
