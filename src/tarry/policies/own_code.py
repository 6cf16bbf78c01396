"""What a user's policy does, as a fingerprint: its code, that of its rule, and what they call.

Results and journals outlive the code that made them. The sources of tarry have a fingerprint of
their own (`tarry.fingerprint`); this one is for classes and functions from elsewhere. It is made of
byte code and constants, so comments and line numbers do not count, and it holds no addresses, so
that it is the same in every process. Of other people's packages only the names are read.
"""

import dis
import functools
import hashlib
import sys
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tarry.inspection import is_namedtuple

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
WRAPPERS = (classmethod, staticmethod)
DIGITS = 12
LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", "IMPORT_NAME")  # no attributes
TOOLCHAIN = {"", "builtins", "numpy", "numba", "tarry", *sys.stdlib_module_names}


def code_fingerprint(policy: Any) -> str:
    """The fingerprint of a policy's code, "" for the policies of tarry."""
    cls = type(policy)
    if top_package(cls.__module__) == "tarry":
        return ""
    return digest_of(cls, home=cls.__module__)


def rule_fingerprint(rule: Any) -> str:
    """The fingerprint of the code of a rule and of the rules inside it, "" if all are tarry's."""
    classes = [cls for cls in classes_of(rule) if top_package(cls.__module__) != "tarry"]
    return " ".join(digest_of(cls, home=cls.__module__) for cls in classes)


def stands_alone(rule: Any) -> bool:
    """Whether the fingerprint of a rule tells all that its machine code is made of.

    It does unless the rule calls a package that was installed: of those only names are read.
    """
    for cls in classes_of(rule):
        reader = _Reader(top_package(cls.__module__))
        reader.read(cls)
        if reader.named - TOOLCHAIN:
            return False
    return True


def classes_of(rule: Any) -> list[type]:
    """The class of a rule, and those of the NamedTuples in it."""
    inside = filter(is_namedtuple, rule) if is_namedtuple(rule) else ()
    return [type(rule), *(cls for field in inside for cls in classes_of(field))]


def digest_of(value: Any, home: str = "") -> str:
    """A fingerprint of anything by its content; `home` is a module whose package is the user's."""
    reader = _Reader(top_package(home))
    reader.read(value)
    return reader.content.hexdigest()[:DIGITS]


def top_package(module: str | None) -> str:
    """The first part of a module's name."""
    return (module or "").partition(".")[0]


@functools.cache
def is_installed(package: str) -> bool:
    """Whether a package comes from an index or with Python, and not from the user's own folders."""
    if package in ("", "tarry") or package in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(package), "__file__", None) or ""
    return bool({"site-packages", "dist-packages"} & set(Path(file).parts))


