"""Logs: measured times, unfinished ones among them, and what they say about their arms."""

from tarry.logs.answers import Best, Curve, Curves, Difference, Differences, Mean, Means
from tarry.logs.log import Log
from tarry.logs.rows import BadRows

__all__ = [
    "BadRows",
    "Best",
    "Curve",
    "Curves",
    "Difference",
    "Differences",
    "Log",
    "Mean",
    "Means",
]
