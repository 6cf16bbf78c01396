"""Features on one scale, learnt as requests come: what a rule sees of a request."""

import math
from typing import NamedTuple

import numpy as np

from tarry.arrays import Floats, FreshState, SharedEvidence
from tarry.plays import Plays

LIMIT = 4.0  # deviations from the mean, at most
LARGEST = 1e150  # beyond, or infinite: as good as missing, for its square is no number
CONSTANT = 1e-9  # a column that varies by less than this share of its mean does not vary


class Scaler(NamedTuple):
    """Mean and deviation of every feature, over the requests that were played (Welford 1962).

    A feature x becomes

        z = (x - mean) / deviation * sqrt(n / (n + 2)),   cut to -4..4

    with n the values so far: so little is made of the first few. It is 0, the mean, where it is
    missing (NaN), or where all values were the same so far. After the features comes a 1, so that
    every regression has a constant term.
    """

    seen: SharedEvidence[Floats]  # by feature: values so far
    mean: SharedEvidence[Floats]
    square: SharedEvidence[Floats]  # sum of squared deviations from the mean
    z: FreshState[Floats]  # the features of the request looked at last, scaled, and a 1

    def see(self, plays: Plays, row: int) -> None:
        """Take in the request of the play in `row`."""
        for j in range(len(self.mean)):
            x = plays.context[row, j]
            if abs(x) <= LARGEST:  # not if it is missing
                self.seen[j] += 1.0
                step = x - self.mean[j]
                self.mean[j] += step / self.seen[j]
                self.square[j] += step * (x - self.mean[j])

    def look(self, plays: Plays, row: int) -> None:
        """Put the scaled features of the play in `row` into `z`."""
        for j in range(len(self.mean)):
            x = plays.context[row, j]
            n = self.seen[j]
            self.z[j] = 0.0
            if abs(x) <= LARGEST and n > 0.0:
                deviation = math.sqrt(self.square[j] / n)
                if deviation > CONSTANT * abs(self.mean[j]):
                    value = (x - self.mean[j]) / deviation * math.sqrt(n / (n + 2.0))
                    self.z[j] = min(max(value, -LIMIT), LIMIT)
        self.z[len(self.mean)] = 1.0


def new_scaler(features: int) -> Scaler:
    """Nothing was seen yet."""
    seen, mean, square = (np.zeros(features) for _ in range(3))
    return Scaler(seen, mean, square, z=np.zeros(features + 1))
