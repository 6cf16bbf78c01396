"""What a policy is: settings that start a rule, and a rule that chooses arms.

A *policy* is a small frozen dataclass: it holds the settings a user gives, prints and compares by
them, and refuses bad ones. A run begins with `rule = policy.start(setting)`. The *rule* is a
NamedTuple of numbers and arrays with plain methods. It is all the state there is, so it can be
copied, saved and handed to compiled code as it is, and it contains no trace of a compiler.

A rule decides in one method and learns in others. Each is handed the table of plays (see
`tarry.plays`) and the row of the play that it is about:

    arm = rule.select(ledger, plays, row, now, rng)   which arm to play; decides, and learns nothing

    rule.started(plays, row)                 the play was made (this and all below: optional)
    rule.returned(plays, row, now, rng)      its answer is seen
    rule.outlived(plays, row, edge, now)     it is still out at age edges[edge]
    rule.aged(plays, row, edge, now)         it is so old, back or not
    rule.withdrawn(plays, row, edge, now)    it had been back by then, as an answer told late shows

`plays.number[row]` counts plays from 1, `now` is the time of the decision or of the fact. In
simulation one play is made per unit of time and the two are equal; live, `now` is a clock. `rng` is
the only source of randomness, and its numbers depend on the seed and the play alone.

What decisions write and what facts write is apart, and each array says in its annotation which it
is (`tarry.arrays`). Evidence is a fold over facts: it can be rebuilt without deciding anything
again. A rule whose `phase` (first play of the current phase, failed phases so far) moves has begun
anew, and the ledger is begun anew with it.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.randomness import RETURN, Random

STOP = -1  # what `select` returns when a rule gives up: CSE and RSE on their own, after a failure


# Phases of a rule that may fail at once. Where history is kept, a test fails at most log2(D) < 32
# times.
MOST_FAILED = 64


class Setting(NamedTuple):
    """What a policy is told before its first play."""

    arms: int  # K
    max_delay: int  # D
    horizon: int  # T, or 0 where nobody knows it (live use)
    reward: bool  # the payoff: True for reward, False for cost
    features: int = 0  # p, the numbers known of each request: plays.context has so many columns
    unit: int = 1  # what `now` grows by in a unit of time: a step; live, a second of microseconds
    crowding: bool = False  # may plays that are out slow down others of their arm? live only


class Rule(Protocol):
    """The running form of a policy: a NamedTuple of numbers and arrays that chooses arms.

    Only `select` is needed. A rule with one of the hooks about ages has a field `edges`, the ages
    from 1 to D that it wants to hear of.
    """

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Choose the arm of the play in `row`, made at time `now`; `STOP` ends the run."""


class LearningRule(Rule, Protocol):
    """A rule with all the hooks there are; each of them may be left out."""

    def started(self, plays: Plays, row: int) -> None:
        """The play in `row` was made, of arm plays.arm[row]."""

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """Its answer is seen: it took plays.delay[row]."""

    def outlived(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """It is still out, and edges[edge] old."""

    def aged(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """It is edges[edge] old, back or not; of a play that was cancelled earlier, never told."""

    def withdrawn(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """An answer told late shows that it had not outlived edges[edge] (live only)."""


@runtime_checkable
class Policy(Protocol):
    """Settings of a decision rule; see the module for how it is used."""

    payoffs: ClassVar[Sequence[str]]  # "cost", "reward" or both
    needs_horizon: ClassVar[bool]

    def start(self, setting: Setting) -> Any:
        """A fresh rule for this setting."""


# Each hook is called through the function of its name, which does nothing where a rule lacks it.
# Compiled code decides that once per class.


def started(rule: Any, plays: Plays, row: int) -> None:
    """Tell the rule of a play, if it wants to know."""
    if hasattr(rule, "started"):
        rule.started(plays, row)


def returned(rule: Any, plays: Plays, row: int, now: int, rng: Random) -> None:
    """Tell the rule of an answer, if it wants to know."""
    if hasattr(rule, "returned"):
        rule.returned(plays, row, now, rng.of_play(plays.number[row], RETURN))


def outlived(rule: Any, plays: Plays, row: int, edge: int, now: int) -> None:
    """Tell the rule that a play still out has reached an edge, if it wants to know."""
    if hasattr(rule, "outlived"):
        rule.outlived(plays, row, edge, now)


def aged(rule: Any, plays: Plays, row: int, edge: int, now: int) -> None:
    """Tell the rule that a play has reached an edge, if it wants to know."""
    if hasattr(rule, "aged"):
        rule.aged(plays, row, edge, now)


def withdrawn(rule: Any, plays: Plays, row: int, edge: int, now: int) -> None:
    """Tell the rule that a play had not outlived an edge, if it wants to know."""
    if hasattr(rule, "withdrawn"):
        rule.withdrawn(plays, row, edge, now)


HOOKS = (started, returned, outlived, aged, withdrawn)
FIELDS = (
    "phase",
    "crowding",
    "edges",
)  # fields that are looked at from outside where a rule has them


def follow_phase(rule: Any, ledger: Ledger, failures: int) -> int:
    """How many phases of the rule have failed; begin the ledger anew if more than `failures` have.

    A rule that keeps its evidence counts failures, and its phase begins where it began.
    """
    if hasattr(rule, "phase"):
        if rule.phase[1] != failures and rule.phase[0] != ledger.phase[0]:
            ledger.restart(rule.phase[0])
        return rule.phase[1]
    return failures
