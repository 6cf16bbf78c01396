"""Delays given by the user, as arrays of integers or refused."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tarry.arrays import IntArray
from tarry.checks import check_whole, shortened
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
        bad = ~((array >= 0) & (array <= most) & (array == np.floor(array)))
    if bad.any():
        position = tuple(int(i) for i in np.argwhere(bad)[0])
        place = where(position) if where else ""
        value = array[position].item()
        raise InputError(
            f"The delay{place} is {value!r}; delays must be whole numbers from 0 to {most}."
        )
    return array.astype(np.int64)


def check_numbers(numbers: Any, what: str) -> Any:
    """`numbers` as an array of real numbers; `what` names them in the message."""
    try:
        array = np.asarray(numbers)
        if array.dtype == object or array.size == 0:
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.asarray(None)
    if array.dtype.kind not in "iuf":
        raise InputError(f"{what} are {shortened(numbers)}; they must be numbers.")
    return array


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
