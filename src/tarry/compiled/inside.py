"""What is used of Numba beyond its documented interface: all of it, with the reason.

Nothing else in tarry may reach into Numba. A test looks for each of these in the installed Numba,
and `make check-newest` runs the simulator with the newest one.
"""

import contextlib
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, ClassVar, NamedTuple

from llvmlite import binding, ir
from numba import types
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    Signature,
    infer_global,
    make_overload_method_template,
    make_overload_template,
)
from numba.extending import infer, infer_getattr, lower_builtin

from tarry.errors import PolicyError

INSIDE = {
    "numba.core.errors.NumbaError": "tells what a rule does that cannot be compiled",
    "numba.core.targetconfig.ConfigStack.top_or_none": "tells how the caller is compiled",
    "numba.core.typing.templates.make_overload_template": "`overload`, to be subclassed",
    "numba.core.typing.templates.make_overload_method_template": "the same of `overload_method`",
    "numba.core.typing.templates.infer_global": "what `overload` does with its template",
    "numba.core.typing.templates.AbstractTemplate.apply": (
        "asks `generic` what a call is of; who names its target in `metadata` goes first"
    ),
    "numba.core.typing.templates._OverloadFunctionTemplate._build_impl": (
        "where what `_overload_func` gives is compiled with `_jit_options`"
    ),
    "numba.core.typing.templates.AttributeTemplate.generic_resolve": "asked for any attribute",
    "numba.core.typing.templates._OverloadMethodTemplate._resolve": "what a method is of a type",
    "numba.core.registry.cpu_target.typing_context": "where what is taught is known",
    "numba.core.types.BaseNamedTuple": "every NamedTuple, with `fields` and `instance_class`",
    "numba.core.dispatcher.Dispatcher.compile": (
        "compiles or loads a function for given types, and gives what Python calls it by"
    ),
    "numba.core.config.CACHE_DIR": "where the next function keeps its machine code",
    "numba.core.caching.FunctionCache.load_overload": "where machine code is looked for on disk",
    "numba.core.caching.FunctionCache.save_overload": "where it is left",
    "numba.core.caching.FunctionCache._index_key": "what it is found by",
    "numba.core.typing.templates.Signature": (
        "the types of a call; those of what is found on disk are put in by `_replace`"
    ),
    "numba.core.dispatcher.Dispatcher.enable_caching": "gives a function such a cache, `_cache`",
    "numba.core.registry.cpu_target.target_context": "its `codegen` makes the libraries",
    "numba.core.codegen.JITCPUCodegen._library_class": "what a function is lowered into",
    "numba.core.codegen.JITCPUCodegen._create_empty_module": "a module for this machine",
    "numba.core.codegen.JITCPUCodegen._add_module": "gives a module to the engine",
    "numba.core.codegen.JITCodeLibrary.finalize": (
        "links `_linking_libraries` into `_final_module`, optimises it, has `_codegen` emit it"
    ),
    "numba.core.codegen.JITCodeLibrary._get_module_for_linking": "what callers link",
    "numba.core.codegen.JITCodeLibrary._finalize_dynamic_globals": (
        "part of `finalize`, as are `_reload_init` and `_finalized`"
    ),
    "llvmlite.binding.parse_assembly": "as Numba makes a module of text",
    "llvmlite.ir.GlobalVariable": "where the environment of a function is written to",
    "numba.core.cpu.CPUTargetOptions._nrt": "an option: counted references",
    "numba.core.cpu.CPUTargetOptions.forceinline": "an option: inlined wherever it is called",
    "numba.core.cpu.CPUTargetOptions.no_cpython_wrapper": "an option: not called by Python",
    "numba.core.cpu.CPUTargetOptions.no_cfunc_wrapper": "an option: not called by C",
}

__all__ = [
    "INSIDE",
    "NumbaError",
    "Options",
    "caller_checks_bounds",
    "caller_counts_references",
    "entry_of",
    "has_form",
    "overload_function",
    "overload_method",
]

Options = dict[str, Any]
ENVIRONMENT = "_ZN08NumbaEnv"  # what the names of environments begin with
UNWRAPPED = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # compiled code alone calls it
Choose = Callable[[Any, tuple[Any, ...]], Options]  # a function, and the types of its arguments


def overload_function(function: Any, resolve: Callable[..., Any], options: Choose) -> None:
    """Let compiled code that calls `function` call what `resolve` gives for types of arguments.

    As `numba.extending.overload`, but that options are chosen anew for each way to be compiled.
    """
    template = make_overload_template(function, resolve, {}, strict=False, inline="never")

    class Suited(template):  # type: ignore[misc, valid-type]  # a class made at run time
        def _build_impl(self, cache_key: Any, args: Any, kws: Any) -> Any:
            chosen = options(self._overload_func(*args, **kws), args)
            self._jit_options = {"nopython": True, **UNWRAPPED, **chosen}
            with optimised_by_caller():
                return super()._build_impl(cache_key, args, kws)

    infer(Suited)
    infer_global(function, types.Function(Suited))


def overload_method(form: str, resolve: Callable[..., Any], options: Choose) -> "Taught":
    """Let NamedTuples have methods of this form, such as "go(self, k)", in compiled code too.

    As `numba.extending.overload_method`, but that it is a form which is taught: of methods of one
    name, each has the parameters that its class gives it. Which have this one `has_form` says.
    """
    template = make_overload_method_template(types.BaseNamedTuple, form, resolve, inline="never")
    overload_function(resolve, resolve, options)
    return Taught(form, template(cpu_target.typing_context))


