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

A curve of survival falls, so what is known of one increment says something of the others:

    P(d >= x_{b-1}) >= E[Y_b] >= P(d >= x_b) >= E[Y_{b+1}]

A lower bound of one increment is one of all before it, an upper bound one of all after it: the
*envelope*. Whether plays last to x_b, full_b / n_b, bounds E[Y_{b+1}] from above as well.
"""

import math
from typing import NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, Constant, Floats, IntArray, Ints
from tarry.policies.coins import kl_lower, kl_upper


class Increments(NamedTuple):
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

    def envelope_lower(self, arm: int, plays: int, base: float, growth: float) -> float:
        """LCB of the mean payoff of `arm`, each increment helped by those after it.

        The level of a bound from n plays is base + growth log n.
        """
        grid = len(self.edges)
        total = 0.0
        best = 0.0
        for b in range(grid - 1, -1, -1):
            place = arm * grid + b
            before = plays if b == 0 else self.old[place - 1]
            full = self.full[place]
            sum_known = full + self.part[place]
            if sum_known > 0.0 and before > 0:
                known = min(sum_known / before, 1.0)
                best = max(best, kl_lower(known, radius(base, growth, before)))
                count = self.old[place]
                if count > 0 and full > known * count:
                    old_known = min(full / count, 1.0)
                    best = max(best, kl_lower(old_known, radius(base, growth, count)))
            total += self.widths[b] * best
        return total

    def envelope_upper(self, arm: int, base: float, growth: float) -> float:
        """UCB of the mean payoff of `arm`, each increment helped by those before it, likewise."""
        grid = len(self.edges)
        total = 0.0
        best = 1.0
        for b in range(grid):
            place = arm * grid + b
            count = self.old[place]
            if count > 0:
                width = radius(base, growth, count)
                known = min((self.full[place] + self.part[place]) / count, 1.0)
                best = min(best, kl_upper(known, width))
                total += self.widths[b] * best
                lasted = min(self.full[place] / count, 1.0)
                if lasted < known:
                    best = min(best, kl_upper(lasted, width))
            else:
                total += self.widths[b] * best
        return total


def radius(base: float, growth: float, count: int) -> float:
    """The level of a bound from `count` plays, base + growth log(count), over that count."""
    return (base + growth * math.log(count)) / count


def no_increments(arms: int, max_delay: int, edges: IntArray) -> Increments:
    """No play yet; `edges` are x_1 .. x_G, increasing up to D."""
    size = len(edges)
    return Increments(
        edges=edges,
        widths=np.diff(edges, prepend=0) / max_delay,
        full=np.zeros(arms * size),
        part=np.zeros(arms * size),
        old=np.zeros(arms * size, np.int64),
    )
