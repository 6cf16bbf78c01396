"""What is asked of a policy before it plays."""

import functools
import inspect
import reprlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tarry.arrays import IntArray, arrays_of, is_tuple
from tarry.checks import as_whole
from tarry.errors import InputError, PayoffError, PolicyError
from tarry.inspection import in_package
from tarry.policies.habits import check_habits
from tarry.policies.label import policy_label
from tarry.policies.protocol import HOOKS, aged, outlived, withdrawn

RULE_METHODS = {
    "select": ("ledger", "plays", "row", "now", "rng"),
    **{hook.__name__: tuple(inspect.signature(hook).parameters)[1:] for hook in HOOKS},
}
WORDS = {word for parameters in RULE_METHODS.values() for word in parameters}
# What the methods of rules were handed before there was a table of plays, and where it is now.
FORMER_WORDS = {
    "step": "plays.number[row]",
    "arm": "plays.arm[row]",
    "start": "plays.start[row]",
    "delay": "plays.delay[row]",
}


def check_policy(policy: Any, payoff: str) -> None:
    """Refuse what is not a policy, or cannot serve this payoff, in one sentence."""
    if isinstance(policy, type):
        raise PolicyError(
            f"{policy.__name__} is a class; give a policy made from it, {policy.__name__}(...)."
        )
    if isinstance(policy, str):
        raise PolicyError(
            f"The policy is the text {policy!r}; give a policy, "
            f"such as tarry.policies.by_name({policy!r})()."
        )
    if not callable(getattr(policy, "start", None)):
        raise PolicyError(
            f"{type(policy).__name__} has no method start(setting), so it is not a policy; "
            f"see tarry.policies.protocol for what a policy needs."
        )
    _check_takes(policy.start, ("setting",))
    payoffs = getattr(policy, "payoffs", ("cost", "reward"))
    if payoff not in payoffs:
        other = getattr(policy, "counterpart", None)
        instead = f"; {other} is the one for {payoff}" if other else ""
        raise PayoffError(
            f"{policy_label(policy)} serves {' and '.join(payoffs)} only, not {payoff}{instead}."
        )


def check_rule(rule: Any, policy: Any) -> None:
    """Refuse a rule that cannot choose."""
    if not callable(getattr(rule, "select", None)):
        raise PolicyError(
            f"{type(policy).__name__}.start returned a {type(rule).__name__} without a method "
            f"select(ledger, plays, row, now, rng), which chooses the arm."
        )
    for name, parameters in RULE_METHODS.items():
        method = getattr(rule, name, None)
        if hasattr(rule, name) and not callable(method):
            raise PolicyError(
                f"{type(rule).__name__}.{name} is a {type(method).__name__}, but a rule is called "
                f"by this name as {name}({', '.join(parameters)}); give the field another name."
            )
        if method is not None:
            _check_words(method, parameters)
            _check_takes(method, parameters)
    _check_phase(rule)
    _check_edges_are_named(rule)
    _check_arrays(rule)
    check_habits(rule, tuple(RULE_METHODS))


def _check_words(method: Callable[..., Any], parameters: tuple[str, ...]) -> None:
    """Refuse a method that takes one thing for another, as the names of its parameters show."""
    function = getattr(method, "__func__", method)
    taken = _names(function)[function is not method :]
    if not any(map(_is_another, taken, parameters)):
        return
    moved = [f"{word} is now {FORMER_WORDS[word]}" for word in taken if word in FORMER_WORDS]
    where = f", where {' and '.join(moved)}" if moved else ""
    raise PolicyError(
        f"{getattr(method, '__qualname__', method)} takes ({', '.join(taken)}), but it is handed "
        f"({', '.join(parameters)}), in this order; let it take these{where}."
    )


def _is_another(word: str, handed: str) -> bool:
    """Whether a parameter is called what it is not; a name of the user's own says nothing.

    Where time goes in steps, `step` is a name for `now`.
    """
    known = word in WORDS or (word in FORMER_WORDS and (word, handed) != ("step", "now"))
    return known and word != handed


def _check_edges_are_named(rule: Any) -> None:
    """Refuse a hook about ages in a rule that asks for none: it would never be called."""
    for hook in (outlived, aged, withdrawn):
        if hasattr(rule, hook.__name__) and not hasattr(rule, "edges"):
            raise PolicyError(
                f"{type(rule).__name__} has {hook.__name__}, but no field edges; give it one, an "
                f"array of the ages from 1 to the max_delay that it wants to hear of."
            )


def _check_arrays(rule: Any) -> None:
    """Refuse a user's arrays that compiled and interpreted code treat unlike."""
    if not is_tuple(rule) or in_package(type(rule)):
        return
    for path, array, _ in arrays_of(rule):
        kind = getattr(array, "dtype", None)
        if isinstance(array, np.ndarray) and array.ndim == 0:
            raise PolicyError(
                f"{type(rule).__name__}.{path} is an array without dimensions; give a number, or "
                f"an array of one."
            )
        if kind is not None and kind not in (np.int64, np.float64):
            raise PolicyError(
                f"{type(rule).__name__}.{path} is an array of {kind}, with which compiled and "
                f"interpreted code compute differently; make it one of int64 or float64."
            )


def _check_phase(rule: Any) -> None:
    """Refuse a field called `phase` that means something else."""
    if not hasattr(rule, "phase"):
        return
    phase = rule.phase
    if not hasattr(phase, "__setitem__") or np.shape(phase) != (2,):
        raise PolicyError(
            f"{type(rule).__name__}.phase is {_in_a_line(phase)}; a field of this name is an array "
            f"of two whole numbers, the first play of the current phase and how many have failed."
        )


def _in_a_line(value: object) -> str:
    """The value as Python writes it, cut where it is long."""
    return " ".join(reprlib.repr(value).split())


def rule_edges(rule: Any, policy: Any, max_delay: int) -> IntArray:
    """The ages at which a rule wants to hear of plays still out, none if it has no `edges`."""
    edges = getattr(rule, "edges", ())
    if np.ndim(edges) != 1:
        raise PolicyError(
            f"{type(rule).__name__}.edges is {_in_a_line(edges)}; a field of this name is an "
            f"array of the ages from 1 to the max_delay that the rule wants to hear of."
        )
    for age in edges:
        whole = as_whole(age)
        if whole is None or not 1 <= whole <= max_delay:
            raise PolicyError(
                f"{type(policy).__name__} has an edge at age {age}; "
                f"edges must be whole numbers from 1 to the max_delay {max_delay}."
            )
    return np.array(list(edges), np.int64)


def _check_takes(method: Callable[..., Any], parameters: tuple[str, ...]) -> None:
    """Refuse a method that cannot be called with these parameters, in this order."""
    function = getattr(method, "__func__", method)
    given = parameters if function is method else ("self", *parameters)
    if not _can_take(function, given):
        name = getattr(method, "__qualname__", str(method))
        raise PolicyError(
            f"{name} takes {inspect.signature(method)}; it must take ({', '.join(parameters)})."
        )


@functools.lru_cache(maxsize=256)  # looking at a signature takes as long as a thousand steps
def _names(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


@functools.lru_cache(maxsize=256)  # see above
def _can_take(function: Callable[..., Any], parameters: tuple[str, ...]) -> bool:
    try:
        inspect.signature(function).bind(*parameters)
    except TypeError:
        return False
    return True


def check_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuse a setting that is none of the allowed words."""
    if value not in allowed:
        words = " or ".join(f'"{word}"' for word in allowed)
        raise InputError(f"{name} is {value!r}; give {words}.")
