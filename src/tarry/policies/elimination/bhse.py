"""BHSE: RSE with a halving threshold (the paper's Algorithms 5 and 9)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from tarry.arrays import Ints, SharedState
from tarry.checks import check_truth
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.check import check_choice
from tarry.policies.elimination.rse import RSERule, first_phase
from tarry.policies.elimination.sweep import first_of_phases
from tarry.policies.elimination.tight_rule import start_tight
from tarry.policies.protocol import STOP, Setting
from tarry.randomness import Random


class BHSERule(NamedTuple):
    """The running form of `BHSE`: a failed phase is forgotten."""

    horizon: int
    phase: SharedState[Ints]  # first play of this phase, failed phases so far
    rse: RSERule

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """What RSE plays; where it fails, halve B and start it again from nothing."""
        arm = self.rse.select(ledger, plays, row, now, rng)
        if arm == STOP:
            self.rse.threshold[0] /= 2.0
            number = plays.number[row]
            self.rse.log_term[0] = math.log(max(self.horizon - number + 1, 2))  # RSE(T - t, ...)
            self.rse.sweep.forget()
            self.phase[0] = number
            self.phase[1] += 1
            arm = self.rse.sweep.next_arm()
        return arm


class BHSEKeptRule(NamedTuple):
    """The running form of `BHSE(keep_history=True)`: only the threshold moves."""

    least: float  # 1 / T
    phase: SharedState[Ints]  # 0, and how often the threshold moved
    rse: RSERule

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """The next arm of the sweep; after a full sweep, the test with as many B as it takes."""
        rse = self.rse
        if rse.sweep.finished():
            rse.reward_bounds(ledger)
            if rse.sweep.eliminate(True, rse.threshold[0]) == 0:
                rse.sweep.reopen()
                rse.reward_bounds(ledger)
                rse.sweep.relax(self.phase, True, rse.threshold, self.least)
        return rse.sweep.next_arm()


@dataclass(frozen=True)
class BHSE:
    """Bounded Halving Successive Elimination: the paper's policy for delay as reward.

    Start with B = 1 and run `RSE` with threshold B. When RSE fails, halve B and start it again
    from nothing, with L the logarithm of the steps still to be played, as the paper calls
    RSE(T - t, K, D, B).

    With `keep_history` statistics are never thrown away and L stays log(horizon). When a test
    leaves nobody, B is halved, to 1 / horizon at least, and the test repeated at once on all arms;
    if nobody is left then, all arms stay active.

    Guarantee (literal form): regret at most (sum_i 289 log T / gap_i
    + 12 min(second longest mean delay, D max gap) log K) log(1 / mu*) (the paper's corollary on
    BHSE; `tarry.theory` has it as printed and in a form that is safe).

    Departures from the print: those of `RSE`.

    Args:
        keep_history: Keep the evidence of failed phases.
        bounds: "paper" for the bounds above, "tight" for narrower ones at the same confidence, on
            kept history whatever `keep_history` says (see `tarry.policies.elimination.tight_rule`).

    >>> import tarry
    >>> problem = tarry.problems.bernoulli(5, 200, seed=1)
    >>> run = tarry.play(tarry.BHSE(), problem, payoff="reward", horizon=20_000)
    >>> run
    <Run of BHSE, reward, seed 0: 20000 steps, regret 824.577, 1 restarts, compiled>
    """

    keep_history: bool = False
    bounds: Literal["paper", "tight"] = "paper"
    payoffs: ClassVar[Sequence[str]] = ("reward",)
    origin: ClassVar[str] = "paper"
    needs_horizon: ClassVar[bool] = True
    shareable: ClassVar[bool] = False
    counterpart: ClassVar[str] = "BDSE"

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        check_truth("keep_history", self.keep_history)
        check_choice("bounds", self.bounds, ("paper", "tight"))

    def start(self, setting: Setting) -> Any:
        """The first phase, with B = 1."""
        if self.bounds == "tight":
            return start_tight(setting)
        rse = first_phase(setting, 1.0)
        if self.keep_history:
            return BHSEKeptRule(1.0 / setting.horizon, first_of_phases(), rse)
        return BHSERule(setting.horizon, first_of_phases(), rse)
