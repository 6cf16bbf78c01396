"""What is used of Numba beyond its documented interface: all of it, with the reason.

Nothing else in tarry may reach into Numba. A test looks for each of these in the installed Numba,
and `make check-newest` runs the simulator with the newest one.
"""

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core.errors import NumbaError
from numba.core.targetconfig import ConfigStack
from numba.core.typing.templates import (
    infer_global,
    make_overload_method_template,
    make_overload_template,
)
from numba.extending import infer, infer_getattr

INSIDE = {
    "numba.core.errors.NumbaError": "tells what a rule does that cannot be compiled",
    "numba.core.targetconfig.ConfigStack.top_or_none": "tells how the caller is compiled",
    "numba.core.typing.templates.make_overload_template": "`overload`, to be subclassed",
    "numba.core.typing.templates.make_overload_method_template": "the same of `overload_method`",
    "numba.core.typing.templates.infer_global": "what `overload` does with its template",
    "numba.core.typing.templates._OverloadFunctionTemplate._build_impl": (
        "where what `_overload_func` gives is compiled with `_jit_options`"
    ),
    "numba.core.typing.templates._OverloadMethodTemplate._resolve": "where a field may go first",
    "numba.core.types.BaseNamedTuple": "every NamedTuple, with `fields` and `instance_class`",
    "numba.core.dispatcher.Dispatcher.compile": (
        "compiles or loads a function for given types, and gives what Python calls it by"
    ),
    "numba.core.config.CACHE_DIR": "where the next function keeps its machine code",
    "numba.core.cpu.CPUTargetOptions._nrt": "an option: counted references",
    "numba.core.cpu.CPUTargetOptions.forceinline": "an option: inlined wherever it is called",
    "numba.core.cpu.CPUTargetOptions.no_cpython_wrapper": "an option: not called by Python",
}

__all__ = [
    "INSIDE",
    "NumbaError",
    "Options",
    "caller_checks_bounds",
    "caller_counts_references",
    "entry_of",
    "overload_function",
    "overload_method",
]

Options = dict[str, Any]
Choose = Callable[[Any, tuple[Any, ...]], Options]  # a function, and the types of its arguments


def overload_function(function: Any, resolve: Callable[..., Any], options: Choose) -> None:
    """Let compiled code that calls `function` call what `resolve` gives for types of arguments.

    As `numba.extending.overload`, but that options are chosen anew for each way to be compiled.
    """
    template = make_overload_template(function, resolve, {}, strict=False, inline="never")

    class Suited(template):  # type: ignore[misc, valid-type]  # a class made at run time
        def _build_impl(self, cache_key: Any, args: Any, kws: Any) -> Any:
            chosen = options(self._overload_func(*args, **kws), args)
            self._jit_options = {"nopython": True, "no_cpython_wrapper": True, **chosen}
            return super()._build_impl(cache_key, args, kws)

    infer(Suited)
    infer_global(function, types.Function(Suited))


def overload_method(name: str, resolve: Callable[..., Any], options: Choose) -> None:
    """Let NamedTuples of classes with this method have it in compiled code too.

    As `numba.extending.overload_method`, but that a tuple whose class has no such method is as
    without it there (`hasattr` tells), and that a field of this name is a field.
    """
    template = make_overload_method_template(types.BaseNamedTuple, name, resolve, inline="never")

    class OfItsClass(template):  # type: ignore[misc, valid-type]  # a class made at run time
        def _resolve(self, typ: Any, attr: str) -> Any:
            if attr in typ.fields or not hasattr(typ.instance_class, attr):
                return None
            return super()._resolve(typ, attr)

    infer_getattr(OfItsClass)
    overload_function(resolve, resolve, options)


def caller_checks_bounds() -> bool:
    """Whether the function that is being compiled just now is compiled with bounds checks."""
    flags = ConfigStack.top_or_none()
    return flags is not None and bool(flags.boundscheck)


def caller_counts_references() -> bool:
    """Whether the function that is being compiled just now counts references to arrays."""
    flags = ConfigStack.top_or_none()
    return flags is not None and bool(flags.nrt)


def entry_of(dispatcher: Any, types: tuple[Any, ...]) -> Callable[..., Any] | None:
    """What the dispatcher calls for arguments of these types; None if it does not say."""
    compile_for = getattr(dispatcher, "compile", None)
    entry = compile_for(types) if callable(compile_for) else None
    return entry if callable(entry) else None
