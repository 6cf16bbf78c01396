"""Functions that a rule reaches through modules."""

from tests.compiled.helpers import deeper as deeper  # a module inside a module


def double(value: float) -> float:
    """Calls another function of its own module."""
    return 2.0 * same(value)


def same(value: float) -> float:
    """Called by a helper only."""
    return value
