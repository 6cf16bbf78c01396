"""An arm's survival curve from all of its plays, whatever policy decides.

The agent keeps one for each arm, for two purposes: to explain itself (mean delay with an interval)
and to know how long a play that is no longer watched would have gone on, on average.

Delays 0..D are cut into bins that grow geometrically. A play that came back is an event in its
bin, and has passed all bins before; a play cancelled or still out at age a has passed the bins
that end at a or earlier, and the bin of a by half. Counted so, a play costs O(1), and what is asked
for is worked out by the same evidence on which the survival policies decide
(`tarry.policies.survival.evidence`), with a prior of one play in all. Plays are counted many at a
time, in the order in which they came back, so that the sums are the same however they are grouped.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tarry.arrays import IntArray
from tarry.policies.survival.evidence import SurvivalEvidence, evidence_in_bins

BINS = 40
FINEST = 1e-4  # the first bin ends at this share of D
MASS = 1.0  # the weight of the prior, in plays
FIELDS = ("events", "sums", "squares", "cut")


class Estimate(NamedTuple):
    """A mean delay in ticks, with an approximate 95 % interval."""

    mean: float
    low: float
    high: float


class DelayCurve:
    """Events and passes of one arm, in a form that takes O(1) per play."""

    def __init__(self, max_delay: int) -> None:
        self.max_delay = max_delay
        grid = [max_delay * FINEST ** (1 - b / (BINS - 1)) for b in range(BINS)]
        self.edges = sorted({max(1, round(x)) for x in grid})
        bins = len(self.edges)
        self.events = np.zeros(bins + 1, np.int64)  # the last: plays that reached D
        self.sums = np.zeros(bins, np.int64)
        self.squares = np.zeros(bins)
        self.cut = np.zeros(bins + 1, np.int64)  # plays cancelled after passing exactly b bins

    def came_back(self, delays: Sequence[int] | IntArray) -> None:
        """Plays took so long; D means that one reached D."""
        taken = np.asarray(delays, np.int64)
        places = np.searchsorted(self.edges, taken, side="right")
        np.add.at(self.events, places, 1)
        early = places < len(self.sums)
        taken, places = taken[early], places[early]
        np.add.at(self.sums, places, taken)
        np.add.at(self.squares, places, taken.astype(float) * taken)

    def outlasted(self, delay: int) -> None:
        """A play that was taken to have reached D took this long."""
        self.events[-1] -= 1
        self.came_back([delay])

    def joined(self, delays: Sequence[int] | IntArray) -> "DelayCurve":
        """A curve of these plays as well."""
        other = DelayCurve(self.max_delay)
        for name in FIELDS:
            setattr(other, name, getattr(self, name).copy())
        other.came_back(delays)
        return other

    def cancelled(self, ages: IntArray) -> None:
        """Plays were given up at these ages."""
        np.add.at(self.cut, np.searchsorted(self.edges, ages, side="right"), 1)

    def estimate(self, ages: Sequence[int] | IntArray = ()) -> Estimate:
        """The mean delay and its interval; `ages` are those of the plays still out.

        Where nothing was heard at all, the interval is 0 to D.
        """
        evidence = self._evidence(ages, None)
        mean, square = evidence.moments_with_tail(0, 1.0)
        reach = 1.96 * math.sqrt(max(square - mean * mean, 0.0)) if evidence.known(0) else 1.0
        low, high = max(mean - reach, 0.0), min(mean + reach, 1.0)
        most = self.max_delay
        return Estimate(float(mean * most), float(low * most), float(high * most))

    def expected_beyond(
        self, age: IntArray, ages: Sequence[int] | IntArray = (), times: Sequence[int] | None = None
    ) -> IntArray:
        """The mean delay of plays that last at least `age`, in age..D; for each age below D.

        Of the plays still out, `times` many have each of the `ages`, one if left out.
        """
        evidence = self._evidence(ages, times)
        edges = np.array([0, *self.edges])
        place = np.searchsorted(self.edges, age, side="right")
        low, high = edges[place], edges[place + 1]
        ended = np.asarray(evidence.prior)[place] + np.asarray(evidence.events)[place]
        rest = ended * (high - age) / (high - low)  # events of this bin after `age`
        beyond = np.asarray(evidence.prior_beyond)[place] + np.asarray(evidence.passes)[place]
        means = {b: evidence.mean_from(0, b + 1) * self.max_delay for b in set(place.tolist())}
        longer = np.array([means[b] for b in place.tolist()])
        mean = (rest * (age + high) / 2 + beyond * longer) / (rest + beyond)
        return np.minimum(np.maximum(np.rint(mean).astype(np.int64), age), self.max_delay)

    def _evidence(
        self, ages: Sequence[int] | IntArray, times: Sequence[int] | None
    ) -> SurvivalEvidence:
        """The evidence of one arm that policies keep, from the plays that came back or did not."""
        bins, most = len(self.edges), self.max_delay
        cut = self.cut
        if len(ages):
            places = np.searchsorted(self.edges, ages, side="right")
            cut = cut + np.bincount(places, times, bins + 1).astype(np.int64)
        evidence = evidence_in_bins(1, most, np.array(self.edges), MASS, 1.0 / (bins + 1))
        beyond = np.cumsum((self.events + cut)[:0:-1])[::-1]  # plays that passed bin b
        for numbers, found in (
            (evidence.passes, beyond + cut[:-1] / 2),
            (evidence.events, self.events[:-1]),
            (evidence.event_sum, self.sums / most),
            (evidence.event_squares, self.squares / most**2),
        ):
            np.copyto(np.asarray(numbers), found)
        evidence.reached[0] = bins
        evidence.stale[0] = 1
        return evidence
