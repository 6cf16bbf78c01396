"""A module that is reached through another."""


def halve(value: float) -> float:
    """Half of it."""
    return value / 2.0
