"""The mean delay as a sum of increments, each known for every play that is old enough.

Cut 0..D at 0 = x_0 < x_1 < ... < x_G = D. Every delay is the sum of its increments

    d = sum_b w_b Y_b,   Y_b = min(max(d - x_{b-1}, 0), w_b) / w_b in [0, 1],   w_b = x_b - x_{b-1}

and Y_b is known for every play of age at least x_b, back or not: it is 1 for a play that is still
out at that age. So E[Y_b] can be bounded from n_b = the number of plays at least x_b old, and the
bounds of the increments add up to bounds of the mean. The plays at least x_b old are the first n_b
plays of the arm, whatever decided when to play it, so a bound for the mean of the first n
independent payoffs that holds for every n holds here. (The plays that are back would not do: short
delays come back first.)

An answer with x_{b-1} <= d < x_b has Y_b = (d - x_{b-1}) / w_b. It is counted when it is seen, a
little before its play is x_b old. Both bounds allow for that:

    upper:  the sum may hold answers of plays younger than x_b. That makes it too large: valid.
    lower:  either the sum is taken over the plays at least x_{b-1} old: all those answers belong
            to them, and those that are still out and younger than x_b count 0; or over the plays
            at least x_b old without those answers. Both are too small, both are valid.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, Constant, Floats, Ints
from tarry.policies.elimination.tight_bounds import kl_lower, kl_upper


class TightEvidence(NamedTuple):
    """Sums of increments of all arms, arm-major: entry arm * G + b belongs to increment b + 1."""

    edges: Constant[Ints]  # x_1 .. x_G
    widths: Constant[Floats]  # w_b / D
    full: ArmEvidence[Floats]  # plays with Y_b = 1, known by their age
    part: ArmEvidence[Floats]  # sum of Y_b over the answers that fell into the increment
    old: ArmEvidence[Ints]  # n_b

    def add_old(self, arm: int, edge: int) -> None:
        """A play has become edges[edge] old, back or not."""
        self.old[arm * len(self.edges) + edge] += 1

    def add_answer(self, arm: int, delay: int) -> None:
        """An answer came back: the increment that holds its delay is known in part."""
        grid = len(self.edges)
        b = 0
        before = 0
        while b < grid and self.edges[b] <= delay:
            before = self.edges[b]
            b += 1
        if b < grid:
            self.part[arm * grid + b] += (delay - before) / (self.edges[b] - before)

    def add_full(self, arm: int, edge: int) -> None:
        """A play is still out at age edges[edge]: that increment is 1."""
        self.full[arm * len(self.edges) + edge] += 1.0

    def remove_full(self, arm: int, edge: int) -> None:
        """It was not: its answer had come back before, but was told only afterwards."""
        self.full[arm * len(self.edges) + edge] -= 1.0

    def increments_lower(self, arm: int, plays: int, level: float) -> float:
        """LCB of the mean payoff of `arm`, which was played `plays` times.

        All counts n_b hold at once where `level` is a `uniform_level`. An increment that nobody is
        old enough for counts 0.
        """
        grid = len(self.edges)
        total = 0.0
        count = plays
        for b in range(grid):
            place = arm * grid + b
            if count == 0:
                break
            known = (self.full[place] + self.part[place]) / count
            lower = kl_lower(known, level / count)
            count = self.old[place]
            if count > 0 and self.full[place] > known * count:
                lower = max(lower, kl_lower(self.full[place] / count, level / count))
            total += self.widths[b] * lower
        return total

    def increments_upper(self, arm: int, level: float) -> float:
        """UCB of the mean payoff of `arm`; an increment nobody is old enough for counts fully."""
        grid = len(self.edges)
        total = 0.0
        for b in range(grid):
            place = arm * grid + b
            count = self.old[place]
            if count == 0:
                total += self.widths[b]
            else:
                known = min((self.full[place] + self.part[place]) / count, 1.0)
                total += self.widths[b] * kl_upper(known, level / count)
        return total


def empty_tight_evidence(arms: int, max_delay: int, grid: int) -> TightEvidence:
    """No play yet."""
    edges = np.unique(np.rint(np.geomspace(1, max_delay, grid)).astype(np.int64))
    size = len(edges)
    return TightEvidence(
        edges=edges,
        widths=np.diff(edges, prepend=0) / max_delay,
        full=np.zeros(arms * size),
        part=np.zeros(arms * size),
        old=np.zeros(arms * size, np.int64),
    )
