"""Functions that a rule reaches through modules."""

from typing import Any

import numba

from tests.compiled.helpers import deeper as deeper  # a module inside a module


def double(value: float) -> float:
    """Calls another function of its own module."""
    return 2.0 * same(value)


def same(value: float) -> float:
    """Called by a helper only."""
    return value


def _factorial(number: int) -> int:
    return number * factorial(number - 1) if number > 1 else 1


# A function of the user's own Numba may call itself.
factorial: Any = numba.njit(_factorial)


def refuse(number: int) -> int:
    """Raises with a value that is known only when it runs."""
    if number > 3:
        raise ValueError("too large", number)
    return number
