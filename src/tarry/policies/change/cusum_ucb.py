"""CUSUMUCB: an upper confidence bound per arm, begun anew where a test finds that it changed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, Floats, Ints
from tarry.checks import check_positive, check_share, check_whole
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class CUSUMUCBRule(NamedTuple):
    """The running form of `CUSUMUCB`; all counts are since the arm's latest alarm."""

    max_delay: int
    reward: bool
    warm_up: int  # M
    slack: float  # epsilon
    threshold: float  # h
    explore: float  # alpha
    began: ArmEvidence[Ints]  # when the latest alarm of the arm was
    answers: ArmEvidence[Ints]
    total: ArmEvidence[Floats]  # of their payoffs
    first_total: ArmEvidence[Floats]  # of the first M of them
    above: ArmEvidence[Floats]  # g+
    below: ArmEvidence[Floats]  # g-

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """A random arm now and then, else the largest bound; arms of which nothing is known first.

        Once some arm has an answer, an arm without one is played when no play of it is out: its
        next answer may be D steps away, and until then the others serve.
        """
        arms = len(self.answers)
        if rng.random() < self.explore:
            return rng.integers(arms)
        everything = 0
        unknown = -1
        for arm in range(arms):
            everything += self.answers[arm]
            if self.answers[arm] == 0 and (
                unknown < 0 or ledger.missing(arm) < ledger.missing(unknown)
            ):
                unknown = arm
        if unknown >= 0 and (everything == 0 or ledger.missing(unknown) == 0):
            return unknown
        best = 0
        highest = -math.inf
        for arm in range(arms):
            if self.answers[arm] == 0:
                continue
            mean = self.total[arm] / self.answers[arm]
            width = math.sqrt(0.5 * math.log(everything) / self.answers[arm])
            bound = (mean if self.reward else -mean) + width
            if bound > highest:
                highest = bound
                best = arm
        return best

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """Count the answer, unless its play is of before the alarm, and test for a change."""
        arm = plays.arm[row]
        if plays.start[row] < self.began[arm]:
            return
        payoff = plays.delay[row] / self.max_delay
        self.answers[arm] += 1
        self.total[arm] += payoff
        if self.answers[arm] <= self.warm_up:
            self.first_total[arm] += payoff
            return
        usual = self.first_total[arm] / self.warm_up
        self.above[arm] = max(0.0, self.above[arm] + payoff - usual - self.slack)
        self.below[arm] = max(0.0, self.below[arm] + usual - payoff - self.slack)
        if max(self.above[arm], self.below[arm]) >= self.threshold:
            # Of plays made before this answer came nothing more is counted.
            self.began[arm] = plays.start[row] + plays.delay[row] + 1
            self.answers[arm] = 0
            self.total[arm] = 0.0
            self.first_total[arm] = 0.0
            self.above[arm] = 0.0
            self.below[arm] = 0.0


@dataclass(frozen=True)
class CUSUMUCB:
    """UCB with a change detector per arm: the CUSUM-UCB of Liu, Lee and Shroff (2018).

    The first M answers of an arm give its usual payoff u. From then on two sums are kept,

        g+ = max(0, g+ + x - u - epsilon),     g- = max(0, g- + u - x - epsilon)

    and when one of them reaches h all is forgotten of the arm. Otherwise it is UCB on the answers
    since then, argmax of mean + sqrt(log(n) / (2 n_i)) with n answers in all (for cost the mean
    counts negatively); with probability alpha a random arm is played, so that changes of arms that
    rest are found. An arm without an answer since its alarm is played when no play of it is out.
    Missing plays are ignored, which is hard on the test: the first M answers are the quick ones, so
    that where M plays are soon made and D is long, u is too short and what follows looks like a
    change. A rival for worlds that change; needs no horizon.

    Args:
        warm_up: M, answers that give the usual payoff, from 1.
        slack: epsilon, the change of the mean payoff that does not matter.
        threshold: h, in units of the payoff.
        explore: alpha, the share of random plays, between 0 and 1.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> run = tarry.play(tarry.CUSUMUCB(), problem, payoff="cost", horizon=1000, seed=0)
    >>> bool(run.arms[-200:].mean() < 0.2)
    True
    """

    warm_up: int = 50
    slack: float = 0.05
    threshold: float = 5.0
    explore: float = 0.02
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        check_whole("warm_up", self.warm_up, 1, 2**53)
        check_share("slack", self.slack)
        check_positive("threshold", self.threshold)
        check_share("explore", self.explore)

    def start(self, setting: Setting) -> CUSUMUCBRule:
        """Nothing is known of any arm."""
        arms = setting.arms
        return CUSUMUCBRule(
            max_delay=setting.max_delay,
            reward=setting.reward,
            warm_up=int(self.warm_up),
            slack=float(self.slack),
            threshold=float(self.threshold),
            explore=float(self.explore),
            began=np.zeros(arms, np.int64),
            answers=np.zeros(arms, np.int64),
            total=np.zeros(arms),
            first_total=np.zeros(arms),
            above=np.zeros(arms),
            below=np.zeros(arms),
        )
