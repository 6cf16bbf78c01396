"""A loop over a rule as machine code: kept on disk for our own rules, with checks for a user's."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numba

from tarry.compiled.announce import announced
from tarry.compiled.cache import cache_directory, kept_in
from tarry.compiled.reasons import in_words, why_not_compilable
from tarry.compiled.teach import COUNTED, admit_functions, admit_value, allow_arrays
from tarry.errors import PolicyError
from tarry.inspection import is_ours


class CannotCompile(Exception):  # noqa: N818  # not an error: the run goes on interpreted
    """A user's rule cannot run compiled; the message is the reason, in words."""


class CompiledLoop:
    """A loop whose first argument is a rule, compiled once for each class of rules.

    Machine code of our own rules is kept on disk. A user's rule may change from one process to the
    next, so its code is not kept; and it may be wrong, so its loop checks every index.
    """

    def __init__(self, loop: Callable[..., None]) -> None:
        self.kept = compiled(loop, cached=True, nogil=True, **COUNTED)
        self._loop = loop
        self._ready: set[type] = set()  # our rule classes that were compiled or loaded before
        self._users: dict[type, Callable[..., None]] = {}  # a loop for each class of users' rules
        self._refused: dict[type, str] = {}  # rule class -> why it cannot be compiled

    def ready_for(self, rule: Any, *idle: Any) -> Callable[..., None]:
        """The loop for this rule; `CannotCompile` says why not.

        With the other arguments `idle` it has nothing to do: calling it so compiles or loads it.
        """
        why = why_not_compilable(rule) or self._refused.get(type(rule))
        if why:
            raise CannotCompile(why)
        return self._of_ours(rule, idle) if is_ours(rule) else self._of_users(rule, idle)

    def _of_ours(self, rule: Any, idle: tuple[Any, ...]) -> Callable[..., None]:
        """Whatever goes wrong here is a defect of tarry, or a Numba that it does not work with."""
        known = type(rule) in self._ready
        with nullcontext() if known else announced(rule, "once for this version"):
            admit_value(rule)
            self.kept(rule, *idle)
        self._ready.add(type(rule))
        return self.kept

    def _of_users(self, rule: Any, idle: tuple[Any, ...]) -> Callable[..., None]:
        """Whatever goes wrong here, the rule can still be interpreted."""
        known = type(rule) in self._users
        with nullcontext() if known else announced(rule, "once in this process"):
            try:
                admit_value(rule)
                loop = self._users.get(type(rule)) or _checked(self._loop)
                try:
                    loop(rule, *idle)
                except Exception:  # noqa: BLE001  # quicker, but code without counts makes no arrays
                    allow_arrays(rule)
                    loop = _checked(self._loop)
                    loop(rule, *idle)
            except Exception as error:
                why = in_words(error)
                if not isinstance(error, PolicyError):  # which costs nothing to find again
                    self._refused[type(rule)] = why
                raise CannotCompile(why) from error
        self._users[type(rule)] = loop
        return loop


def compiled(function: Callable[..., Any], *, cached: bool, **options: Any) -> Any:
    """Compile `function` on first use; with `cached`, keep the machine code on disk."""
    admit_functions(function)
    directory = cache_directory() if cached else None
    if directory is None:
        return numba.njit(**options)(function)
    with kept_in(directory):
        return numba.njit(cache=True, **options)(function)


def _checked(function: Callable[..., Any]) -> Any:
    """Compile `function` on first use, and all that it calls, with bounds checks."""
    return numba.njit(nogil=True, boundscheck=True, **COUNTED)(function)
