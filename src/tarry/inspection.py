"""Looking at Python code: whose it is, what a plain function names, which line went wrong.

Functions are read by their bytecode, which is there even where no source text is.
"""

import dis
import linecache
import traceback
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

PACKAGE = "tarry"
_OF_EVERY_NAMEDTUPLE = ("_asdict", "_make", "_replace")


class Named(NamedTuple):
    """A value that a function reaches by name, such as `helpers.f`, and the line where it does."""

    text: str
    value: Any
    line: int


def in_package(thing: Any) -> bool:
    """Whether a class or function is defined by tarry itself."""
    return str(thing.__module__).partition(".")[0] == PACKAGE


def is_namedtuple(value: Any) -> bool:
    """Whether a value is a NamedTuple, as rules, ledgers and worlds are."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def is_ours(value: Any) -> bool:
    """Whether a rule and everything in it is defined by this package."""
    if is_namedtuple(value):
        return in_package(type(value)) and all(is_ours(field) for field in value)
    return True


def methods_of(cls: type) -> Iterator[tuple[str, FunctionType]]:
    """The plain methods of a class and its bases, without those that every NamedTuple has."""
    members: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        members.update(vars(base))
    for name, member in members.items():
        own = not name.startswith("__") and name not in _OF_EVERY_NAMEDTUPLE
        if own and isinstance(member, FunctionType):
            yield name, member


def named_values(function: FunctionType) -> Iterator[Named]:
    """What `function` reaches from outside itself, through modules and their modules too."""
    enclosed = dict(_enclosed(function))
    for code in _all_code(function.__code__):
        reached: Named | None = None
        for instruction, line in _lines(code):
            name = instruction.argval
            if instruction.opname == "LOAD_GLOBAL":
                reached = _entry(function.__globals__, name, name, line)
            elif instruction.opname == "LOAD_DEREF":
                reached = _entry(enclosed, name, name, line)
            elif reached and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                # A module is asked by its table, so that nothing is loaded by asking.
                module = isinstance(reached.value, ModuleType)
                members = vars(reached.value) if module else {}
                reached = _entry(members, name, f"{reached.text}.{name}", line)
            else:
                reached = None
            if reached:
                yield reached


def assigned_attributes(function: FunctionType) -> Iterator[tuple[str, int]]:
    """The names of attributes that `function` assigns, of whatever object, with their lines."""
    for code in _all_code(function.__code__):
        for instruction, line in _lines(code):
            if instruction.opname == "STORE_ATTR":
                yield instruction.argval, line


def _all_code(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of the functions and comprehensions written inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_code(constant)


def _lines(code: CodeType) -> Iterator[tuple[dis.Instruction, int]]:
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        if instruction.positions and instruction.positions.lineno:
            line = instruction.positions.lineno
        yield instruction, line


def _entry(table: dict[str, Any], name: str, text: str, line: int) -> Named | None:
    return Named(text, table[name], line) if name in table else None


def _enclosed(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The variables of enclosing functions that `function` uses, as far as they are bound."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not bound yet
            continue


def line_outside(error: BaseException) -> str | None:
    """The innermost line of code that is neither ours nor NumPy's, on the way to an error."""
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in (PACKAGE, "numpy"):
            found = frame.f_code.co_filename, line
    if found is None:
        return None
    path, line = found
    text = linecache.getline(path, line).strip()
    return f"{path}, line {line}" + (f": {text}" if text else "")
