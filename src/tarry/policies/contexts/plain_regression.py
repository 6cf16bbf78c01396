"""What plays took that ended, by their requests: for explanations; nothing is decided by it.

For each arm a ridge regression of the payoff on u = (features, 1), as in
`tarry.policies.contexts.ridge`, of plays that ended only, and how far off it was each time:

    P = (I + sum of u u')^-1,    w = P sum of u x,    E = sum of u u' e^2

e is the error with which the payoff x of a play was foretold from those before it. So the variance
of w . u, u' P E P u, needs no belief about the delays, whose spread may differ from request to
request; and what the regression had to learn first is in it.

A feature is its distance from the arm's first value, in a unit that grows when it must, and
everything with it: unlike the features of `tarry.policies.contexts.scaler`, an early request is the
same u later on. Where means are linear in the features, nothing is blurred.
"""

import math
from typing import NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, Floats, FreshState
from tarry.plays import Plays
from tarry.policies.contexts.familiar import Familiar, not_familiar
from tarry.policies.contexts.scaler import CONSTANT, LARGEST, LIMIT

UNSEEN = -1.0  # the unit of a feature that had no value yet; it is 0 while all were the same
WIDEST = 1e8  # of a variance in P: with more, others would drown in its rounding


class PlainRegression(NamedTuple):
    """The regressions of all arms, arm-major, m = p + 1."""

    first: ArmEvidence[Floats]  # arm * p + j
    unit: ArmEvidence[Floats]  # likewise
    weights: ArmEvidence[Floats]  # arm * m + i
    errors: ArmEvidence[Floats]  # E: (arm * m + i) * m + j
    familiar: Familiar  # P
    u: FreshState[Floats]  # of the request looked at last

    def see(self, arm: int, plays: Plays, row: int) -> None:
        """Let the request of the play in `row` be within the scales of its arm."""
        features = len(self.u) - 1
        for j in range(features):
            place = arm * features + j
            x = plays.context[row, j]
            if abs(x) <= LARGEST:
                if self.unit[place] == UNSEEN:
                    self.first[place] = x
                    self.unit[place] = 0.0
                far = abs(x - self.first[place])
                if far > max(LIMIT * self.unit[place], CONSTANT * abs(self.first[place])):
                    self.rescale(arm, j, self.unit[place] / far)
                    self.unit[place] = far

    def rescale(self, arm: int, j: int, share: float) -> None:
        """Feature j is the share `share` of what it was, and its weight grows with that.

        If that is too little, as it is at the first time, the weight begins anew, as unknown as it
        then is.
        """
        size = len(self.u)
        own = (arm * size + j) * size + j
        anew = self.familiar.spread[own] >= WIDEST * share * share
        self.weights[arm * size + j] = 0.0 if anew else self.weights[arm * size + j] / share
        for i in range(size):
            for place in ((arm * size + i) * size + j, (arm * size + j) * size + i):
                spread, error = self.familiar.spread[place], self.errors[place]
                self.familiar.spread[place] = 0.0 if anew else spread / share
                self.errors[place] = 0.0 if anew else error * share
        if anew:
            self.familiar.spread[own] = 1.0

    def look(self, arm: int, plays: Plays, row: int, mean: Floats) -> None:
        """Put the features of the play in `row` into `u`; one that is missing is its mean."""
        features = len(self.u) - 1
        for j in range(features):
            place = arm * features + j
            x = plays.context[row, j]
            self.u[j] = 0.0
            if self.unit[place] > 0.0:
                far = (x if abs(x) <= LARGEST else mean[j]) - self.first[place]
                self.u[j] = min(max(far / self.unit[place], -LIMIT), LIMIT)
        self.u[features] = 1.0

    def enter(self, arm: int, payoff: float) -> None:
        """A play for the request looked at has ended."""
        size = len(self.u)
        error = payoff
        for i in range(size):
            error -= self.weights[arm * size + i] * self.u[i]
        step = self.familiar.take_in(arm, self.u) * error
        square = error * error
        for i in range(size):
            self.weights[arm * size + i] += self.familiar.gain[i] * step
            row = (arm * size + i) * size
            for j in range(i + 1):
                value = self.errors[row + j] + square * (self.u[i] * self.u[j])
                self.errors[row + j] = value
                self.errors[(arm * size + j) * size + i] = value

    def correct(self, arm: int, change: float) -> None:
        """The payoff of the play looked at, which was entered, was another by so much."""
        self.familiar.doubt(arm, self.u)
        for i in range(len(self.u)):
            self.weights[arm * len(self.u) + i] += self.familiar.gain[i] * change

    def fade(self, arm: int, keep: float) -> None:
        """Time goes by: each play counts `keep` times as much, down to what the prior says."""
        size = len(self.u)
        for i in range(size):
            row = (arm * size + i) * size
            if self.familiar.spread[row + i] < 1.0:
                for j in range(size):
                    self.familiar.spread[row + j] /= math.sqrt(keep)
                    self.familiar.spread[(arm * size + j) * size + i] /= math.sqrt(keep)
            for j in range(size):
                self.errors[row + j] *= keep * keep


def no_plain_regression(arms: int, features: int) -> PlainRegression:
    """No play has ended."""
    size = features + 1
    return PlainRegression(
        first=np.zeros(arms * features),
        unit=np.full(arms * features, UNSEEN),
        weights=np.zeros(arms * size),
        errors=np.zeros(arms * size * size),
        familiar=not_familiar(arms, features),
        u=np.zeros(size),
    )
