"""What every policy is tested with. A policy is tested by being in `tarry.policies.POLICIES`.

Its settings are found from the fields of its class: one case with all defaults, and for each field
of a kind listed in `other_values` one case per other value.
"""

import dataclasses
import types
import typing
from collections.abc import Iterator
from typing import Any, NamedTuple

import tarry
from tarry.policies import POLICIES, Setting
from tarry.policies.label import policy_label
from tarry.problems.problem import Payoff, Problem


class Case(NamedTuple):
    """A policy and a payoff that it serves."""

    policy: Any
    payoff: Payoff

    def __str__(self) -> str:
        return f"{policy_label(self.policy)}-{self.payoff}"


def other_values(hint: Any, default: Any) -> list[Any]:
    """Values of a setting other than its default: the other words, the other truth, a number."""
    if default is None and typing.get_origin(hint) is types.UnionType:
        own = next(kind for kind in typing.get_args(hint) if kind is not types.NoneType)
        return other_values(own, dataclasses.MISSING if own is not bool else False)[:1]
    if typing.get_origin(hint) is typing.Literal:
        return [word for word in typing.get_args(hint) if word != default]
    if hint is bool:
        return [not default]
    if hint in (int, float) and default is dataclasses.MISSING:
        return [1, 2] if hint is int else [0.1, 0.6]
    if hint in (int, float):
        return [default + 1 if hint is int else default / 2 or 1.0]
    return []


def variants(cls: type[Any]) -> Iterator[Any]:
    """The policy with its defaults, then with each of its settings changed."""
    hints = typing.get_type_hints(cls)
    others = {
        field.name: other_values(hints[field.name], field.default)
        for field in dataclasses.fields(cls)
    }
    needed = {
        field.name: others[field.name].pop()
        for field in dataclasses.fields(cls)
        if field.default is dataclasses.MISSING
    }
    yield cls(**needed)
    for name, values in others.items():
        for value in values:
            yield cls(**{**needed, name: value})


POLICIES_VARIED = [policy for cls in POLICIES.values() for policy in variants(cls)]
CASES = [Case(policy, payoff) for policy in POLICIES_VARIED for payoff in policy.payoffs]
LIVE_CASES = [case for case in CASES if not getattr(case.policy, "simulated_only", False)]


def kind_of_rule(case: Case) -> tuple[type[Any], Payoff]:
    """What is the same for all settings of a policy: the arrays that its rule keeps, and how."""
    return type(case.policy.start(Setting(3, 8, 100, case.payoff == "reward"))), case.payoff


# One case for each kind of rule, for what depends on what is kept and not on settings.
RULES = list({kind_of_rule(case): case for case in reversed(CASES)}.values())[::-1]
LIVE_RULES = [case for case in RULES if case in LIVE_CASES]

# The corners of the allowed world, with a horizon for each.
CORNERS: dict[str, tuple[Problem, int]] = {
    "one arm": (tarry.problems.deterministic([3], max_delay=5), 40),
    "one step": (tarry.problems.deterministic([3, 0], max_delay=5), 1),
    "D = 1": (tarry.problems.from_pmf([([0, 1], [0.7, 0.3]), ([0, 1], [0.2, 0.8])], 1), 120),
    "no delays": (tarry.problems.deterministic([0, 0, 0], max_delay=4), 60),
    "all delays D": (tarry.problems.deterministic([4, 4, 4], max_delay=4), 60),
    "more arms than D": (tarry.problems.deterministic([0, 1, 2, 2, 1, 0, 1], max_delay=2), 90),
    "fewer steps than arms": (tarry.problems.deterministic(list(range(9)), max_delay=8), 4),
    "ties": (tarry.problems.from_pmf([([0, 6], [0.5, 0.5])] * 3, max_delay=6), 120),
    "fewer steps than D": (tarry.problems.deterministic([10, 900], max_delay=1000), 300),
    "restarts": (tarry.problems.deterministic([20, 400], max_delay=400), 2500),
}


class Kept:
    """A policy that keeps hold of the rule it starts, so that a test can look at it afterwards."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy
        self.payoffs = policy.payoffs
        self.rule: Any = None

    def start(self, setting: Setting) -> Any:
        """The rule of the policy."""
        self.rule = self.policy.start(setting)
        return self.rule
