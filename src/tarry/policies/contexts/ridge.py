"""Ridge regression per arm, one play at a time, with targets that may still move.

For each arm the payoff of a request with features z is taken to be w . u + noise, u = (z, 1). With
a normal prior of variance 1 on each weight,

    P = (I + sum of u u')^-1,        w = P sum of (u times the payoff)

A play whose payoff is not known yet enters with a guess of it, and when the guess changes only w
does: w += P u (new - old).
"""

import math
from typing import NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, Floats
from tarry.policies.contexts.familiar import Familiar, not_familiar

FIRST_NOISE = 0.25  # of one pseudo-play: the variance of a payoff is at most this


class Ridge(NamedTuple):
    """The regressions of all arms, arm-major, m = p + 1."""

    weights: ArmEvidence[Floats]  # arm * m + i
    familiar: Familiar  # P
    residuals: ArmEvidence[Floats]  # two per arm: squares of the residuals, and how many

    def value(self, arm: int, u: Floats) -> float:
        """The payoff that is expected of a request with these features: w . u."""
        first = arm * len(u)
        total = 0.0
        for i in range(len(u)):
            total += self.weights[first + i] * u[i]
        return total

    def doubt(self, arm: int, u: Floats) -> float:
        """How little is known about such requests: u . P u."""
        return self.familiar.doubt(arm, u)

    def enter(self, arm: int, u: Floats, target: float) -> None:
        """A play comes in, with the payoff `target`, or a guess of it."""
        error = target - self.value(arm, u)
        scale = self.familiar.take_in(arm, u)
        for i in range(len(u)):
            self.weights[arm * len(u) + i] += self.familiar.gain[i] * scale * error

    def move(self, arm: int, u: Floats, change: float) -> None:
        """The target of a play that has come in moves by `change`."""
        self.familiar.doubt(arm, u)
        for i in range(len(u)):
            self.weights[arm * len(u) + i] += self.familiar.gain[i] * change

    def judge(self, arm: int, u: Floats, payoff: float) -> None:
        """The payoff of a play is known for good: how far off the regression is."""
        error = payoff - self.value(arm, u)
        self.residuals[2 * arm] += error * error
        self.residuals[2 * arm + 1] += 1.0

    def noise(self, arm: int) -> float:
        """The deviation of a payoff from what is expected of it."""
        total = FIRST_NOISE + self.residuals[2 * arm]
        return math.sqrt(total / (1.0 + self.residuals[2 * arm + 1]))


def no_ridge(arms: int, features: int) -> Ridge:
    """The prior."""
    return Ridge(
        weights=np.zeros(arms * (features + 1)),
        familiar=not_familiar(arms, features),
        residuals=np.zeros(2 * arms),
    )
