"""The regularised leader of Zimmert and Seldin (2020): who plays with which probability.

The probabilities of step t are the point of the simplex at which

    <x, L> - 2 sqrt(t) sum_i sqrt(x_i) + (1 / eta_t) sum_i x_i log x_i

is least, for estimated losses L. The first regulariser is for what is learnt (Tsallis entropy), the
second for what is out (negative entropy). With z = log x the condition for a minimum is

    L_i + f(z_i) = nu for all i,    f(z) = -sqrt(t) exp(-z / 2) + z / eta_t,    sum_i x_i = 1

f is increasing and concave in z, so Newton's method from the left finds each z_i for a given nu
without ever passing it, and sum_i x_i is increasing in nu.
"""

import math
from typing import NamedTuple

import numpy as np

from tarry.arrays import ArmState, Floats, FreshState, SharedState
from tarry.errors import InputError
from tarry.policies.protocol import Setting
from tarry.randomness import Random

MOST_ROWS = 1 << 20  # fewer plays than these can be remembered
EXACT = 1e-10  # how near the sum of the probabilities is to 1 before they are scaled to it


class Leader(NamedTuple):
    """Probabilities of the arms now, and those with which the latest plays were drawn."""

    chances: ArmState[Floats]  # x_i
    multiplier: FreshState[Floats]  # nu of the last step
    drawn: SharedState[Floats]  # by play, in a ring: the probability of the arm that was played

    def follow(self, losses: Floats, step: int, inverse_rate: float) -> None:
        """Compute the probabilities of this step; `inverse_rate` is 1 / eta_t."""
        arms = len(self.chances)
        least = losses[0]
        for arm in range(1, arms):
            least = min(least, losses[arm])
        root = math.sqrt(step)
        low = -root * math.sqrt(arms) - inverse_rate * math.log(arms)  # the best has 1 / K
        high = -root  # the best has 1
        nu = min(max(self.multiplier[0], low), high)
        for _ in range(100):
            total = 0.0
            slope = 0.0
            for arm in range(arms):
                z = log_chance(nu - (losses[arm] - least), root, inverse_rate)
                chance = math.exp(z)
                self.chances[arm] = chance
                total += chance
                slope += chance / (0.5 * root * math.exp(-0.5 * z) + inverse_rate)
            if abs(total - 1.0) <= EXACT or high - low <= 1e-15 * -low:
                break
            if total < 1.0:
                low = nu
            else:
                high = nu
            nu += (1.0 - total) / slope
            if not low < nu < high:
                nu = 0.5 * (low + high)
        self.multiplier[0] = nu
        for arm in range(arms):
            self.chances[arm] /= total

    def draw_play(self, number: int, rng: Random) -> int:
        """An arm for play `number`, by these probabilities, which is remembered."""
        left = rng.random()
        arm = 0
        while arm < len(self.chances) - 1 and left >= self.chances[arm]:
            left -= self.chances[arm]
            arm += 1
        self.drawn[number & (len(self.drawn) - 1)] = self.chances[arm]
        return arm

    def weight(self, number: int) -> float:
        """1 / x for the arm of a play that may still be out."""
        return 1.0 / self.drawn[number & (len(self.drawn) - 1)]


def log_chance(target: float, root: float, inverse_rate: float) -> float:
    """The z <= 0 with f(z) = target, for target <= -root: Newton from a point to its left."""
    z = -2.0 * math.log(-target / root)
    for _ in range(60):
        steep = root * math.exp(-0.5 * z)
        step = (target + steep - inverse_rate * z) / (0.5 * steep + inverse_rate)
        z += step
        if step <= 1e-13 * (1.0 - z):
            break
    return min(z, 0.0)


def new_leader(setting: Setting) -> Leader:
    """All arms alike; room for the plays that can be out in a simulation, one play per step."""
    out = min(setting.max_delay, setting.horizon or setting.max_delay)
    if out >= MOST_ROWS:
        raise InputError(
            f"Up to {out} plays can be out at once, the smaller of D and the horizon, but the "
            f"probabilities of fewer than {MOST_ROWS} plays are remembered; give a smaller D or "
            f"a shorter horizon."
        )
    rows = 1 << int(out).bit_length()
    return Leader(
        chances=np.full(setting.arms, 1.0 / setting.arms),
        multiplier=np.zeros(1),
        drawn=np.ones(rows),
    )