class _Reader:
    """Reads values into a hash; what can refer to itself is read once."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.content = hashlib.sha256()
        self.named: set[str] = set()  # packages of which only names were read
        self.seen: dict[int, tuple[int, Any]] = {}  # kept, so that no address is used twice

    def put(self, *words: Any) -> None:
        """Add words, kept apart from each other."""
        for word in words:
            data = word if isinstance(word, bytes) else str(word).encode()
            self.content.update(b"%d:" % len(data))
            self.content.update(data)

    def is_own(self, module: str | None) -> bool:
        """Whether what is defined in this module is to be read, not only named."""
        top = top_package(module)
        own = bool(top) and (top == self.home or not is_installed(top))
        if not own:
            self.named.add(top)
        return own

    def read(self, value: Any) -> None:
        """Add a value of any kind."""
        if isinstance(value, PLAIN) and type(value) in PLAIN:
            self.put(type(value).__name__, repr(value))
        elif type(value) in (tuple, frozenset):
            self.read_items(value)
        elif id(value) in self.seen:
            self.put("again", self.seen[id(value)][0])
        else:
            self.seen[id(value)] = (len(self.seen), value)
            self.read_new(value)

    def read_new(self, value: Any) -> None:
        """Add something that was not met before."""
        if isinstance(value, types.CodeType):
            self.read_code(value, {}, None)
        elif isinstance(value, types.FunctionType):
            self.read_function(value)
        elif isinstance(value, types.MethodType):
            self.read_all(("method", value.__func__, value.__self__))
        elif isinstance(value, type):
            self.read_class(value)
        elif isinstance(value, types.ModuleType):
            self.put("module", value.__name__)
            self.is_own(value.__name__)
        elif isinstance(value, WRAPPERS):
            self.read_all((type(value).__name__, value.__func__))
        elif isinstance(value, property):
            self.read_all(("property", value.fget, value.fset))
        elif isinstance(value, np.ndarray | np.generic):
            self.read_array(np.asarray(value))
        elif isinstance(value, list | tuple | set | frozenset | Mapping):
            self.read_items(value)
        else:
            self.read_object(value)

    def read_all(self, values: Iterable[Any]) -> None:
        """Add values one by one."""
        for value in values:
            self.read(value)

    def read_items(self, value: Any) -> None:
        """Add a container; the order of a set is nobody's choice."""
        self.put("items", type(value).__name__, len(value))
        if isinstance(value, Mapping):
            self.read_all(part for item in value.items() for part in item)
        elif isinstance(value, set | frozenset):
            self.put(*sorted(digest_of(item, self.home) for item in value))
        else:
            self.read_all(value)

    def read_array(self, array: np.ndarray[Any, Any]) -> None:
        """Add an array by its content."""
        self.put("array", array.dtype.str, array.shape)
        if array.dtype.hasobject:
            self.read_all(array.ravel().tolist())
        else:
            self.put(array.tobytes())

    def read_function(self, function: types.FunctionType) -> None:
        """Add a function: of one's own what it does, of others the name."""
        if not self.is_own(function.__globals__.get("__name__")):
            self.put("function", function.__module__, function.__qualname__)
        else:
            self.put("own function", function.__name__)
            self.read_code(function.__code__, function.__globals__, function.__doc__)
            self.read_all((function.__defaults__, function.__kwdefaults__))
            for cell in function.__closure__ or ():
                try:
                    self.read(cell.cell_contents)
                except ValueError:  # nothing in it yet
                    self.put("empty")
        if hasattr(function, "__wrapped__"):
            self.read(function.__wrapped__)

    def read_code(self, code: types.CodeType, space: Mapping[str, Any], doc: str | None) -> None:
        """Add byte code, its constants, and what its names mean in the module around it."""
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.put("code", code.co_code, code.co_exceptiontable)
        self.read_all((arguments, code.co_names, code.co_freevars))
        loaded = {step.argval for step in dis.get_instructions(code) if step.opname in LOADS}
        documented = doc is not None and code.co_consts[:1] == (doc,)
        for constant in code.co_consts[documented:]:
            if isinstance(constant, types.CodeType):
                self.read_code(constant, space, None)
            else:
                self.read(constant)
        for name in code.co_names:
            if name in space and name in loaded:
                self.read(space[name])
                self.read_attributes(space[name], code.co_names)

    def read_attributes(self, module: Any, names: Iterable[str]) -> None:
        """Add what code that names one of the user's modules can mean by `module.name`."""
        if isinstance(module, types.ModuleType) and self.is_own(module.__name__):
            self.read_all(vars(module)[name] for name in names if name in vars(module))

    def read_class(self, cls: type) -> None:
        """Add a class: of one's own what it defines, of others the name."""
        if not self.is_own(cls.__module__):
            self.put("class", cls.__module__, cls.__qualname__)
            return
        self.put("own class", cls.__qualname__)
        self.read_all(cls.__mro__[1:])
        for name, member in sorted(vars(cls).items()):
            function = isinstance(member, (types.FunctionType, property, *WRAPPERS))
            if function or (not name.startswith("__") and name != "_abc_impl"):
                self.put(name)
                self.read(member)

    def read_object(self, value: Any) -> None:
        """Add any other object: its class and what it holds."""
        self.read(type(value))
        inner = getattr(value, "py_func", None) or getattr(value, "__wrapped__", None)
        if inner is not None:  # a function made quicker by Numba or functools
            self.read(inner)
        elif self.is_own(type(value).__module__):
            self.read(state_of(value))
        elif not isinstance(value, np.random.RandomState):  # NumPy's global one is in many objects
            self.read_pickled(value)

    def read_pickled(self, value: Any) -> None:
        """Add what pickle would keep of an object of somebody else's class."""
        try:
            parts = value.__reduce_ex__(4)
        except Exception:  # noqa: BLE001  # a lock or a file, say: its class has to do
            return
        if isinstance(parts, str):
            self.put(parts)
        else:
            self.read_all(list(part) if hasattr(part, "__next__") else part for part in parts)


def state_of(thing: Any) -> dict[str, Any]:
    """The attributes of an object by name; what it has only worked out and kept is left out."""
    cls = type(thing)
    names = [name for base in cls.__mro__ for name in _names(vars(base).get("__slots__", ()))]
    names += [
        name
        for name in getattr(thing, "__dict__", {})
        if not isinstance(getattr(cls, name, None), functools.cached_property)
    ]
    hidden = ("__dict__", "__weakref__")
    return {
        name: getattr(thing, name) for name in names if name not in hidden and hasattr(thing, name)
    }


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)
