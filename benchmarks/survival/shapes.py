"""Other ways to draw an arm's mean payoff, to see what the fast one loses.

`ShapedThompson("exact")` draws every hazard from its Beta law, `"beta"` and `"normal"` draw once
from a law with the posterior mean and variance, with nothing special about the last bin reached.
In all else, the prior and how many arms are drawn anew in a step, they are `SurvivalThompson()`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from tarry.arrays import Floats, Ints
from tarry.ledger import Ledger
from tarry.policies import Setting
from tarry.policies.survival.evidence import SurvivalEvidence, draw_beta
from tarry.policies.survival.thompson import SurvivalThompson

SHAPES = ("exact", "beta", "normal")


class ShapedRule(NamedTuple):
    """The running form of `ShapedThompson`."""

    reward: bool
    redraws: int
    shape: int  # its place in SHAPES
    edges: Ints
    evidence: SurvivalEvidence
    draws: Floats
    turn: Ints

    def select(self, ledger: Ledger, step: int, now: int, rng: np.random.Generator) -> int:
        """As SurvivalThompson, with another kind of draw."""
        arms = len(self.draws)
        if step == 1:
            for arm in range(arms):
                self.draws[arm] = self.draw_shaped(arm, rng)
        else:
            self.draws[self.turn[0]] = self.draw_shaped(self.turn[0], rng)
            for _ in range(self.redraws):
                self.turn[1] = (self.turn[1] + 1) % arms
                self.draws[self.turn[1]] = self.draw_shaped(self.turn[1], rng)
        best = 0
        sign = 1.0 if self.reward else -1.0
        for arm in range(1, arms):
            if sign * self.draws[arm] > sign * self.draws[best]:
                best = arm
        self.turn[0] = best
        return best

    def draw_shaped(self, arm: int, rng: np.random.Generator) -> float:
        """One draw of the arm's mean payoff."""
        evidence = self.evidence
        bins = len(self.edges)
        if self.shape == 0:
            alive = 1.0
            payoff = 0.0
            for b in range(bins):
                place = arm * bins + b
                ended = evidence.prior[b] + evidence.events[place]
                hazard = rng.beta(ended, evidence.prior_beyond[b] + evidence.passes[place])
                inside = (evidence.prior_sum[b] + evidence.event_sum[place]) / ended
                payoff += alive * hazard * inside
                alive *= 1.0 - hazard
            return payoff + alive
        mean = 1.0
        square = 1.0
        for k in range(bins):
            b = bins - 1 - k
            place = arm * bins + b
            beyond = evidence.prior_beyond[b] + evidence.passes[place]
            first = evidence.prior_sum[b] + evidence.event_sum[place]
            second = evidence.prior_squares[b] + evidence.event_squares[place]
            total = evidence.prior[b] + evidence.events[place] + beyond
            cross = first * (first + 2.0 * beyond * mean)
            again = beyond * (beyond + 1.0) * square
            square = (second + cross + again) / (total * (total + 1.0))
            mean = (first + beyond * mean) / total
        if self.shape == 1:
            return draw_beta(mean, square, rng)
        return mean + math.sqrt(max(square - mean * mean, 0.0)) * rng.standard_normal()

    def returned(self, arm: int, delay: int, rng: np.random.Generator) -> None:
        """An answer."""
        self.evidence.book_event(arm, delay)

    def outlived(self, arm: int, edge: int) -> None:
        """A play still out."""
        self.evidence.book_pass(arm, edge)


@dataclass(frozen=True)
class ShapedThompson:
    """SurvivalThompson with another kind of draw."""

    shape: Literal["exact", "beta", "normal"]
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    needs_horizon: ClassVar[bool] = False

    def start(self, setting: Setting) -> ShapedRule:
        """The prior of SurvivalThompson, and as many redraws."""
        usual = SurvivalThompson().start(setting)
        return ShapedRule(
            reward=setting.reward,
            redraws=usual.redraws,
            shape=SHAPES.index(self.shape),
            edges=usual.edges,
            evidence=usual.evidence,
            draws=np.zeros(setting.arms),
            turn=np.zeros(2, np.int64),
        )
