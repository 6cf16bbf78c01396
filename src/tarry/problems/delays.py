"""Delays given by the user, as arrays of integers or refused."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tarry.arrays import IntArray
from tarry.checks import check_whole, is_missing, shortened
from tarry.errors import InputError

# A delay and its alias share one 64-bit integer, and the age of a play may be one more than D.
LARGEST_DELAY = 2**31 - 2

Where = Callable[[tuple[int, ...]], str]


def check_max_delay(max_delay: Any) -> int:
    """D as an int from 1 to 2**31 - 2."""
    return check_whole("max_delay", max_delay, 1, LARGEST_DELAY)


def check_delays(delays: Any, most: int, where: Where | None = None) -> IntArray:
    """`delays` as an int64 array if all are whole numbers from 0 to `most`.

    `where` puts the position of a delay in words, for the message.
    """
    array = check_numbers(delays, "The delays")
    with np.errstate(invalid="ignore"):
        good = (array >= 0) & (array <= most)
        if array.dtype.kind == "f":
            good &= array == np.floor(array)
    if not good.all():
        position = tuple(int(i) for i in np.argwhere(~good)[0])
        place = where(position) if where else ""
        value = array[position].item()
        raise InputError(
            f"The delay{place} is {value!r}; delays must be whole numbers from 0 to {most}."
        )
    return array.astype(np.int64)


def check_numbers(numbers: Any, what: str) -> Any:
    """`numbers` as an array of real numbers, NaN for missing ones; `what` is for messages.

    Missing is what a mask hides, and what data frames have for a number that is not there.
    """
    try:
        array = unmasked(numbers)
        if array.dtype == object:
            cells = [np.nan if is_missing(cell) else cell for cell in array.ravel().tolist()]
            array = np.array(cells, object).reshape(array.shape)
        if array.dtype == object or array.size == 0:
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.asarray(None)
    if array.dtype.kind not in "iuf":
        raise InputError(f"{what} are {shortened(numbers)}; they must be numbers.")
    return array


def unmasked(numbers: Any) -> Any:
    """An array of `numbers`, NaN where the mask of a masked array hides one."""
    if type(numbers) is np.ndarray:
        return numbers
    rows = numbers if isinstance(numbers, list | tuple) else [numbers]
    if not any(isinstance(row, np.ma.MaskedArray) for row in rows):
        return np.asarray(numbers)
    masked: Any = np.ma.array(numbers)
    if not np.ma.is_masked(masked):
        return masked.data
    return masked.astype(np.float64).filled(np.nan)


def column_names(table: Any) -> list[str] | None:
    """The names of the columns of a data frame or a table of pyarrow, None of anything else."""
    columns = getattr(table, "columns", None)
    if isinstance(getattr(table, "column_names", None), list):  # pyarrow, whose columns are arrays
        columns = table.column_names
    return None if columns is None else [str(name) for name in columns]


def check_names(names: Sequence[str] | None, arms: int, what: str = "arms") -> tuple[str, ...]:
    """Names of `arms` arms, all different; for None or () their numbers from 0."""
    if names is None or names == ():
        return tuple(str(arm) for arm in range(arms))
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InputError(f"The names are {shortened(names)}; they must be a list of strings.")
    if len(names) != arms:
        raise InputError(f"{arms} {what} were given {len(names)} names; each needs exactly one.")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"The name {name!r} is given to two {what}; names must differ.")
        seen.add(name)
    return tuple(names)