class Taught(NamedTuple):
    """A form of methods, and what Numba is told of it."""

    form: str
    template: Any


def has_form(method: Any, taught: Taught) -> None:
    """Let compiled code call this method of a class of NamedTuples."""
    MethodsOfTuples.known[method] = taught


class MethodsOfTuples(AttributeTemplate):
    """All methods that NamedTuples have in compiled code.

    A tuple whose class has no such method is as without it (`hasattr` tells), and a field of this
    name is a field.

    Numba asks every template of a type for each attribute that a program names. One for each method
    would be asked, all of them, for each field: a tenth of the time in which a rule is compiled.
    """

    key = types.BaseNamedTuple
    known: ClassVar[dict[Any, Taught]] = {}

    def generic_resolve(self, typ: Any, attr: str) -> Any:
        method = getattr(typ.instance_class, attr, None)
        if attr in typ.fields or not isinstance(method, FunctionType) or method not in self.known:
            return None
        taught = self.known[method]
        return taught.template._resolve(typ, taught.form)  # noqa: SLF001


infer_getattr(MethodsOfTuples)


class HasAttribute(AbstractTemplate):
    """`hasattr` of a NamedTuple, of which everything is known when its type is.

    Numba makes a function for each question, and machine code of it: a tenth of the time in which a
    rule is compiled.
    """

    key = hasattr
    metadata = {"target": "cpu"}  # noqa: RUF012  # and so asked before Numba's own, which serves any
    prefer_literal = True

    def generic(self, args: Any, kws: Any) -> Any:
        thing, name = args
        if not isinstance(thing, types.BaseNamedTuple):
            if not caller_checks_bounds():  # it is Numba's own code that asks, not a user's
                return None
            raise PolicyError(
                f"hasattr is asked of a value of type {thing}, of which compiled code knows less "
                f"than Python; ask it of NamedTuples only."
            )
        if not isinstance(name, types.StringLiteral):
            return None
        kind: Any = thing
        word = name.literal_value
        known = word in kind.fields or hasattr(kind.instance_class, word)
        return Signature(types.literal(known), (thing, name), None)


infer(HasAttribute)
infer_global(hasattr, types.Function(HasAttribute))


@lower_builtin(hasattr, types.BaseNamedTuple, types.StringLiteral)  # type: ignore[untyped-decorator]
def known_answer(context: Any, builder: Any, call: Any, arguments: Any) -> Any:
    """What `HasAttribute` said, where a program goes on with it."""
    return context.get_constant(types.boolean, call.return_type.literal_value)


class Linked(JITCodeLibrary):
    """The code of a function that compiled code alone calls: as it was written, not optimised.

    Callers link it into their own, so the outermost function is optimised once, with all that it
    calls. Numba would optimise a function for itself, make machine code of it that nobody calls,
    and optimise it again in each caller of a caller: a third to a half of the time.
    """

    def finalize(self) -> None:
        flags = ConfigStack.top_or_none()
        outermost = flags is None or not (flags.no_cpython_wrapper and flags.no_cfunc_wrapper)
        if outermost:
            super().finalize()
            return
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)  # noqa: SLF001
            linked = library._get_module_for_linking()  # noqa: SLF001
            self._final_module.link_in(linked, preserve=True)
        names = [variable.name for variable in self._final_module.global_variables]
        self._finalize_dynamic_globals()
        self.define(name for name in names if name.startswith(ENVIRONMENT))
        self._finalized = True

    def define(self, environments: Iterator[str]) -> None:
        """Give the engine the places into which Numba writes the environments of functions."""
        module = self._codegen._create_empty_module(self.name)  # noqa: SLF001
        for name in environments:
            place = ir.GlobalVariable(module, ir.IntType(8).as_pointer(), name)
            place.linkage = "common"
            place.initializer = ir.Constant(place.value_type, None)
        self._codegen._add_module(binding.parse_assembly(str(module)))  # noqa: SLF001


@contextlib.contextmanager
def optimised_by_caller() -> Iterator[None]:
    """Leave what is compiled inside the block, and has no wrapper, to its callers."""
    codegen = cpu_target.target_context.codegen()
    before = codegen._library_class  # noqa: SLF001
    codegen._library_class = Linked  # noqa: SLF001
    try:
        yield
    finally:
        codegen._library_class = before  # noqa: SLF001


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


class CacheByName(FunctionCache):
    """A cache on disk that knows the types of arguments by name.

    Numba finds machine code by the types themselves, and a class that a script or a notebook
    defines is another one in each process. Where the directory belongs to one version of the code,
    names are enough. What cannot be kept or read is compiled.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for these types, as if it had been made for them in this process."""
        try:
            found = super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001  # whatever is wrong with it, it can be made anew
            return None
        if found is None:
            return None
        mine = Signature(found.signature.return_type, tuple(sig), None)
        return found._replace(signature=mine)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code if that is possible."""
        with contextlib.suppress(Exception):  # a rule may refer to what cannot be pickled
            super().save_overload(sig, data)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        _, *rest = super()._index_key(sig, codegen)
        return (str(sig), *rest)


def keep_by_name(made: Any, function: Any) -> None:
    """Let a compiled function keep its machine code where Numba's CACHE_DIR says just now."""
    made._cache = CacheByName(function)  # noqa: SLF001  # what enable_caching does
