"""How features tilt the hazards of an arm: a Bayesian logistic regression, one outcome at a time.

The log odds to come back in bin b, having outlived the bins before, are moved by

    (w' + l_b w'') . z,        l_b = 2 b / (B - 1) - 1

per arm, from -1 in the first bin to 1 in the last: an effect that may change with age. z are the p
features and a 1: an arm that is mostly played for one kind of request has counts of that kind, and
the constant term is what corrects them for the others. The weights w = (w', w''), 2m in all with
m = p + 1, have a normal law with mean `weights` and covariance `spread`.
"""

import math
from typing import NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, Constant, Floats, FreshState
from tarry.randomness import Random

CLIP = 5.0  # of a tilt: a factor of 150 on the odds
LEAST_VARIANCE = 1e-9  # an outcome more certain than this teaches nothing


class Effects(NamedTuple):
    """The weights of all arms, arm-major."""

    age: Constant[Floats]  # l_b
    variance: Constant[Floats]  # 2m numbers: of the weights in the prior
    weights: ArmEvidence[Floats]  # arm * 2m + i
    spread: ArmEvidence[Floats]  # (arm * 2m + i) * 2m + j
    u: FreshState[Floats]  # 2m numbers: (z, l_b z) of the latest `tilt`
    gain: FreshState[Floats]  # 2m numbers: P u of the latest `uncertainty`

    def tilt(self, arm: int, z: Floats, b: int) -> float:
        """What these features add to the log odds of bin b; leaves (z, l_b z) in `u`."""
        m = len(z)
        first = arm * 2 * m
        total = 0.0
        for i in range(m):
            self.u[i] = z[i]
            self.u[m + i] = z[i] * self.age[b]
            total += self.weights[first + i] * self.u[i]
            total += self.weights[first + m + i] * self.u[m + i]
        return clipped(total)

    def expected_tilt(self, arm: int, z: Floats) -> tuple[float, float]:
        """The means of (w' . z, w'' . z)."""
        m = len(z)
        steady = change = 0.0
        for i in range(m):
            steady += self.weights[arm * 2 * m + i] * z[i]
            change += self.weights[arm * 2 * m + m + i] * z[i]
        return steady, change

    def uncertainty(self, arm: int) -> float:
        """Variance of the latest `tilt`, q = u . P u; leaves P u in `gain`."""
        size = len(self.u)
        total = 0.0
        for i in range(size):
            row = (arm * size + i) * size
            part = 0.0
            for j in range(size):
                part += self.spread[row + j] * self.u[j]
            self.gain[i] = part
            total += part * self.u[i]
        return total

    def known(self, q: float) -> float:
        """How much of the latest `tilt` is known, 0 to 1: by how far its variance q has fallen."""
        first = 0.0
        for i in range(len(self.u)):
            first += self.variance[i] * self.u[i] * self.u[i]
        return max(1.0 - q / first, 0.0) if first > 0.0 else 0.0

    def learn(self, arm: int, step: float, fall: float) -> None:
        """A step of the regression, after `uncertainty`: w += P u step, P -= P u (P u)' fall.

        The lower triangle is computed and mirrored: the covariance is symmetric to the last bit.
        """
        size = len(self.u)
        for i in range(size):
            gain = self.gain[i]
            self.weights[arm * size + i] += gain * step
            row = (arm * size + i) * size
            for j in range(i + 1):
                value = self.spread[row + j] - fall * (gain * self.gain[j])
                self.spread[row + j] = value
                self.spread[(arm * size + j) * size + i] = value

    def fade(self, arm: int, keep: float) -> None:
        """Time goes by: the weights drift, and what is left of them is the share `keep`.

        w -> keep w,   P -> keep^2 P + (1 - keep^2) P0: without news it is the prior in the end.
        """
        size = len(self.u)
        for i in range(size):
            self.weights[arm * size + i] *= keep
            row = (arm * size + i) * size
            for j in range(size):
                self.spread[row + j] *= keep * keep
            self.spread[row + i] += (1.0 - keep * keep) * self.variance[i]

    def draw_tilt(
        self, arm: int, z: Floats, share: float, rng: Random
    ) -> tuple[float, float, float, float]:
        """The means of (w' . z, w'' . z), all that a decision needs of the weights, and a draw.

        The draw has the part `share` of their variance.
        """
        m = len(z)
        size = 2 * m
        steady, change = self.expected_tilt(arm, z)
        q00 = q01 = q11 = 0.0
        for i in range(m):
            low = (arm * size + i) * size
            high = (arm * size + m + i) * size
            h0 = h1 = h2 = 0.0
            for j in range(m):
                h0 += self.spread[low + j] * z[j]
                h1 += self.spread[low + m + j] * z[j]
                h2 += self.spread[high + m + j] * z[j]
            q00 += h0 * z[i]
            q01 += h1 * z[i]
            q11 += h2 * z[i]
        q00 *= share
        q01 *= share
        q11 *= share
        deviation = math.sqrt(max(q00, 0.0))
        first = rng.normal()
        along = q01 / deviation if deviation > 0.0 else 0.0
        rest = math.sqrt(max(q11 - along * along, 0.0))
        drawn = change + along * first + rest * rng.normal()
        return steady, change, steady + deviation * first, drawn


def clipped(tilt: float) -> float:
    """A tilt within bounds."""
    return min(max(tilt, -CLIP), CLIP)


def no_effects(arms: int, features: int, bins: int) -> Effects:
    """The prior: no effect, with a variance of 1/p for w' and half of that for w''.

    Without features there is no effect at all, and none is learnt.
    """
    size = 2 * (features + 1)
    variances = np.repeat([1.0, 0.5], features + 1) / features if features else np.zeros(size)
    return Effects(
        age=2.0 * np.arange(bins) / max(bins - 1, 1) - 1.0,
        variance=variances,
        weights=np.zeros(arms * size),
        spread=np.tile(np.diag(variances).ravel(), arms),
        u=np.zeros(size),
        gain=np.zeros(size),
    )
