"""The bridge: lets compiled code call the plain methods of rules, ledgers and worlds.

Policies, the ledger and the world are NamedTuples with ordinary methods and know nothing of a
compiler. This module teaches Numba two things about them: a method called on such a tuple is the
method of its Python class, and a plain function named in such a method may be called as well.
It also owns the cache of machine code on disk.

The cache. Numba notices a change only in the file of the function it compiles, not in the files
of what that function calls, and would go on using stale machine code. Cached code is therefore
kept in a directory named after a fingerprint of all sources that a run depends on. A process that
loaded sources which have changed since keeps its code to itself, and rules from outside the package
are never cached on disk.
"""

import contextlib
import functools
import hashlib
import inspect
import os
import shutil
import sys
import types as python_types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.extending import overload, overload_method, register_jitable

from tarry.errors import PolicyError
from tarry.fingerprint import changed_since_import, source_fingerprint
from tarry.policies import protocol

PACKAGE = "tarry"
# A tuple of arrays is passed as dozens of words with a counted reference for each array. Counting
# them costs five times the work itself, and nothing in our own loop ever creates an array: it is
# compiled without reference counts, and what it calls is inlined.
_BARE = {"_nrt": False, "forceinline": True, "error_model": "numpy"}
# Draws are long and called from many places: inlined everywhere, they take a minute to compile.
_AS_CALLS = ("exponential", "beyond_tail", "under_curve", "beta_of_small")
_COUNTED = {"_nrt": True, "error_model": "numpy"}
_OWN_CLASSES = (
    "tarry.policies",
    "tarry.ledger",
    "tarry.plays",
    "tarry.randomness",
    "tarry.problems.world",
    "tarry.simulation",
)
_OF_EVERY_NAMEDTUPLE = ("_asdict", "_make", "_replace")
_methods: dict[str, tuple[str, ...]] = {}  # method name -> parameter names known to Numba
_helpers: set[python_types.FunctionType] = set()
_admitted: set[type] = set()


def admit(cls: type) -> None:
    """Make the methods of a NamedTuple class, and what they call, usable in compiled code."""
    if cls in _admitted:
        return
    for name, method in _methods_of(cls):
        parameters = tuple(inspect.signature(method).parameters)
        if name not in _methods:
            _methods[name] = parameters
            _register_method(name, parameters, bare=_in_package(cls))
        if _methods[name] != parameters:
            raise PolicyError(
                f"{cls.__name__}.{name} takes ({', '.join(parameters)}), but compiled code knows "
                f"{name} with ({', '.join(_methods[name])}); name its parameters so, or rename it."
            )
        _admit_functions(method)
    _admitted.add(cls)


def admit_package() -> None:
    """Admit all our own classes, so that no user's method can take one of their names first."""
    for module in [m for name, m in sys.modules.items() if name.startswith(_OWN_CLASSES)]:
        for member in list(vars(module).values()):
            if isinstance(member, type) and hasattr(member, "_fields") and _in_package(member):
                admit(member)


def admit_value(value: Any) -> None:
    """Admit the class of a NamedTuple and of all NamedTuples inside it."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        admit(type(value))
        for field in value:
            admit_value(field)


def why_not_compilable(value: Any, path: str = "rule") -> str | None:
    """What keeps a rule from compiled code, in words; None if nothing does."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
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


def is_ours(value: Any) -> bool:
    """Whether a rule and everything in it is defined by this package, so that caching is safe."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _in_package(type(value)) and all(is_ours(field) for field in value)
    return True


def compiled(function: Callable[..., Any], *, cached: bool) -> Any:
    """Compile `function` on first use; with `cached`, keep the machine code on disk."""
    _admit_functions(function)
    options = {**_COUNTED, "nogil": True}
    directory = cache_directory() if cached else None
    if directory is None:
        return numba.njit(**options)(function)
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]  # set when Numba is imported
    numba.config.CACHE_DIR = str(directory)  # type: ignore[attr-defined]  # see above
    try:
        return numba.njit(cache=True, **options)(function)
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]  # see above


@functools.cache
def cache_directory() -> Path | None:
    """The directory of machine code made from exactly these sources, created if need be.

    None if it is not known what this process has loaded, or if no place can be written to.
    """
    package = Path(__file__).parent.parent
    if changed_since_import():
        return None
    name = f"compiled-{source_fingerprint()}-{_toolchain()}"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    places = [Path(chosen)] if chosen else [package / "__pycache__"]
    for place in [*places, *_user_cache()]:
        directory = place / name
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(directory, os.W_OK):
            _drop_older(place, keep=name)
            return directory
    return None


def _toolchain() -> str:
    """A hash over the versions of Numba and Python, which decide the machine code as well."""
    return hashlib.sha256(f"{numba.__version__} {sys.version}".encode()).hexdigest()[:8]


def _user_cache() -> list[Path]:
    """The user's own cache folder, if the user has a home."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return [(Path(base) if base else Path.home() / ".cache") / PACKAGE]
    except RuntimeError:
        return []


