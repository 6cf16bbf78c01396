"""Checks of arguments at the border, each refusing in one sentence."""

import operator
from collections.abc import Iterable
from typing import Any
from unicodedata import category

import numpy as np

from tarry.errors import InputError, PayoffError

MOST_BYTES = 4 * 2**30  # of the tables of one run


def check_payoff(payoff: object) -> bool:
    """Whether `payoff` is "reward" (else it is "cost"; anything else is refused)."""
    if isinstance(payoff, str) and payoff in ("cost", "reward"):
        return payoff == "reward"
    raise PayoffError(f"The payoff is {shortened(payoff)}; it must be 'cost' or 'reward'.")


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """`value` as an int if it is a whole number from `least` to `most`; 1e6 counts as whole."""
    limits = f"at least {least}" if most is None else f"from {least} to {most}"
    whole = as_whole(value)
    if whole is None or whole < least or (most is not None and whole > most):
        raise InputError(f"The {name} is {shortened(value)}; it must be a whole number {limits}.")
    return whole


def check_positive(name: str, value: Any) -> float:
    """`value` as a float if it is a positive finite number."""
    number = as_real(value)
    if number is None or not 0 < number < float("inf"):
        raise InputError(f"The {name} is {shortened(value)}; it must be a positive number.")
    return number


def check_number(name: str, value: Any, least: float) -> float:
    """`value` as a float if it is a finite number of at least `least`."""
    number = as_real(value)
    if number is None or not least <= number < float("inf"):
        raise InputError(
            f"The {name} is {shortened(value)}; it must be a number from {least:g} on."
        )
    return number


def as_real(value: Any) -> float | None:
    """`value` as a float, None if it is no number or larger than any float (True is none)."""
    if not isinstance(value, int | float | np.integer | np.floating) or value is True:
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def check_shown(names: Iterable[str], what: str = "name") -> None:
    """Refuse names, or other texts that tables show, that do not stay on their line."""
    for name in names:
        if any(category(character) == "Cc" for character in name):
            raise InputError(
                f"The {what} {shortened(name)} cannot be shown; leave out control characters."
            )


def check_proper(text: str, what: str) -> None:
    """Refuse half a character, which Python's texts can have and no file: histories are written."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"The {what} {shortened(text)} has characters that no file can hold; give proper text."
        ) from error


def check_truth(name: str, value: Any) -> bool:
    """`value` if it is True or False: a text such as "no" would count as true."""
    if not isinstance(value, bool):
        raise InputError(f"{name} is {shortened(value)}; it must be True or False.")
    return value


def check_memory(size: int, what: str, cure: str) -> None:
    """Refuse tables that would not fit, and say how large they would be."""
    if size > MOST_BYTES:
        raise InputError(
            f"{what} would take {as_size(size)} of memory in a run, more than "
            f"{as_size(MOST_BYTES)}; take {cure}."
        )


def as_size(size: int) -> str:
    """A number of bytes for people."""
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.1f} MiB"


def is_missing(value: Any) -> bool:
    """None, NaN, and what data frames have for a value that is not there."""
    if value is None:
        return True
    try:
        return not operator.eq(value, value)  # NaN and NaT are not equal to themselves
    except (TypeError, ValueError, ArithmeticError):
        return type(value).__name__ == "NAType"  # of pandas: it is neither true nor false


def as_index(value: Any) -> int | None:
    """`value` as an int if it is of a type of whole numbers, so not for 1.0 or True; else None."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def as_whole(value: Any) -> int | None:
    """`value` as an int, or None if it is no whole number (booleans are none)."""
    if isinstance(value, bool | np.bool_ | str):
        return None
    try:
        return operator.index(value)
    except TypeError:
        pass
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if number.is_integer() else None


def shortened(value: object, width: int = 60) -> str:
    """The repr of `value` on one line, cut to `width` characters."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python prints no number of many thousand digits
        return "a number too long to print"
    return cut(text, width)


def cut(text: str, width: int) -> str:
    """The text, with dots for what is beyond `width` characters."""
    return text if len(text) <= width else text[: width - 3] + "..."


def check_share(name: str, value: Any) -> float:
    """`value` as a float if it is a number strictly between 0 and 1."""
    real = isinstance(value, int | float | np.integer | np.floating)
    if not real or not 0 < value < 1:
        raise InputError(f"The {name} is {shortened(value)}; it must be above 0 and below 1.")
    return float(value)
