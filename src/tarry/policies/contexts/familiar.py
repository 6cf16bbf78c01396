"""How well each arm knows a kind of request: by the plays it had for requests like it.

For each arm, over the requests u that it was played for, u = (features, 1),

    P = (I + sum of u u')^-1,        doubt(u) = u . P u

Where requests come in kinds, 1 / doubt is nearly the number of plays for this kind; in between it
is the number of plays that a regression has to go by (Li et al. 2010 explore by it).
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, Floats, FreshState


class Familiar(NamedTuple):
    """The matrices P of all arms, arm-major, m = p + 1."""

    spread: ArmEvidence[Floats]  # P: (arm * m + i) * m + j
    gain: FreshState[Floats]  # P u of the latest `doubt`

    def doubt(self, arm: int, u: Floats) -> float:
        """How little is known about such requests: u . P u; leaves P u in `gain`."""
        size = len(self.gain)
        total = 0.0
        for i in range(size):
            row = (arm * size + i) * size
            part = 0.0
            for j in range(size):
                part += self.spread[row + j] * u[j]
            self.gain[i] = part
            total += part * u[i]
        return max(total, 0.0)

    def take_in(self, arm: int, u: Floats) -> float:
        """A play for such a request: P -= s g g', with g the `gain` left; s = 1 / (1 + doubt)."""
        size = len(self.gain)
        scale = 1.0 / (1.0 + self.doubt(arm, u))
        for i in range(size):
            gain = self.gain[i]
            row = (arm * size + i) * size
            for j in range(i + 1):  # the lower triangle and its mirror: symmetric to the last bit
                value = self.spread[row + j] - scale * (gain * self.gain[j])
                self.spread[row + j] = value
                self.spread[(arm * size + j) * size + i] = value
        return scale


def not_familiar(arms: int, features: int) -> Familiar:
    """No play yet: P = I."""
    size = features + 1
    return Familiar(spread=np.tile(np.eye(size).ravel(), arms), gain=np.zeros(size))
