"""Whether an arm is slower the more plays of it are out, and by how much: answered plays tell.

For each arm, the loss y of an answered play (how far its payoff is from the best one) is regressed
on the number n of plays of the arm that were out when it started, with all sums faded by 1 - 1/1000
per answer; costs of D are left out. With the slope, its standard error se and the means of n and y,

    rel = max(0, slope - CAUTION se) / mean(y)          0 if the sums hold fewer than FEW answers
    factor = max(LEAST, 1 + rel (out - mean(n)))        for an arm with `out` plays out now

An arm that slows down under load becomes worse with each play sent to it, before any of them is
back, so that arms which are equal share the load.
"""

import math
from typing import NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, Floats

FADE = 1.0 - 1.0 / 1000.0
CAUTION = 0.1
FEW = 10.0
LEAST = 0.5
WEIGHT, N, Y, NN, NY, YY = range(6)  # the sums of an arm
SUMS = 6


class Crowding(NamedTuple):
    """The sums of the regression of each arm."""

    watched: bool  # whether plays may slow down each other at all
    sums: ArmEvidence[Floats]

    def hear_loss(self, arm: int, ahead: int, loss: float) -> None:
        """An answered play: it started with `ahead` others of its arm out."""
        if not self.watched:
            return
        first = arm * SUMS
        for i in range(SUMS):
            self.sums[first + i] *= FADE
        self.sums[first + WEIGHT] += 1.0
        self.sums[first + N] += ahead
        self.sums[first + Y] += loss
        self.sums[first + NN] += ahead * ahead
        self.sums[first + NY] += ahead * loss
        self.sums[first + YY] += loss * loss

    def factor(self, arm: int, out: int) -> float:
        """By how much the next play of the arm is worse than its mean, with `out` plays out."""
        if not self.watched:
            return 1.0
        first = arm * SUMS
        weight = self.sums[first + WEIGHT]
        if weight < FEW:
            return 1.0
        n = self.sums[first + N] / weight
        y = self.sums[first + Y] / weight
        spread = self.sums[first + NN] - weight * n * n
        if y <= 0.0 or spread <= 1e-9 * weight:
            return 1.0
        both = self.sums[first + NY] - weight * n * y
        slope = both / spread
        left = max(self.sums[first + YY] - weight * y * y - slope * both, 0.0)
        error = math.sqrt(left / (weight - 2.0) / spread)
        steeper = max(0.0, slope - CAUTION * error) / y
        return max(LEAST, 1.0 + steeper * (out - n))


def no_crowding(arms: int, *, watched: bool) -> Crowding:
    """Nothing was answered yet."""
    return Crowding(watched, np.zeros(arms * SUMS))
