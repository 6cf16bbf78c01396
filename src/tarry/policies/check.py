"""What is asked of a policy before it plays, and how it is named."""

import dataclasses
from typing import Any

from tarry.errors import InputError, PayoffError, PolicyError


def check_policy(policy: Any, payoff: str) -> None:
    """Refuse what is not a policy, or cannot serve this payoff, in one sentence."""
    if isinstance(policy, type):
        raise PolicyError(
            f"{policy.__name__} is a class; give a policy made from it, {policy.__name__}(...)."
        )
    if not callable(getattr(policy, "start", None)):
        raise PolicyError(
            f"{type(policy).__name__} has no method start(setting), so it is not a policy; "
            f"see tarry.policies.protocol for what a policy needs."
        )
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
