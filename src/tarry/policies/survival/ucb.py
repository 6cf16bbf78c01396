"""SurvivalUCB: an optimistic index from survival curves, pending plays included."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tarry.arrays import ArmState, Constant, Floats, FreshState, Ints
from tarry.checks import check_positive
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.bins import check_bins
from tarry.policies.protocol import Setting
from tarry.policies.survival.evidence import SurvivalEvidence, empty_evidence
from tarry.randomness import Random


class SurvivalUCBRule(NamedTuple):
    """The running form of `SurvivalUCB`."""

    reward: bool
    z: float
    edges: Constant[Ints]  # ages at which the rule hears of plays still out: the ends of the bins
    evidence: SurvivalEvidence
    indices: ArmState[Floats]  # the latest index of each arm, between 0 and 1; higher is better
    turn: FreshState[Ints]  # the arm played last, and the arm to be computed anew next

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Compute the index of the arm played last and of one other anew; play the best."""
        arms = len(self.indices)
        log_time = math.log(plays.number[row])
        self.refresh_bound(self.turn[0], log_time)
        self.refresh_bound(self.turn[1], log_time)
        self.turn[1] += 1
        if self.turn[1] >= arms:
            self.turn[1] = 0
        best = 0
        for arm in range(1, arms):
            if self.indices[arm] > self.indices[best] or (
                self.indices[arm] == self.indices[best] and ledger.plays[arm] < ledger.plays[best]
            ):
                best = arm
        self.turn[0] = best
        return best

    def refresh_bound(self, arm: int, log_time: float) -> None:
        """The index of the arm at a time with this logarithm."""
        evidence = self.evidence
        known = evidence.known(arm)
        if known < 2.0:
            return  # as good as anything
        tail = 1.0 if self.reward else evidence.floor[evidence.reached[arm]]
        mean, square = evidence.moments_with_tail(arm, tail)
        spread = mean * (1.0 - mean)
        ratio = known * max(square - mean * mean, 0.0) / max(spread, 1e-300)
        exponent = min(2.0 * self.z * self.z * log_time / (known - 1.0), 50.0)
        radius = 0.5 * ratio * (math.exp(exponent) - 1.0)
        half = math.sqrt(radius * radius + 2.0 * radius * spread)
        if self.reward:
            self.indices[arm] = (mean + radius + half) / (1.0 + 2.0 * radius)
        else:
            self.indices[arm] = 1.0 - (mean + radius - half) / (1.0 + 2.0 * radius)

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer: an event in its bin."""
        self.evidence.book_event(plays.arm[row], plays.delay[row])

    def outlived(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play still out has crossed the end of a bin."""
        self.evidence.book_pass(plays.arm[row], edge)

    def withdrawn(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """An answer told late shows that its play had not crossed the end of this bin."""
        self.evidence.unbook_pass(plays.arm[row], edge)


@dataclass(frozen=True)
class SurvivalUCB:
    """The optimistic index of a survival curve: `SurvivalThompson` without randomness.

    The evidence is that of `SurvivalThompson`: answers and plays still out, in bins that grow
    geometrically (see `tarry.policies.survival.evidence`). For each arm,

        M, V   posterior mean and variance of the mean payoff, where the part of the curve that no
               play has reached yet is assumed as good as possible: delay D for reward, the
               oldest age reached for cost
        n      plays of the arm that are known to be back or still out after one step

    and the index is the end of a score interval (Wilson's, so that it never leaves 0..1) around M:

        rho   = n V / (2 M (1 - M)) * (exp(2 z^2 log(t) / (n - 1)) - 1)
        index = ( M + rho +- sqrt(rho^2 + 2 rho M (1 - M)) ) / (1 + 2 rho)

    with + for reward (play the largest) and - for cost (play the smallest). For large n this is
    M +- z sqrt(2 log t) sqrt(V). For small n the exponential widens it as in Student's interval,
    because V is then itself a guess: an arm with fewer than two such plays is always tried. Ties
    go to the arm with fewest plays, then to the lowest index. Each step computes the index of the
    arm played last and of one other arm in turn, so a step costs O(bins) plus one look at each arm.

    Needs no horizon. Every decision follows from M, V, n and t and can be replayed. No proof of a
    regret bound is claimed; `docs/survival.md` has measurements.

    Args:
        z: Width of the interval; 1 is the classical one, less explores less.
        bins: Number of bins, from 2; fewer where D has not so many different whole numbers.
        mass: Weight of the prior, in plays; half of it lies on "reaches D".

    >>> import tarry
    >>> problem = tarry.problems.deterministic([50, 4000], max_delay=4000)
    >>> run = tarry.play(tarry.SurvivalUCB(), problem, payoff="cost", horizon=10_000)
    >>> bool(run.regret[-1] < 60)
    True
    """

    z: float = 0.7
    bins: int = 24
    mass: float = 0.5
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "ours"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        check_positive("z", self.z)
        check_bins(self.bins)
        check_positive("mass", self.mass)

    def start(self, setting: Setting) -> SurvivalUCBRule:
        """Nothing is known of any arm."""
        evidence = empty_evidence(setting.arms, setting.max_delay, self.bins, self.mass, 0.5)
        return SurvivalUCBRule(
            reward=setting.reward,
            z=self.z,
            edges=evidence.edges,
            evidence=evidence,
            indices=np.ones(setting.arms),
            turn=np.zeros(2, np.int64),
        )
