"""Ridge regression per arm, one play at a time, with targets that may still move.

For each arm the payoff of a request with features z is taken to be w . u + noise, u = (1, z). With
a normal prior of variance 1 on each weight,

    P = (I + sum of u u')^-1,        w = P sum of (u times the payoff)

A play whose payoff is not known yet enters with a guess of it, and when the guess changes only w
does: w += P u (new - old).
"""

import math
from typing import NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, Floats, FreshState

FIRST_NOISE = 0.25  # of one pseudo-play: the variance of a payoff is at most this


class Ridge(NamedTuple):
    """The regressions of all arms, arm-major, m = p + 1."""

    weights: ArmEvidence[Floats]  # arm * m + i
    spread: ArmEvidence[Floats]  # P: (arm * m + i) * m + j
    residuals: ArmEvidence[Floats]  # two per arm: squares of the residuals, and how many
    gain: FreshState[Floats]  # P u of the latest `doubt`

    def value(self, arm: int, z: Floats) -> float:
        """The payoff that is expected of a request with these features: w . u."""
        first = arm * len(self.gain)
        total = self.weights[first]
        for i in range(len(z)):
            total += self.weights[first + 1 + i] * z[i]
        return total

    def doubt(self, arm: int, z: Floats) -> float:
        """How little is known about such requests: u . P u; leaves P u in `gain`."""
        size = len(self.gain)
        total = 0.0
        for i in range(size):
            row = (arm * size + i) * size
            part = self.spread[row]
            for j in range(size - 1):
                part += self.spread[row + 1 + j] * z[j]
            self.gain[i] = part
            total += part if i == 0 else part * z[i - 1]
        return max(total, 0.0)

    def enter(self, arm: int, z: Floats, target: float) -> None:
        """A play comes in, with the payoff `target`, or a guess of it."""
        size = len(self.gain)
        scale = 1.0 / (1.0 + self.doubt(arm, z))
        error = target - self.value(arm, z)
        for i in range(size):
            gain = self.gain[i]
            self.weights[arm * size + i] += gain * scale * error
            row = (arm * size + i) * size
            for j in range(i + 1):  # the lower triangle and its mirror: symmetric to the last bit
                value = self.spread[row + j] - scale * (gain * self.gain[j])
                self.spread[row + j] = value
                self.spread[(arm * size + j) * size + i] = value

    def move(self, arm: int, z: Floats, change: float) -> None:
        """The target of a play that has come in moves by `change`."""
        self.doubt(arm, z)
        size = len(self.gain)
        for i in range(size):
            self.weights[arm * size + i] += self.gain[i] * change

    def judge(self, arm: int, z: Floats, payoff: float) -> None:
        """The payoff of a play is known for good: how far off the regression is."""
        error = payoff - self.value(arm, z)
        self.residuals[2 * arm] += error * error
        self.residuals[2 * arm + 1] += 1.0

    def noise(self, arm: int) -> float:
        """The deviation of a payoff from what is expected of it."""
        total = FIRST_NOISE + self.residuals[2 * arm]
        return math.sqrt(total / (1.0 + self.residuals[2 * arm + 1]))


def no_ridge(arms: int, features: int) -> Ridge:
    """The prior."""
    size = features + 1
    return Ridge(
        weights=np.zeros(arms * size),
        spread=np.tile(np.eye(size).ravel(), arms),
        residuals=np.zeros(2 * arms),
        gain=np.zeros(size),
    )
