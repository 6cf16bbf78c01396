"""What is asked of a policy before it plays, and how it is named."""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tarry.arrays import IntArray
from tarry.checks import as_whole
from tarry.errors import InputError, PayoffError, PolicyError
from tarry.policies.habits import check_habits

RULE_METHODS = {
    "select": ("ledger", "step", "now", "rng"),
    "returned": ("arm", "delay", "rng"),
    "outlived": ("arm", "edge"),
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
            f"{type(policy).__name__} serves {' and '.join(payoffs)} only, not {payoff}{instead}."
        )


def check_rule(rule: Any, policy: Any) -> None:
    """Refuse a rule that cannot choose."""
    if not callable(getattr(rule, "select", None)):
        raise PolicyError(
            f"{type(policy).__name__}.start returned a {type(rule).__name__} without a method "
            f"select(ledger, step, now, rng), which chooses the arm."
        )
    for name, parameters in RULE_METHODS.items():
        if hasattr(rule, name):
            _check_takes(getattr(rule, name), parameters)
    check_habits(rule, tuple(RULE_METHODS))


def rule_edges(rule: Any, policy: Any, max_delay: int) -> IntArray:
    """The ages at which a rule wants to hear of plays still out, none if it has no `edges`."""
    edges = list(getattr(rule, "edges", ()))
    for age in edges:
        whole = as_whole(age)
        if whole is None or not 1 <= whole <= max_delay:
            raise PolicyError(
                f"{type(policy).__name__} has an edge at age {age}; "
                f"edges must be whole numbers from 1 to the max_delay {max_delay}."
            )
    return np.array(edges, np.int64)


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
def _can_take(function: Callable[..., Any], parameters: tuple[str, ...]) -> bool:
    try:
        inspect.signature(function).bind(*parameters)
    except TypeError:
        return False
    return True


def policy_label(policy: Any) -> str:
    """The policy's name with those settings that are not the default: BDSE(keep_history=True)."""
    name = type(policy).__name__
    if not dataclasses.is_dataclass(policy):
        return name
    told = []
    for field in dataclasses.fields(policy):
        value = getattr(policy, field.name)
        if value != field.default:
            told.append(f"{field.name}={value!r}")
    return f"{name}({', '.join(told)})" if told else name


def check_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuse a setting that is none of the allowed words."""
    if value not in allowed:
        words = " or ".join(f'"{word}"' for word in allowed)
        raise InputError(f"{name} is {value!r}; give {words}.")
