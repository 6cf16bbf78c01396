"""Bounds of all arms, each computed anew when it has aged, and the choice among them.

A bound changes little from step to step. It is renewed when the step or the plays of its arm have
grown by a 64th since it was last computed, so the cost of a step falls as 1 / t. A proof has to
allow for that: at step t a bound in use was computed at a step s with t <= s + s // 64, when its
arm had n plays, of which there are now at most n + n // 64.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import ArmState, Floats, Ints
from tarry.ledger import Ledger

SLOWNESS = 64


class KeptBounds(NamedTuple):
    """One bound per arm, and when it is to be renewed."""

    value: ArmState[Floats]
    from_step: ArmState[Ints]  # renew from this step on,
    from_plays: ArmState[Ints]  # or from this number of plays of the arm on

    def is_due(self, arm: int, step: int, plays: int) -> bool:
        """Whether the bound of `arm` is to be computed anew."""
        return step >= self.from_step[arm] or plays >= self.from_plays[arm]

    def renew(self, arm: int, step: int, plays: int, bound: float) -> None:
        """The bound of `arm` at this step, after so many plays of it."""
        self.value[arm] = bound
        self.from_step[arm] = step + 1 + step // SLOWNESS
        self.from_plays[arm] = plays + 1 + plays // SLOWNESS

    def best(self, ledger: Ledger, reward: bool) -> int:
        """The arm with the largest bound (reward) or the least one (cost).

        Ties go to the arm with fewest plays, then to the lowest index.
        """
        sign = 1.0 if reward else -1.0
        best = 0
        for arm in range(1, len(self.value)):
            ahead = sign * (self.value[arm] - self.value[best])
            if ahead > 0.0 or (ahead == 0.0 and ledger.plays[arm] < ledger.plays[best]):
                best = arm
        return best


def no_bounds(arms: int) -> KeptBounds:
    """Nothing computed yet, and all of it due."""
    zeros = np.zeros(arms, np.int64)
    return KeptBounds(np.zeros(arms), zeros, zeros.copy())
