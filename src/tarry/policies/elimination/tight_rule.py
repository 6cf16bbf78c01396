"""The running form of `BDSE(bounds="tight")` and `BHSE(bounds="tight")`.

The scheme is that of `keep_history`: successive elimination against a threshold B, where a test
that leaves nobody moves B and is repeated on all arms. What is different:

    LCB   the largest, over this and all earlier tests, of the KL lower bounds around mu_minus and
          mu_F, the bound from the missing plays (for cost and reward), and the sum of lower bounds
          of increments
    UCB   the smallest, likewise, of the KL upper bounds around mu_plus and mu_F and the sum of
          upper bounds of increments
    B     moves by a factor 1.1 instead of 2, or as far as it takes to keep one arm

Guarantee: all bounds of all arms hold at all times together with probability 1 - 3 / T^2, as in the
paper, so the best of all times holds too. As long as B >= mu* (cost) or B <= mu* (reward) the best
arm is never removed. For cost B moves only when all LCB are above it, that of the best arm among
them, so it never exceeds mu* by more than one step; for reward it never falls below mu* by more.
Small steps are free because nothing is forgotten; the paper's factor 2 pays for phases that start
from nothing.
"""

import math
from typing import NamedTuple

import numpy as np

from tarry.arrays import ArmState, Constant, FloatArray, Floats, Ints, SharedState
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.bins import geometric_edges
from tarry.policies.elimination.sweep import Sweep, first_of_phases, full_sweep
from tarry.policies.elimination.tight_bounds import (
    ledger_lower,
    ledger_upper,
    tight_missing_bound,
    uniform_level,
)
from tarry.policies.increments import Increments, no_increments
from tarry.policies.protocol import Setting
from tarry.randomness import Random

GRID = 24  # G; more increments cost time, and log(G) in the level of each
GROWTH = 1.1  # the factor of a step of B, by experiment


class TightRule(NamedTuple):
    """Kept-history doubling (cost) or halving (reward) with the bounds of `tight_bounds`."""

    reward: bool
    max_delay: int
    levels: Constant[Floats]  # of means, of increments, of the missing plays
    growth: float  # factor of a step of B
    phase: SharedState[Ints]  # 0, and how often the threshold moved
    threshold: SharedState[Floats]  # B, one number
    edges: Constant[Ints]
    evidence: Increments
    due: ArmState[Ints]  # the play from which on the arm's bounds are computed again
    sweep: Sweep  # `lower` and `upper` hold the best bounds so far

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """The next arm of the sweep; after each sweep the test, and a new B if nobody is left."""
        if self.sweep.finished():
            number = plays.number[row]
            round_robin = self.sweep.round_robin(now, self.max_delay)
            self.tighten(ledger, number, now, round_robin)
            left = self.sweep.eliminate(self.reward, self.threshold[0])
            if left == 0:
                self.sweep.reopen()
                self.tighten(ledger, number, now, round_robin)
                self.move_threshold()
                self.phase[1] += 1
                left = self.sweep.eliminate(self.reward, self.threshold[0])
                if left == 0:
                    self.sweep.reopen()
        return self.sweep.next_arm()

    def move_threshold(self) -> None:
        """Raise B (cost) or lower it (reward) by one step, or as far as it takes to keep an arm."""
        arms = len(self.due)
        if self.reward:
            best = self.sweep.upper[0]
            for arm in range(1, arms):
                best = max(best, self.sweep.upper[arm])
            self.threshold[0] = min(self.threshold[0] / self.growth, best)
        else:
            best = self.sweep.lower[0]
            for arm in range(1, arms):
                best = min(best, self.sweep.lower[arm])
            self.threshold[0] = max(self.threshold[0] * self.growth, best)

    def tighten(self, ledger: Ledger, number: int, now: int, round_robin: int) -> None:
        """Compute the bounds of the active arms anew where it is time, and keep the best so far.

        All bounds of all times hold at once, so that an old one stays valid. They are computed
        anew after every sweep at first, later when the number of plays has grown by 1/64.
        """
        for k in range(self.sweep.position[0]):
            arm = self.sweep.active[k]
            if number < self.due[arm] or ledger.plays[arm] == 0:
                continue
            self.due[arm] = number + number // 64
            spacing = ledger.spacing[arm] if ledger.spacing[arm] > 0 else round_robin
            self.sweep.lower[arm] = max(
                self.sweep.lower[arm],
                ledger_lower(ledger, arm, now, self.max_delay, self.levels[0]),
                self.evidence.increments_lower(arm, ledger.plays[arm], self.levels[1]),
                tight_missing_bound(ledger.missing(arm), spacing, self.max_delay, self.levels[2]),
            )
            self.sweep.upper[arm] = min(
                self.sweep.upper[arm],
                ledger_upper(ledger, arm, self.max_delay, self.levels[0]),
                self.evidence.increments_upper(arm, self.levels[1]),
            )

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer: its last increment is known."""
        self.evidence.add_answer(plays.arm[row], plays.delay[row])

    def outlived(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play still out: its increment up to this age is full."""
        self.evidence.add_full(plays.arm[row], edge)

    def aged(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play, back or not, is old enough for this increment."""
        self.evidence.add_old(plays.arm[row], edge)

    def withdrawn(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """An answer told late: the increment was not full, nor were bounds right that held it so.

        The lower bounds of this arm are worth nothing now, and are computed anew at the next test.
        """
        arm = plays.arm[row]
        self.evidence.remove_full(arm, edge)
        self.sweep.lower[arm] = 0.0
        self.due[arm] = 0


def start_tight(setting: Setting, growth: float = GROWTH, grid: int = GRID) -> TightRule:
    """All arms active, nothing known; the two numbers can be varied in experiments."""
    edges = geometric_edges(setting.max_delay, grid)
    evidence = no_increments(setting.arms, setting.max_delay, edges)
    sweep = full_sweep(setting.arms)._replace(upper=np.ones(setting.arms))
    return TightRule(
        reward=setting.reward,
        max_delay=setting.max_delay,
        levels=tight_levels(setting, len(evidence.edges)),
        growth=growth,
        phase=first_of_phases(),
        threshold=np.array([1.0 if setting.reward else 1.0 / setting.max_delay]),
        edges=evidence.edges,
        evidence=evidence,
        due=np.zeros(setting.arms, np.int64),
        sweep=sweep,
    )


def tight_levels(setting: Setting, grid: int) -> FloatArray:
    """Levels of the means, of each increment and of the missing plays.

    The 3 / T^2 by which all bounds together may miss is shared evenly by the K arms and by five
    kinds of bounds: means from below and above, increments from below and above, missing plays.
    An increment has a share of its own, and so has each time for the missing plays.
    """
    horizon = setting.horizon
    miss = 3.0 / (5.0 * setting.arms * horizon**2)
    return np.array(
        [
            uniform_level(horizon, miss),
            uniform_level(horizon, miss / grid),
            -math.log(miss / horizon),
        ]
    )
