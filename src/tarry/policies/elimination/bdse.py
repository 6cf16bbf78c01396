"""BDSE: CSE with a doubling threshold (the paper's Algorithms 3 and 7)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from tarry.arrays import Ints, SharedState
from tarry.checks import check_truth
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.check import check_choice
from tarry.policies.elimination.cse import CSERule, first_phase
from tarry.policies.elimination.sweep import first_of_phases
from tarry.policies.elimination.tight_rule import start_tight
from tarry.policies.protocol import STOP, Setting
from tarry.randomness import Random


class BDSERule(NamedTuple):
    """The running form of `BDSE`: a failed phase is forgotten."""

    horizon: int
    phase: SharedState[Ints]  # first play of this phase, failed phases so far
    cse: CSERule

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """What CSE plays; where it fails, double B and start it again from nothing."""
        arm = self.cse.select(ledger, plays, row, now, rng)
        if arm == STOP:
            self.cse.threshold[0] *= 2.0
            number = plays.number[row]
            self.cse.log_term[0] = math.log(max(self.horizon - number + 1, 2))  # CSE(T - t, ...)
            self.cse.sweep.forget()
            self.phase[0] = number
            self.phase[1] += 1
            arm = self.cse.sweep.next_arm()
        return arm


class BDSEKeptRule(NamedTuple):
    """The running form of `BDSE(keep_history=True)`: only the threshold moves."""

    phase: SharedState[Ints]  # 0, and how often the threshold moved
    cse: CSERule

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """The next arm of the sweep; after a full sweep, the test with as many B as it takes."""
        cse = self.cse
        if cse.sweep.finished():
            spacing = cse.sweep.round_robin(now, cse.max_delay)
            cse.cost_bounds(ledger, now, spacing)
            if cse.sweep.eliminate(False, cse.threshold[0]) == 0:
                cse.sweep.reopen()
                cse.cost_bounds(ledger, now, spacing)
                cse.sweep.relax(self.phase, False, cse.threshold, 1.0)
        return cse.sweep.next_arm()


@dataclass(frozen=True)
class BDSE:
    """Bounded Doubling Successive Elimination: the paper's policy for delay as cost.

    Start with B = 1 / D and run `CSE` with threshold B. When CSE fails, double B and start it
    again from nothing: all arms active, all statistics empty, and what the plays of the failed
    phase still bring is ignored. L is log(horizon) in the first phase and the logarithm of the
    steps still to be played in a restarted one, as the paper calls CSE(T - t, K, D, B).

    With `keep_history` statistics are never thrown away (the remark at the end of the paper's
    experiments), L stays log(horizon), and L3 uses the smallest sweep R of the last D steps in
    place of |S|, since after a reset |S| would not bound how often an arm was played. When a test
    leaves nobody, B is doubled, to 1 at most, and the test repeated at once on all arms; if nobody
    is left at B = 1, all arms stay active.

    Guarantee (literal form): regret at most sum_i 129 log T log d* / gap_i
    + 8 min(d*, D max gap log d*) log K, with d* the shortest mean delay (the paper's corollary on
    BDSE; `tarry.theory` has it as printed and in a form that is safe).

    Departures from the print: none in the literal form beyond those of `CSE`.

    Args:
        keep_history: Keep the evidence of failed phases.
        bounds: "paper" for the bounds above, "tight" for narrower ones at the same confidence, on
            kept history whatever `keep_history` says (see `tarry.policies.elimination.tight_rule`).

    >>> import tarry
    >>> problem = tarry.problems.bernoulli(5, 200, seed=1)
    >>> run = tarry.play(tarry.BDSE(), problem, payoff="cost", horizon=20_000)
    >>> run
    <Run of BDSE, cost, seed 0: 20000 steps, regret 1076.57, 4 restarts, compiled>
    >>> run.restarts.tolist()
    [2682, 6134, 9486, 15048]
    >>> kept = tarry.play(tarry.BDSE(keep_history=True), problem, payoff="cost", horizon=20_000)
    >>> round(float(kept.regret[-1] / run.regret[-1]), 2)
    0.49
    """

    keep_history: bool = False
    bounds: Literal["paper", "tight"] = "paper"
    payoffs: ClassVar[Sequence[str]] = ("cost",)
    origin: ClassVar[str] = "paper"
    needs_horizon: ClassVar[bool] = True
    shareable: ClassVar[bool] = False
    by_the_clock: ClassVar[bool] = True  # its bounds count the time since a play began
    counterpart: ClassVar[str] = "BHSE"

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        check_truth("keep_history", self.keep_history)
        check_choice("bounds", self.bounds, ("paper", "tight"))

    def start(self, setting: Setting) -> Any:
        """The first phase, with B = 1 / D."""
        if self.bounds == "tight":
            return start_tight(setting)
        cse = first_phase(setting, 1.0 / setting.max_delay)
        if self.keep_history:
            return BDSEKeptRule(first_of_phases(), cse)
        return BDSERule(setting.horizon, first_of_phases(), cse)
