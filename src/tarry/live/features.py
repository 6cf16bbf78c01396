"""What an agent is told of a request: a dict of values, and the numbers that a rule sees.

    ["phone", "desktop"]     one of a few: a column for each, 1 for the value that it has
    float                    a number, as it is; the rule scales it
    numeric(log=True)        its logarithm, for what spans orders of magnitude
    numeric(curve=True)      also its square, where the middle may be best
    numeric(missing=-1)      a number, where -1 stands for one that is not known
    cyclic(24)               a time of day, or of a week: sine and cosine, so that 23 is next to 0

What is missing or unknown is NaN in all its columns, which a rule takes for the mean.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tarry.checks import (
    check_positive,
    check_proper,
    check_shown,
    check_truth,
    cut,
    is_missing,
    shortened,
)
from tarry.errors import InputError
from tarry.policies.contexts.scaler import LARGEST


class Numeric(NamedTuple):
    """A number; made by `numeric`."""

    log: bool = False
    curve: bool = False
    missing: float | None = None


class Cyclic(NamedTuple):
    """A number that comes round; made by `cyclic`."""

    period: float


def numeric(*, log: bool = False, curve: bool = False, missing: float | None = None) -> Numeric:
    """A feature that is a number: by its logarithm, and with its square, if asked for.

    What has no logarithm, 0 and below, counts as unknown. `missing` is a number that stands for
    "not known", such as -9999: left in, a few of them would widen the scale of the feature until
    nothing is left of it.

    >>> numeric(log=True)
    Numeric(log=True, curve=False, missing=None)
    """
    check_truth("log", log)
    check_truth("curve", curve)
    if missing is None:
        return Numeric(log, curve)
    stands_in = _float("missing", missing, sys.float_info.max)
    if not math.isfinite(stands_in):
        raise InputError(f"missing is {shortened(missing)}; it must be a number, or None.")
    return Numeric(log, curve, stands_in)


def cyclic(period: float) -> Cyclic:
    """A feature that comes round after `period`, such as 24 for the hour of a day.

    >>> cyclic(24)
    Cyclic(period=24.0)
    """
    return Cyclic(check_positive("period", period))


MOST_COLUMNS = 1000  # 32 MB for each arm
TAKEN = "status"  # what `history()` says of each play, beside its features


class Features:
    """The features of an agent, in order, and how values become numbers.

    >>> features = Features({"device": ["phone", "desktop"], "size": float, "hour": cyclic(24)})
    >>> features.columns
    ('device=phone', 'device=desktop', 'size', 'hour (sine)', 'hour (cosine)')
    >>> features.numbers({"device": "desktop", "size": 3.5, "hour": 6})
    ([0.0, 1.0, 3.5, 1.0, 0.0], 0, 0)
    """

    def __init__(self, given: Any) -> None:
        if not isinstance(given, Mapping) or not given:
            raise InputError(f"features is {shortened(given)}; give a dict of names and kinds.")
        if TAKEN in given:
            raise InputError(f"The name {TAKEN!r} is taken, by a column of the history; rename it.")
        self.kinds = {name: _kind(name, kind) for name, kind in given.items()}
        self.columns = tuple(c for name, kind in self.kinds.items() for c in _columns(name, kind))
        if len(self.columns) > MOST_COLUMNS:
            raise InputError(
                f"The features make {len(self.columns)} columns, and at most {MOST_COLUMNS} are "
                f"taken: what a choice costs grows with their square, and so does memory. Give "
                f"fewer, or join rare values of a list into one."
            )

    def check_proper(self) -> None:
        """Refuse names and listed values that nobody can send or write."""
        for name, kind in self.kinds.items():
            check_proper(name, "name of a feature")
            for value in () if isinstance(kind, Numeric | Cyclic) else kind:
                check_proper(value, f"value of the feature {name!r}")

    def check_shown(self) -> None:
        """Refuse names and listed values that break tables; those of an old journal may."""
        self.check_proper()
        check_shown(self.kinds, "name of a feature")
        for name, kind in self.kinds.items():
            if not isinstance(kind, Numeric | Cyclic):
                check_shown(kind, f"value of the feature {name!r}")

    def described(self) -> list[list[Any]]:
        """All of it in plain lists, for a store."""
        found: list[list[Any]] = []
        for name, kind in self.kinds.items():
            if isinstance(kind, Numeric):
                stands_in = [] if kind.missing is None else [kind.missing]
                found.append([name, "number", kind.log, kind.curve, *stands_in])
            elif isinstance(kind, Cyclic):
                found.append([name, "cyclic", kind.period])
            else:
                found.append([name, "one of", *kind])
        return found

    def checked(self, context: Any) -> dict[str, Any]:
        """A context with known keys only, and values that a store can keep."""
        if context is None:
            return {}
        if not isinstance(context, Mapping):
            raise InputError(f"The context is {shortened(context)}; give a dict of values by name.")
        found = {}
        for name, value in context.items():
            if name not in self.kinds:
                raise InputError(
                    f"The context has {name!r}; the features of this agent are "
                    f"{', '.join(self.kinds)}."
                )
            plain = _plain(name, self.kinds[name], value)
            if plain is not None:
                found[name] = plain
        return found

    def numbers(self, context: Mapping[str, Any]) -> tuple[list[float], int, int]:
        """The numbers of a checked context, and how many values are missing and unknown."""
        found: list[float] = []
        missing = unknown = 0
        for name, kind in self.kinds.items():
            value = context.get(name)
            if value is None:
                missing += 1
                found += [math.nan] * _width(kind)
            elif isinstance(kind, Numeric):
                x = float(value)
                if kind.log:
                    x = math.log(x) if x > 0.0 else math.nan
                unknown += math.isnan(x)
                found += [x, x * x] if kind.curve else [x]
            elif isinstance(kind, Cyclic):
                angle = 2.0 * math.pi * (float(value) % kind.period / kind.period)
                found += [round(math.sin(angle), 15), round(math.cos(angle), 15) + 0.0]
            elif value in kind:
                found += [float(value == one) for one in kind]
            else:
                unknown += 1
                found += [math.nan] * len(kind)
        return found, missing, unknown

    def groups(self, numbers: Sequence[float]) -> list[tuple[str, slice]]:
        """For each feature its columns, and its name with the value of a request if it is a text.

        >>> Features({"device": ["phone", "desktop"], "size": float}).groups([0.0, 1.0, 3.5])
        [('device=desktop', slice(0, 2, None)), ('size', slice(2, 3, None))]
        """
        found = []
        first = 0
        for name, kind in self.kinds.items():
            columns = _columns(name, kind)
            part = slice(first, first + len(columns))
            label = name
            if not isinstance(kind, Numeric | Cyclic):
                label = next(
                    (c for c, x in zip(columns, numbers[part], strict=True) if x == 1), name
                )
            found.append((label, part))
            first += len(columns)
        return found


def features_from(described: Sequence[Sequence[Any]]) -> Features | None:
    """The features that a store describes, None if there are none."""
    kinds: dict[str, Any] = {}
    for name, kind, *rest in described:
        if kind == "one of":
            kinds[name] = rest
        else:
            kinds[name] = Numeric(*rest) if kind == "number" else Cyclic(*rest)
    return Features(kinds) if kinds else None


def same_features(one: Sequence[Sequence[Any]], other: Sequence[Sequence[Any]]) -> bool:
    """Whether two descriptions are of the same features, in whatever order they were given."""
    first, second = ({name: list(kind) for name, *kind in each} for each in (one, other))
    return first == second


def in_words(described: Sequence[Sequence[Any]]) -> str:
    """Features for people to read.

    >>> in_words(Features({"x": float, "l": numeric(log=True), "kind": ["a", "b"]}).described())
    'x (a number), l (a number, log), kind (one of a, b)'
    """
    features = features_from(described)
    if features is None:
        return "no features"
    return cut(", ".join(f"{name} ({_said(kind)})" for name, kind in features.kinds.items()), 300)


def _said(kind: Any) -> str:
    if isinstance(kind, Numeric):
        marks = [f", {what}" for what in ("log", "curve") if getattr(kind, what)]
        stands_in = "" if kind.missing is None else f", missing {kind.missing:g}"
        return f"a number{''.join(marks)}{stands_in}"
    if isinstance(kind, Cyclic):
        return f"cyclic, {kind.period:g}"
    return f"one of {', '.join(kind)}"


def _kind(name: Any, kind: Any) -> Any:
    """A kind in the form that is kept: Numeric, Cyclic or a tuple of texts."""
    if not isinstance(name, str) or not name:
        raise InputError(f"A feature is called {name!r}; give text that is not empty.")
    if kind is float or kind is int:
        return Numeric()
    if isinstance(kind, Numeric | Cyclic):
        return kind
    listed = list(kind) if isinstance(kind, list | tuple | set | frozenset) else []
    texts = all(isinstance(value, str) for value in listed)
    if texts and isinstance(kind, set | frozenset):
        listed.sort()  # the order of a set is another one in the next process
    if not listed or not texts or len(set(listed)) < len(listed):
        raise InputError(
            f"The feature {name!r} is {shortened(kind)}; give float, tarry.numeric(...), "
            f"tarry.cyclic(period) or a list of different texts."
        )
    return tuple(listed)


def _columns(name: str, kind: Any) -> list[str]:
    if isinstance(kind, Numeric):
        first = f"log {name}" if kind.log else name
        return [first, f"{first} squared"] if kind.curve else [first]
    if isinstance(kind, Cyclic):
        return [f"{name} (sine)", f"{name} (cosine)"]
    return [f"{name}={value}" for value in kind]


def _width(kind: Any) -> int:
    return len(_columns("", kind))


def _plain(name: str, kind: Any, value: Any) -> Any:
    """A value of a context for a store; None if it is missing."""
    if is_missing(value):
        return None
    if isinstance(kind, Numeric | Cyclic):
        return _number(name, kind, value)
    if not isinstance(value, str):
        raise InputError(f"The feature {name!r} is {shortened(value)}; it must be a text, or None.")
    if value not in kind:
        check_proper(value, f"value of the feature {name!r}")
    return value


def _no_truth(value: Any) -> Any:
    """What may be a number: no text, neither true nor false, and no list of one."""
    if isinstance(value, str | bytes | bool | np.bool_) or np.ndim(value) > 0:
        raise TypeError
    return value


def _number(name: str, kind: Numeric | Cyclic, value: Any) -> float | None:
    """A number for a store; None for NaN, or what stands for a value that is missing."""
    most, called = _most(kind), f"The feature {name!r}"
    number = _float(called, value, most)
    if math.isnan(number) or (isinstance(kind, Numeric) and number == kind.missing):
        return None
    if math.isinf(number):
        raise InputError(f"{called} is infinite; it must be a number, or None.")
    if abs(number) > most:
        raise _too_large(called, value, most)
    return number


def _most(kind: Numeric | Cyclic) -> float:
    """The largest number that a rule does not take for a missing one, in all of its columns."""
    if isinstance(kind, Cyclic) or kind.log:
        return sys.float_info.max
    return math.sqrt(LARGEST) if kind.curve else LARGEST


def _float(called: str, value: Any, most: float) -> float:
    """A number as a float, which may be NaN or, if it was infinite before, infinite."""
    try:
        number = float(_no_truth(value))
    except OverflowError:
        raise _too_large(called, value, most) from None
    except (TypeError, ValueError):
        raise InputError(f"{called} is {shortened(value)}; it must be a number, or None.") from None
    if math.isinf(number) and value != number:  # a Decimal, or a longer float
        raise _too_large(called, value, most)
    return number


def _too_large(called: str, value: Any, most: float) -> InputError:
    return InputError(
        f"{called} is {shortened(value)}, which is too large; it must be a number between "
        f"-{most:.3g} and {most:.3g}, or None."
    )
