"""What Numba is taught: the methods of NamedTuples, and plain functions.

Rules, the ledger and the world are NamedTuples with ordinary methods and know nothing of a
compiler. Numba learns here that a method called on such a tuple is the method of its Python class,
and that a plain function named in such a method may be called as well. `hasattr` tells the truth
about both, when the code is compiled: so a hook that a class lacks costs nothing.

Our own code is compiled as it is, for speed. A user's code is compiled with bounds checks, and so
is everything of ours that a user's code calls: an index out of range is an `IndexError`, never a
wrong number or a crash.
"""

import inspect
import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from tarry.compiled.inside import (
    Options,
    Taught,
    caller_checks_bounds,
    caller_counts_references,
    has_form,
    overload_function,
    overload_method,
)
from tarry.errors import PolicyError
from tarry.inspection import in_package, is_namedtuple, methods_of, named_values

# A tuple of arrays is passed as dozens of words with a counted reference for each array. Counting
# them costs five times the work itself, and nothing in our own loop ever creates an array: it is
# compiled without reference counts, and what it calls is inlined.
BARE: Options = {"_nrt": False, "forceinline": True, "error_model": "numpy"}
UNCOUNTED: Options = {"_nrt": False, "forceinline": False, "error_model": "numpy"}
COUNTED: Options = {"_nrt": True, "forceinline": False, "error_model": "numpy"}

_KNOWN_TO_NUMBA = ("numpy", "numba")  # packages whose functions Numba has its own versions of
_forms: dict[str, Taught] = {}  # of methods, as known to Numba
_functions: set[FunctionType] = set()
_classes: set[type] = set()
_making_arrays: set[type] = set()
_never_inlined: set[Any] = set()


def admit(cls: type) -> None:
    """Make the methods of a NamedTuple class, and what they call, usable in compiled code."""
    if cls in _classes:
        return
    for name, method in methods_of(cls):
        if not inspect.signature(method).parameters:  # it cannot be called on a tuple
            continue
        _teach_method(name, method)
        admit_functions(method)
    _classes.add(cls)


def admit_modules(*prefixes: str) -> None:
    """Admit the NamedTuples of our own modules."""
    for module in [m for name, m in sys.modules.items() if name.startswith(prefixes)]:
        for member in list(vars(module).values()):
            if isinstance(member, type) and hasattr(member, "_fields") and in_package(member):
                admit(member)


def admit_value(value: Any) -> None:
    """Admit the class of a NamedTuple and of all NamedTuples inside it."""
    if is_namedtuple(value):
        admit(type(value))
        for field in value:
            admit_value(field)


def admit_functions(function: Any) -> None:
    """Make the plain functions that `function` names callable from compiled code, recursively."""
    if not in_package(function) and "flat" in function.__code__.co_names:
        raise PolicyError(
            f"{function.__qualname__} uses .flat, whose indices compiled code does not check."
        )
    for helper in _named_by(function):
        if not isinstance(helper, FunctionType) or helper in _functions:
            continue
        if helper.__module__.partition(".")[0] not in _KNOWN_TO_NUMBA:
            _functions.add(helper)
            _teach_function(helper)
            admit_functions(helper)


def allow_arrays(value: Any) -> None:
    """Let the methods of a user's rule create arrays, for which references must be counted."""
    if is_namedtuple(value):
        _making_arrays.add(type(value))
        for field in value:
            allow_arrays(field)


def never_inline(*functions: Any) -> None:
    """Functions of ours that are called as they are: long ones, which many places call."""
    _never_inlined.update(functions)


def _named_by(function: FunctionType) -> Iterator[Any]:
    """What a function names. Our own name their helpers without a module: no need to read more."""
    if in_package(function):
        return map(function.__globals__.get, function.__code__.co_names)
    return (named.value for named in named_values(function))


def _teach_method(name: str, method: FunctionType) -> None:
    """One registration per form of methods: the class of the tuple decides what is called.

    Numba asks the resolver what the method takes, so it says of itself what the method would say.
    """
    signature = inspect.signature(method)
    form = f"{name}{signature}"
    if form not in _forms:

        def resolve(me: Any, /, *_: Any, **__: Any) -> Any:
            return getattr(me.instance_class, name)

        resolve.__signature__ = signature  # type: ignore[attr-defined]  # which `inspect` asks for
        _forms[form] = overload_method(form, resolve, _options)
    has_form(method, _forms[form])


def _teach_function(function: FunctionType) -> None:
    overload_function(function, lambda *_, **__: function, _options)


def _options(function: FunctionType, arguments: tuple[Any, ...]) -> Options:
    """How a function is compiled for the caller that is being compiled just now."""
    if in_package(function):
        options = UNCOUNTED if function in _never_inlined else BARE
        return {**options, "boundscheck": caller_checks_bounds()}
    cls = getattr(arguments[0], "instance_class", None) if arguments else None
    counted = caller_counts_references() or cls in _making_arrays
    return {**(COUNTED if counted else UNCOUNTED), "boundscheck": True}
