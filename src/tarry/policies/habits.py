"""Habits of Python that do not work in a rule: each is refused in a sentence that says what does.

Only rules from outside the package are looked at, by their code, once for each class.
"""

import functools
import random
import sysconfig
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import numpy as np

from tarry.errors import PolicyError
from tarry.inspection import (
    assigned_attributes,
    in_package,
    is_namedtuple,
    methods_of,
    named_values,
)

_LIBRARIES = tuple({sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib")})
_GENERATORS = (random.Random, np.random.RandomState, np.random.Generator)


def check_habits(rule: Any, called: tuple[str, ...]) -> None:
    """Refuse a rule that assigns its fields, or draws from a generator of its own.

    Args:
        rule: The rule; the rules inside it are looked at as well.
        called: Names of the methods that a rule is called by.
    """
    cls: type = type(rule)
    if not in_package(cls):
        _check_class(cls, called)
    if is_namedtuple(rule):
        for field in filter(is_namedtuple, rule):
            check_habits(field, called)


@functools.lru_cache(maxsize=256)  # reading code takes as long as thousands of steps
def _check_class(cls: type, called: tuple[str, ...]) -> None:
    fields = getattr(cls, "_fields", ())
    for function in _reached(cls, called):
        path = function.__code__.co_filename
        for name, line in assigned_attributes(function):
            if name in fields:
                raise PolicyError(
                    f"{function.__qualname__} assigns {name}, a field of the NamedTuple "
                    f"{cls.__name__}, which cannot be changed ({path}, line {line}); let `start` "
                    f"make an array of it and change its element, as in self.{name}[0] += 1."
                )
        for named in named_values(function):
            if _draws(named.value):
                raise PolicyError(
                    f"{function.__qualname__} draws from {named.text}, which knows nothing of the "
                    f"run's seed ({path}, line {named.line}); draw from the `rng` that the method "
                    f"is given, as in rng.random()."
                )


def _reached(cls: type, called: tuple[str, ...]) -> Iterator[FunctionType]:
    """The methods called from outside, and what they call of the class and of plain functions."""
    methods = dict(methods_of(cls))
    waiting = [methods[name] for name in called if name in methods]
    seen: set[FunctionType] = set()
    while waiting:
        function = waiting.pop()
        if function in seen or in_package(function) or _of_a_library(function):
            continue  # who installs a library does not want to hear of its habits
        seen.add(function)
        yield function
        waiting += [methods[name] for name in function.__code__.co_names if name in methods]
        waiting += [n.value for n in named_values(function) if isinstance(n.value, FunctionType)]


def _of_a_library(function: FunctionType) -> bool:
    return function.__code__.co_filename.startswith(_LIBRARIES)


def _draws(value: Any) -> bool:
    """Whether a value is a generator, a method of one, or makes one: np.random.rand, say."""
    owner = getattr(value, "__self__", value)
    return isinstance(owner, _GENERATORS) or value is np.random.default_rng
