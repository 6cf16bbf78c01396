"""The first definition of SurvivalThompson, to measure the present one against.

One prior, a Dirichlet process of total `mass` with the share `end` of it on "reaches D" and the
rest evenly on the bins, answers two questions at once: what about an arm that began badly, and what
lies beyond the oldest age. For cost mass = 0.5, end = 0.8 and four other arms are drawn anew in
each step; for reward 1, 0.97 and one.

What lies beyond the last bin that any play has reached is drawn from the prior, and the hazard of
that bin from its posterior; given these, the mean payoff is drawn from the Beta law with the same
mean and variance. The arm with the best of the latest draws is played, of equal ones the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tarry.arrays import Constant, FloatArray, Floats, Ints
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies import Setting
from tarry.policies.survival.evidence import SurvivalEvidence, draw_beta, empty_evidence
from tarry.randomness import Random

BINS = 24


class FirstRule(NamedTuple):
    """The running form of `FirstThompson`."""

    reward: bool
    others: int
    edges: Constant[Ints]
    evidence: SurvivalEvidence
    tail_mean: Constant[Floats]  # of the payoff of who has reached bin b, by the prior
    tail_square: Constant[Floats]
    draws: Floats  # the latest draw of each arm's mean payoff
    turn: Ints  # the arm played last, or -1, and the arm drawn anew before

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Draw the arm played last and `others` in turn anew; play the best of all draws."""
        arms = len(self.draws)
        if self.turn[0] < 0:
            for arm in range(arms):
                self.draws[arm] = self.drawn(arm, rng)
        else:
            self.draws[self.turn[0]] = self.drawn(self.turn[0], rng)
            for _ in range(self.others):
                self.turn[1] = self.turn[1] + 1 if self.turn[1] + 1 < arms else 0
                self.draws[self.turn[1]] = self.drawn(self.turn[1], rng)
        best = 0
        for arm in range(1, arms):
            if self.reward:
                better = self.draws[arm] > self.draws[best]
            else:
                better = self.draws[arm] < self.draws[best]
            if better:
                best = arm
        self.turn[0] = best
        return best

    def drawn(self, arm: int, rng: Random) -> float:
        """One draw of the arm's mean payoff from its posterior, nearly."""
        evidence = self.evidence
        b = evidence.reached[arm]
        if b == 0:
            return draw_beta(self.tail_mean[0], self.tail_square[0], rng)
        place = arm * len(self.edges) + b - 1
        if b == len(self.edges) and evidence.passes[place] > 0.0:
            mean, square = evidence.moments_with_tail(arm, 1.0)
            return draw_beta(mean, square, rng)
        evidence.refresh(arm)
        tail = draw_above(evidence.floor[b], self.tail_mean[b], self.tail_square[b], rng)
        ended = evidence.prior[b - 1] + evidence.events[place]
        hazard = rng.beta(ended, evidence.prior_beyond[b - 1] + evidence.passes[place])
        inside = (evidence.prior_sum[b - 1] + evidence.event_sum[place]) / ended
        value = hazard * inside + (1.0 - hazard) * tail
        return draw_beta(
            evidence.front_mean(arm, value), evidence.front_square(arm, value, value * value), rng
        )

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer."""
        self.evidence.book_event(plays.arm[row], plays.delay[row])

    def outlived(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play still out."""
        self.evidence.book_pass(plays.arm[row], edge)


def draw_above(floor: float, mean: float, square: float, rng: Random) -> float:
    """A draw from a Beta law stretched to floor..1, with this mean and mean square."""
    width = 1.0 - floor
    if width <= 0.0:
        return 1.0
    share = (mean - floor) / width
    spread = (square - mean * mean) / (width * width)
    return floor + width * draw_beta(share, share * share + spread, rng)


def tails(evidence: SurvivalEvidence) -> tuple[FloatArray, FloatArray]:
    """Mean and mean square of the mean payoff of who has reached each bin, by the prior."""
    size = len(evidence.edges)
    mean, square = np.ones(size + 1), np.ones(size + 1)
    for b in range(size - 1, -1, -1):
        beyond, first = evidence.prior_beyond[b], evidence.prior_sum[b]
        total = evidence.prior[b] + beyond
        square[b] = (
            evidence.prior_squares[b]
            + first * (first + 2.0 * beyond * mean[b + 1])
            + beyond * (beyond + 1.0) * square[b + 1]
        ) / (total * (total + 1.0))
        mean[b] = (first + beyond * mean[b + 1]) / total
    return mean, square


@dataclass(frozen=True)
class FirstThompson:
    """The first definition of SurvivalThompson, with its settings."""

    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    needs_horizon: ClassVar[bool] = False

    def start(self, setting: Setting) -> FirstRule:
        """The same prior for every arm."""
        mass, end, others = (1.0, 0.97, 1) if setting.reward else (0.5, 0.8, 4)
        evidence = empty_evidence(setting.arms, setting.max_delay, BINS, mass, end)
        tail_mean, tail_square = tails(evidence)
        return FirstRule(
            reward=setting.reward,
            others=others,
            edges=evidence.edges,
            evidence=evidence,
            tail_mean=tail_mean,
            tail_square=tail_square,
            draws=np.zeros(setting.arms),
            turn=np.array([-1, -1], np.int64),
        )
