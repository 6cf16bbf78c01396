"""Checks of arguments at the border, each refusing in one sentence."""

import operator
from typing import Any

from tarry.errors import InputError, PayoffError


def check_payoff(payoff: object) -> bool:
    """Whether `payoff` is "reward" (else it is "cost"; anything else is refused)."""
    if isinstance(payoff, str) and payoff in ("cost", "reward"):
        return payoff == "reward"
    raise PayoffError(f"The payoff is {payoff!r}; it must be 'cost' or 'reward'.")


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """`value` as an int if it is a whole number from `least` to `most`; 1e6 counts as whole."""
    limits = f"at least {least}" if most is None else f"from {least} to {most}"
    whole = as_whole(value)
    if whole is None or whole < least or (most is not None and whole > most):
        raise InputError(f"The {name} is {value!r}; it must be a whole number {limits}.")
    return whole


def as_whole(value: Any) -> int | None:
    """`value` as an int, or None if it is no whole number (booleans are none)."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        pass
    try:
        number = float(value) if not isinstance(value, str) else float("nan")
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if number.is_integer() else None
