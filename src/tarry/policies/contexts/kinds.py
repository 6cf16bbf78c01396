"""Requests that come again and again: what plays for the very same request have shown.

Where requests come in a few kinds, the curve of an arm for one kind need not be that of another
with tilted odds: if one is answered after 4 s and another after 9 s, sharp, no tilt says so, and a
regression may be sure of what no play for this kind has ever shown. So up to 64 requests each have
a curve of their own for every arm, with nothing but its own plays
(`tarry.policies.survival.evidence`). It is silent unless it contradicts. If it does, arms that were
hardly played for this kind are tried.

Which ones is found as the requests come, after Misra and Gries (1982): each place has a weight, one
for every play. A request that is new takes a place that is free; if none is, all weights fall by
one, and who has none left goes. A request that makes up more than a 65th of all plays is kept.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import Floats, FreshState, SharedEvidence
from tarry.plays import Plays
from tarry.policies.contexts.scaler import LARGEST
from tarry.policies.survival.evidence import SurvivalEvidence, empty_evidence

MOST = 64  # places
CONTRADICTED = 9.0  # a squared distance of so many variances is no chance
HALF_A_PLAY = 0.5  # by so much may the payoff of one more play be off
SETTLED = 4.0  # plays for each arm there is: a kind with so many can spare a few
TRIED = 10.0  # plays of an arm for a kind, which can speak for themselves
FOREIGN = 1.5  # times m (n + 1): plays for requests alike, beyond which most are for other kinds
AS_MANY = 2.0  # plays of an arm that count in their place, for each of its own


class Kinds(NamedTuple):
    """Curve arm * 64 + kind is that of an arm for a kind of request."""

    weight: SharedEvidence[Floats]  # by kind: plays for it, less what new requests took; 0: free
    requests: SharedEvidence[Floats]  # kind * p + j
    evidence: SurvivalEvidence
    against: FreshState[Floats]  # by arm: 1 if its curve contradicts, for the latest request

    def find(self, plays: Plays, row: int) -> int:
        """The kind of the request of the play in `row`, or -1; what is missing is alike."""
        size = len(self.requests) // MOST
        for kind in range(MOST):
            if self.weight[kind] > 0.0:
                j = 0
                while j < size:
                    if stated(plays.context[row, j]) != self.requests[kind * size + j]:
                        break
                    j += 1
                if j == size:
                    return kind
        return -1

    def meet(self, plays: Plays, row: int) -> None:
        """A play for this request begins: its kind weighs more, or takes a place if it can."""
        kind = self.find(plays, row)
        if kind < 0:
            kind = 0
            while kind < MOST and self.weight[kind] > 0.0:
                kind += 1
            if kind == MOST:
                self.make_room()
                return
            size = len(self.requests) // MOST
            for j in range(size):
                self.requests[kind * size + j] = stated(plays.context[row, j])
        self.weight[kind] += 1.0

    def make_room(self) -> None:
        """All weights fall by one; who has none left loses its curves."""
        for kind in range(MOST):
            self.weight[kind] = max(self.weight[kind] - 1.0, 0.0)
            if self.weight[kind] <= 0.0:
                for curve in range(kind, len(self.evidence.reached), MOST):
                    if self.evidence.reached[curve] > 0:
                        self.evidence.fade_counts(curve, 0.0)
                        self.evidence.reached[curve] = 0

    def fade(self, keep: float) -> None:
        """Time goes by: of weights and curves the share `keep` is left."""
        for kind in range(MOST):
            if self.weight[kind] > 0.0:
                self.weight[kind] *= keep
                for curve in range(kind, len(self.evidence.reached), MOST):
                    if self.evidence.reached[curve] > 0:
                        self.evidence.fade_counts(curve, keep)

    def plays_to_go_by(self, arm: int, kind: int, plays: float) -> float:
        """How many plays say what an arm is worth for a kind, where similar ones are `plays`.

        With n those for this very kind, 2 (n + 1) if the kind has come 4 times for each arm there
        is, n is below 10 and `plays` is above 1.5 m (n + 1): then it is other kinds that say what
        the arm is worth here, which they cannot know. Where every kind has a column of its own they
        say little, and `plays` is m n, nearly.
        """
        if kind < 0 or self.weight[kind] < SETTLED * (len(self.evidence.reached) // MOST):
            return plays
        known = self.evidence.known(arm * MOST + kind)
        terms = len(self.requests) // MOST + 1
        if known >= TRIED or plays <= FOREIGN * terms * (known + 1.0):
            return plays
        return AS_MANY * (known + 1.0)

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
        weight=np.zeros(MOST),
        requests=np.zeros(MOST * features),
        evidence=empty_evidence(arms * MOST, max_delay, bins),
        against=np.zeros(arms),
    )
