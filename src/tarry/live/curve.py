"""An arm's survival curve from all of its plays, whatever policy decides.

The agent keeps one for each arm, for two purposes: to explain itself (mean delay with an interval)
and to know how long a play that is no longer watched would have gone on, on average.

Delays 0..D are cut into bins that grow geometrically. A play that came back is an event in its
bin, and has passed all bins before; a play cancelled or still out at age a has passed the bins
that end at a or earlier, and the bin of a by half. With events e_b, passes p_b, and a prior of one
play in all,

    hazard      h_b = (a_b + e_b) / (a_b + e_b + r_b + p_b)
    mean beyond M_b = h_b x_b + (1 - h_b) M_{b+1},    M_B = D

where x_b is the mean delay of the events in the bin. M_0 is the estimate of the mean delay.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

BINS = 40
FINEST = 1e-4  # the first bin ends at this share of D
MASS = 1.0  # the weight of the prior, in plays


class Estimate(NamedTuple):
    """A mean delay in ticks, with an approximate 95 % interval."""

    mean: float
    low: float
    high: float


class Curve:
    """Events and passes of one arm, in a form that takes O(1) per play."""

    def __init__(self, max_delay: int) -> None:
        self.max_delay = max_delay
        grid = [max_delay * FINEST ** (1 - b / (BINS - 1)) for b in range(BINS)]
        self.edges = sorted({max(1, round(x)) for x in grid})
        bins = len(self.edges)
        self.events = [0] * (bins + 1)  # the last: plays that reached D
        self.sums = [0] * bins
        self.squares = [0.0] * bins
        self.cut = [0] * (bins + 1)  # plays cancelled after passing exactly b bins

    def came_back(self, delay: int) -> None:
        """A play took `delay`; D means that it reached D."""
        place = bisect_right(self.edges, delay)
        self.events[place] += 1
        if place < len(self.sums):
            self.sums[place] += delay
            self.squares[place] += float(delay) * delay

    def cancelled(self, age: int) -> None:
        """A play was given up at this age."""
        self.cut[bisect_right(self.edges, age)] += 1

    def estimate(self, ages: Iterable[int] = ()) -> Estimate:
        """The mean delay and its interval; `ages` are those of the plays still out.

        The variance is that of the hazards by the delta method, plus that of the means within bins.
        """
        rows = self._rows(ages)
        survival, variance = 1.0, 0.0
        for hazard, weight, centre, spread, mean_beyond in rows:
            step = survival * (centre - mean_beyond)
            variance += step * step * hazard * (1.0 - hazard) / (weight + 1.0)
            variance += (survival * hazard) ** 2 * spread
            survival *= 1.0 - hazard
        first = rows[0]
        mean = first[0] * first[2] + (1.0 - first[0]) * first[4]
        reach = 1.96 * math.sqrt(variance)
        return Estimate(mean, max(mean - reach, 0.0), min(mean + reach, float(self.max_delay)))

    def expected_beyond(self, age: int, ages: Iterable[int] = ()) -> int:
        """The mean delay of plays that last at least `age`, in age..D."""
        if age >= self.max_delay:
            return self.max_delay
        place = bisect_right(self.edges, age)
        hazard, weight, _, _, mean_beyond = self._rows(ages)[place]
        low = self.edges[place - 1] if place else 0
        high = self.edges[place]
        rest = hazard * weight * (high - age) / (high - low)  # events of this bin after `age`
        beyond = (1.0 - hazard) * weight
        mean = (rest * (age + high) / 2 + beyond * mean_beyond) / (rest + beyond)
        return min(max(round(mean), age), self.max_delay)

    def _rows(self, ages: Iterable[int]) -> list[tuple[float, float, float, float, float]]:
        """Per bin: h_b, plays at risk, x_b, the variance of x_b, and M_{b+1}."""
        edges, bins = self.edges, len(self.edges)
        cut = self.cut.copy()
        for age in ages:
            cut[bisect_right(edges, age)] += 1
        share = MASS / (bins + 1)
        beyond, mean_beyond = 0, float(self.max_delay)  # plays that passed bin b
        rows = []
        for b in range(bins - 1, -1, -1):
            beyond += self.events[b + 1] + cut[b + 1]
            low = edges[b - 1] if b else 0
            centre = (low + edges[b]) / 2
            ended = share + self.events[b]
            weight = ended + share * (bins - b) + beyond + cut[b] / 2
            hazard = ended / weight
            mean = (share * centre + self.sums[b]) / ended
            square = share * (centre * centre + (edges[b] - low) ** 2 / 12) + self.squares[b]
            spread = max(square / ended - mean * mean, 0.0) / (ended + 1.0)
            rows.append((hazard, weight, mean, spread, mean_beyond))
            mean_beyond = hazard * mean + (1.0 - hazard) * mean_beyond
        rows.reverse()
        return rows