def _drop_older(place: Path, keep: str, spared: int = 2) -> None:
    """Delete all but the newest few directories of other sources; going back to one is cheap."""
    ages = []
    for directory in place.glob("compiled-*"):
        with contextlib.suppress(OSError):  # another process may be deleting it just now
            ages.append((directory.stat().st_mtime, directory))
    others = [directory for _, directory in sorted(ages, reverse=True) if directory.name != keep]
    for old in others[spared:]:
        shutil.rmtree(old, ignore_errors=True)


def _methods_of(cls: type) -> Iterator[tuple[str, python_types.FunctionType]]:
    for name, member in vars(cls).items():
        own = not name.startswith("__") and name not in _OF_EVERY_NAMEDTUPLE
        if own and isinstance(member, python_types.FunctionType):
            yield name, member


def _register_method(name: str, parameters: tuple[str, ...], *, bare: bool) -> None:
    """One registration per method name: the class of the tuple decides what is called.

    Numba matches the parameter names of the resolver with those of the method, so the resolver is
    written with the same ones.
    """
    me = parameters[0]
    resolve = _written(
        f"def resolve({', '.join(parameters)}):\n    return pick({me}.instance_class, {name!r})\n",
        {"pick": _implementation},
    )
    options = _BARE if bare else _COUNTED
    if name in _AS_CALLS:
        options = {**_BARE, "forceinline": False}
    from numba.core.typing import templates

    kwargs = {"strict": False, "jit_options": options}
    base = templates.make_overload_method_template(
        types.BaseNamedTuple, name, overload_func=resolve, inline="never", **kwargs
    )

    class FieldsFirst(base):
        def _resolve(self, typ, attr):
            return None if attr in getattr(typ, "fields", ()) else super()._resolve(typ, attr)

    templates.infer_getattr(FieldsFirst)
    overload(resolve, **kwargs)(resolve)


def _implementation(cls: type, name: str) -> Any:
    """What compiled code runs for `cls.name`: our own methods as they are, others at arm's length.

    A user's method may create arrays, which code without counted references cannot, so it is
    compiled by itself.
    """
    method = getattr(cls, name, None)
    if method is None or _in_package(cls):
        return method
    return _at_arms_length(method)


@functools.cache
def _at_arms_length(method: python_types.FunctionType) -> Any:
    parameters = ", ".join(inspect.signature(method).parameters)
    separate = numba.njit(**_COUNTED)(method)
    return _written(
        f"def resolve({parameters}):\n    return separate({parameters})\n",
        {"separate": separate},
    )


def _written(source: str, space: dict[str, Any]) -> Any:
    """The function `resolve` of this source text, which is made of identifiers only."""
    exec(source, space)  # noqa: S102  # names of Python parameters, nothing a user can choose freely
    return space["resolve"]


def _admit_functions(function: Any) -> None:
    """Make the plain functions that `function` names callable from compiled code, recursively."""
    for name in function.__code__.co_names:
        helper = function.__globals__.get(name)
        if not isinstance(helper, python_types.FunctionType) or helper in _helpers:
            continue
        if helper.__module__ == protocol.__name__:
            continue  # the optional hooks, below
        _helpers.add(helper)
        options = _BARE if _in_package(helper) else _COUNTED
        register_jitable(**options)(helper)
        _admit_functions(helper)


def _in_package(thing: Any) -> bool:
    return str(thing.__module__).partition(".")[0] == PACKAGE


def _bridge_hook(hook: Any, call: Any) -> None:
    """Compiled code calls a hook only where the class has it, decided once when compiling."""
    name, parameters = hook.__name__, ", ".join(inspect.signature(hook).parameters)
    resolve = _written(
        f"def nothing({parameters}):\n    return None\n"
        f"def resolve({parameters}):\n"
        f"    return call if hasattr(rule.instance_class, {name!r}) else nothing\n",
        {"call": call},
    )
    overload(hook, strict=False, jit_options=_BARE)(resolve)


def _bridge_phase(rule: Any, ledger: Any, failures: Any) -> Any:
    """Compiled code looks at the phase where the class has it, decided once when compiling."""
    return protocol._follow_phase if "phase" in rule.fields else protocol._no_phase


overload(protocol.follow_phase, strict=False, jit_options=_BARE)(_bridge_phase)
for _hook, _call in protocol.OPTIONAL_HOOKS.items():
    _bridge_hook(_hook, _call)
