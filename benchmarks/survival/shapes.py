"""SurvivalThompson with parts exchanged, to see what each of them is good for.

`ShapedThompson("exact")` draws every hazard from its Beta law, `"beta"` and `"normal"` draw once
from a law with the posterior mean and variance, with nothing special about the last bin reached.
`weight` is that of the pseudo-play, `others` the arms drawn anew besides the one played last. With
the defaults it is `SurvivalThompson()`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from tarry.arrays import Floats, Ints
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies import Setting
from tarry.policies.survival.evidence import SurvivalEvidence, draw_beta, empty_evidence
from tarry.policies.survival.looks import OTHERS, best_draw
from tarry.policies.survival.thompson import SELDOM, WIDER
from tarry.randomness import Random

SHAPES = ("usual", "exact", "beta", "normal")


class ShapedRule(NamedTuple):
    """The running form of `ShapedThompson`."""

    reward: bool
    shape: int  # its place in SHAPES
    weight: float
    others: int
    edges: Ints
    evidence: SurvivalEvidence
    draws: Floats
    turn: Ints

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """As SurvivalThompson, with other draws."""
        return best_draw(self, self.others, SELDOM, ledger, rng)

    def draw(self, arm: int, rng: Random) -> float:
        """How far the arm's mean payoff is from the best one."""
        known = self.evidence.known(arm)
        if known <= 0.0:
            return 0.0
        if self.weight == 1.0:
            real = (1.0 - rng.random()) ** (1.0 / known)
        else:
            real = rng.beta(known, self.weight)
        mean = self.shaped(arm, rng) if self.shape else self.evidence.draw_mean(arm, WIDER, rng)
        return real * (1.0 - mean if self.reward else mean)

    def shaped(self, arm: int, rng: Random) -> float:
        """One draw of the mean payoff of the arm's plays."""
        evidence = self.evidence
        if self.shape == 1:
            return self.drawn_curve(arm, rng)
        mean, square = evidence.moments_with_tail(arm, 1.0)
        if self.shape == 2:
            return draw_beta(mean, square, rng)
        return mean + math.sqrt(max(square - mean * mean, 0.0)) * rng.normal()

    def drawn_curve(self, arm: int, rng: Random) -> float:
        """The mean of a curve drawn hazard by hazard."""
        alive = 1.0
        payoff = 0.0
        for b in range(len(self.edges)):
            place = arm * len(self.edges) + b
            events = self.evidence.events[place]
            if events > 0.0:
                passes = self.evidence.passes[place]
                hazard = rng.beta(events, passes) if passes > 0.0 else 1.0
                payoff += alive * hazard * self.evidence.event_sum[place] / events
                alive *= 1.0 - hazard
        return payoff + alive

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer."""
        self.evidence.book_event(plays.arm[row], plays.delay[row])

    def outlived(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play still out."""
        self.evidence.book_pass(plays.arm[row], edge)


@dataclass(frozen=True)
class ShapedThompson:
    """SurvivalThompson with parts exchanged."""

    shape: Literal["usual", "exact", "beta", "normal"] = "usual"
    weight: float = 1.0
    others: int = OTHERS
    bins: int = 24
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    needs_horizon: ClassVar[bool] = False

    def start(self, setting: Setting) -> ShapedRule:
        """Nothing is known of any arm."""
        evidence = empty_evidence(setting.arms, setting.max_delay, self.bins)
        return ShapedRule(
            reward=setting.reward,
            shape=SHAPES.index(self.shape),
            weight=self.weight,
            others=self.others,
            edges=evidence.edges,
            evidence=evidence,
            draws=np.zeros(setting.arms),
            turn=np.array([-1, -1], np.int64),
        )
