"""Requests that come again and again: what plays for the very same request have shown.

Where requests come in a few kinds, the curve of an arm for one kind need not be that of another
with tilted odds: if one is answered after 4 s and another after 9 s, sharp, no tilt says so, and a
regression may be sure of what no play for this kind has ever shown. So, as long as there are no
more than 64 different requests, each of them has a curve of its own for every arm, with nothing
but its own plays (`tarry.policies.survival.evidence`). It is silent unless it contradicts.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import Floats, SharedEvidence
from tarry.plays import Plays
from tarry.policies.contexts.scaler import LARGEST
from tarry.policies.survival.evidence import SurvivalEvidence, empty_evidence

MOST = 64  # kinds; with more, requests do not come in kinds, and nothing is looked at any more
CONTRADICTED = 9.0  # a squared distance of so many variances is no chance
HALF_A_PLAY = 0.5  # by so much may the payoff of one more play be off


class Kinds(NamedTuple):
    """Curve arm * 64 + kind is that of an arm for a kind of request."""

    met: SharedEvidence[Floats]  # one number: kinds so far
    requests: SharedEvidence[Floats]  # kind * p + j
    evidence: SurvivalEvidence

    def known(self) -> int:
        """How many kinds there are, 0 if there are too many."""
        return 0 if self.met[0] > MOST else int(self.met[0])

    def find(self, plays: Plays, row: int) -> int:
        """The kind of the request of the play in `row`, or -1; what is missing is alike."""
        size = len(self.requests) // MOST
        for kind in range(self.known()):
            j = 0
            while j < size:
                if stated(plays.context[row, j]) != self.requests[kind * size + j]:
                    break
                j += 1
            if j == size:
                return kind
        return -1

    def meet(self, plays: Plays, row: int) -> None:
        """A play for this request begins: if it is a new kind it is written down."""
        new = int(self.met[0])
        if new > MOST or self.find(plays, row) >= 0:
            return
        size = len(self.requests) // MOST
        if new < MOST:
            for j in range(size):
                self.requests[new * size + j] = stated(plays.context[row, j])
        self.met[0] += 1.0

    def contradict(self, curve: int, expected: float) -> bool:
        """Whether the plays of a curve cannot have the mean payoff that is `expected` of them.

        With n plays, mean m and variance V, and a part u that has outlived all that its plays have
        shown and counts as D:

            |m - expected| - u > 3 sqrt(V + (1/2 / (n + 1))^2)
        """
        evidence = self.evidence
        known = evidence.known(curve)
        if known <= 0.0:
            return False
        mean, square = evidence.moments_with_tail(curve, 1.0)
        apart = abs(mean - expected)
        if evidence.reached[curve] < len(evidence.edges):
            place = curve * len(evidence.edges) + evidence.reached[curve] - 1
            total = evidence.events[place] + evidence.passes[place]
            apart -= evidence.front[5 * curve + 1] * evidence.passes[place] / total
        off = HALF_A_PLAY / (known + 1.0)
        variance = max(square - mean * mean, 0.0) + off * off
        return apart > 0.0 and apart * apart > CONTRADICTED * variance


def stated(x: float) -> float:
    """A feature as it is told apart: one that is missing, or as good as that, is like others."""
    return x if abs(x) <= LARGEST else 2.0 * LARGEST


def no_kinds(arms: int, features: int, max_delay: int, bins: int) -> Kinds:
    """No request yet."""
    return Kinds(
        met=np.zeros(1),
        requests=np.zeros(MOST * features),
        evidence=empty_evidence(arms * MOST, max_delay, bins),
    )
