"""What a policy is: settings that start a rule, and a rule that chooses arms.

A *policy* is a small frozen dataclass: it holds the settings a user gives, prints and compares by
them, and refuses bad ones. A run begins with `rule = policy.start(setting)`. The *rule* is a
NamedTuple of numbers and arrays with plain methods. It is all the state there is, so it can be
copied, saved and handed to compiled code as it is, and it contains no trace of a compiler.

A rule is called in this order, again and again:

    arm = rule.select(ledger, step, now, rng)   which arm to play as play number `step`
    rule.returned(arm, delay, rng)              an answer of this phase is seen (optional)
    rule.outlived(arm, edge)                    a play still out reached age edges[edge] (optional)
    rule.withdrawn(arm, edge)                   it had not: it was told late (live, optional)

`step` counts plays from 1, `now` is the time of this play. In simulation one play is made per unit
of time and the two are equal; live, `now` is a clock. `rng` is the only source of randomness.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from tarry.ledger import Ledger

STOP = -1  # what `select` returns when a rule gives up: CSE and RSE on their own, after a failure


class Setting(NamedTuple):
    """What a policy is told before its first play."""

    arms: int  # K
    max_delay: int  # D
    horizon: int  # T, or 0 where nobody knows it (live use)
    reward: bool  # the payoff: True for reward, False for cost


class Rule(Protocol):
    """The running form of a policy: a NamedTuple of numbers and arrays that chooses arms."""

    def select(self, ledger: Ledger, step: int, now: int, rng: np.random.Generator) -> int:
        """Choose the arm of play number `step`, made at time `now`; `STOP` ends the run."""


@runtime_checkable
class Policy(Protocol):
    """Settings of a decision rule; see the module for how it is used."""

    payoffs: ClassVar[Sequence[str]]  # "cost", "reward" or both
    needs_horizon: ClassVar[bool]

    def start(self, setting: Setting) -> Any:
        """A fresh rule for this setting."""


def returned(rule: Any, arm: int, delay: int, rng: np.random.Generator) -> None:
    """Tell the rule of an answer, if it wants to know."""
    if hasattr(rule, "returned"):
        rule.returned(arm, delay, rng)


def outlived(rule: Any, arm: int, edge: int) -> None:
    """Tell the rule that a play still out is as old as its edge number `edge`, if it has edges."""
    if hasattr(rule, "outlived"):
        rule.outlived(arm, edge)
