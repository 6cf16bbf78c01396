"""Why a user's rule cannot be compiled, in words."""

import re
from typing import Any

from tarry.compiled.inside import NumbaError
from tarry.errors import PolicyError
from tarry.inspection import is_namedtuple

# How lines begin in which Numba tells the story of the callers, before the cause.
_STORY = (
    "During:",
    "- ",
    "There are",
    "Overload ",
    "With argument",
    "Rejected as",
    "No implementation of function Function(<function ",
    "raised from",
    ">>>",
)

# Where the loop takes what `select` returned for an arm: the type of it.
_CHOSEN = re.compile(
    r">>> (?:book_start\(.*, (\S+), int64|resolve\(\w*World\(.*\), int64, (\S+)|lt\((none), .*)\)"
)


def why_not_compilable(value: Any, path: str = "rule") -> str | None:
    """What keeps a rule from compiled code before any of it is looked at; None if nothing does."""
    if is_namedtuple(value):
        if not value:
            return f"{path} is a NamedTuple without fields"
        reasons = (
            why_not_compilable(v, f"{path}.{f}") for f, v in zip(value._fields, value, strict=True)
        )
        return next((r for r in reasons if r is not None), None)
    if path == "rule":
        return f"its rule is a {type(value).__name__}, not a NamedTuple"
    if isinstance(value, (bool, int, float)) or hasattr(value, "dtype"):
        return None
    return f"{path} is a {type(value).__name__}, not a number, an array or a NamedTuple"


def in_words(error: Exception) -> str:
    """The telling line of what went wrong while compiling."""
    if isinstance(error, PolicyError):
        return str(error).rstrip(".")
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not isinstance(error, NumbaError):
        return f"Numba fails with {type(error).__name__} {' '.join(lines[:1])!r}"
    if "Cannot modify readonly array" in str(error):
        return "it writes to a read-only array; let `start` make a copy, as in array.copy()"
    chosen = _CHOSEN.search(str(error))
    kind = next(filter(None, chosen.groups())) if chosen else "int64"
    if not kind.startswith("int"):
        missing = kind == "none" or kind.startswith("Optional")
        return f"select {'does not always return an arm' if missing else f'returns a {kind}'}"
    told = [x for x in lines if not x.startswith(_STORY) and "Failed in nopython" not in x]
    return f"Numba says {(told or lines)[0].rstrip('.')!r}"
