"""A loop over a rule as machine code: kept on disk for our own rules, with checks for a user's."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numba

from tarry.compiled.announce import announced
from tarry.compiled.cache import cache_directory, kept_in, own_directory
from tarry.compiled.inside import keep_by_name
from tarry.compiled.reasons import in_words, why_not_compilable
from tarry.compiled.teach import COUNTED, admit_functions, admit_value, allow_arrays
from tarry.errors import PolicyError
from tarry.inspection import in_package, is_namedtuple, is_ours


class CannotCompile(Exception):  # noqa: N818  # not an error: the run goes on interpreted
    """A user's rule cannot run compiled; the message is the reason, in words."""


class CompiledLoop:
    """A loop whose first argument is a rule, compiled once for each class and types of its fields.

    Machine code is kept on disk: that of our own rules by the sources of the package, that of a
    user's rule by the fingerprint of its code as well. A user's rule may be wrong, so its loop
    checks every index.
    """

    def __init__(self, loop: Callable[..., None]) -> None:
        self.kept = compiled(loop, cached=True, nogil=True, no_cfunc_wrapper=True, **COUNTED)
        self._loop = loop
        self._ready: set[type] = set()  # our rule classes that were compiled or loaded before
        # Of users' rules, by class and types of fields as Numba has them: the loop, or why none.
        self._users: dict[Any, Callable[..., None]] = {}
        self._refused: dict[Any, str] = {}
        self._made_of: dict[type, str] = {}  # users' class -> fingerprint of its code

    def ready_for(
        self, rule: Any, *idle: Any, code: str = "", keep: bool = False
    ) -> Callable[..., None]:
        """The loop for this rule; `CannotCompile` says why not.

        With the other arguments `idle` it has nothing to do: calling it so compiles or loads it.
        `code` is a fingerprint of a user's rule and of all that it calls and reads; with `keep` it
        tells all that machine code is made of, which may then be kept on disk.
        """
        why = why_not_compilable(rule)
        if why:
            raise CannotCompile(why)
        if is_ours(rule):
            return self._of_ours(rule, idle)
        return self._of_users(rule, idle, code, own_directory(code) if keep else None)

    def _of_ours(self, rule: Any, idle: tuple[Any, ...]) -> Callable[..., None]:
        """Whatever goes wrong here is a defect of tarry, or a Numba that it does not work with."""
        known = type(rule) in self._ready
        with nullcontext() if known else announced(rule, "once for this version"):
            admit_value(rule)
            self.kept(rule, *idle)
        self._ready.add(type(rule))
        return self.kept

    def _of_users(
        self, rule: Any, idle: tuple[Any, ...], code: str, home: Path | None
    ) -> Callable[..., None]:
        """Whatever goes wrong here, the rule can still be interpreted.

        Machine code has the values of globals and helpers in it as they were when it was made.
        """
        try:
            kind = numba.typeof(rule)
        except Exception as error:
            raise CannotCompile(in_words(error)) from error
        if kind in self._refused:
            raise CannotCompile(self._refused[kind])
        for cls, digest in zip(_users_classes(rule), code.split(), strict=False):
            if self._made_of.setdefault(cls, digest) != digest:
                raise CannotCompile(
                    f"code or a constant that {cls.__name__} uses has changed since it was "
                    f"compiled in this process; a new process compiles it again"
                )
        known = self._users.get(kind)
        once = "once for this code of it" if home else "once in this process"
        with nullcontext() if known else announced(rule, once):
            try:
                admit_value(rule)
                loop = known or self._loop_of_users(rule, kind, idle, home)
            except Exception as error:
                why = in_words(error)
                if not isinstance(error, PolicyError):  # which costs nothing to find again
                    self._refused[kind] = why
                raise CannotCompile(why) from error
        self._users[kind] = loop
        return loop

    def _loop_of_users(
        self, rule: Any, kind: Any, idle: tuple[Any, ...], home: Path | None
    ) -> Callable[..., None]:
        """The loop, ready; the quicker one counts no references, but such code makes no arrays."""
        name = hashlib.sha256(str(kind).encode()).hexdigest()[:8]
        with_arrays = home and home / f"arrays-{name}"  # its being there tells which way to go
        if not (with_arrays and with_arrays.is_dir()):
            try:
                loop = _checked(self._loop, home)
                loop(rule, *idle)
            except Exception:  # noqa: BLE001, S110  # it is tried again in the other way
                pass
            else:
                return loop
        allow_arrays(rule)
        loop = _checked(self._loop, with_arrays)
        loop(rule, *idle)
        return loop


def compiled(function: Callable[..., Any], *, cached: bool, **options: Any) -> Any:
    """Compile `function` on first use; with `cached`, keep the machine code on disk."""
    admit_functions(function)
    directory = cache_directory() if cached else None
    if directory is None:
        return numba.njit(**options)(function)
    with kept_in(directory):
        return numba.njit(cache=True, **options)(function)


def _users_classes(rule: Any) -> Iterator[type]:
    """The classes of users in a rule, in the order in which a fingerprint has them."""
    if is_namedtuple(rule):
        if not in_package(type(rule)):
            yield type(rule)
        for field in rule:
            yield from _users_classes(field)


def _checked(function: Callable[..., Any], home: Path | None) -> Any:
    """Compile `function` on first use, and all that it calls, with bounds checks.

    Machine code is looked for, and left, in the directory `home`.
    """
    made = numba.njit(nogil=True, boundscheck=True, **COUNTED)(function)
    if home is not None:
        with kept_in(home):
            keep_by_name(made, function)
    return made
