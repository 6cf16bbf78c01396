"""How sure a survival curve and its area are, at small counts too.

Where every play is finished, n ordered payoffs x_1 <= ... <= x_n in [0, D] are given the random
weights W_0, ..., W_n of n + 1 evenly drawn pieces of the unit interval. With one more payoff at D,
quantiles of sum_i W_i x_i are upper limits of the mean; with one more at 0, lower limits (Gaffke
2005). For payoffs that are 0 or D these are the limits of Clopper and Pearson. That they hold for
every law on [0, D] is a conjecture which nobody has refuted (Learned-Miller and Thomas 2019, Phan,
Thomas and Learned-Miller 2021); `python -m benchmarks.log_coverage` measures it.

The same weights as a curve: the share that is left after the j-th of n falls by the factor
U_j^(1/(n - j + 1)) with U_j even on [0, 1]. So written it does not matter why fewer are at risk:
with n_j at risk at the j-th end,

    upper(t) = product over the ends before t of U_j^(1/n_j)
    lower(t) = upper(t) U^(1/Y(t))

where Y(t) are the plays still watched at t, and U belongs to the next end (the beta product
limits of Fay, Brittain and Proschan 2013). Where nobody is watched any longer, lower is 0 and
upper stays level: nothing is known there. Areas of these curves are limits of the restricted mean;
limits of a difference come from the upper curve of one arm and the lower curve of the other (Fay,
Proschan and Brittain 2015). A play that is given up must not be given up because of how it goes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray

DRAWS = 4000
FINEST = 400  # more distinct times than this are put into as many bins
PAGE = 2_000_000  # random numbers in memory at a time


class Draws(NamedTuple):
    """Areas under random lower and upper curves, in the unit of time, by draw."""

    low: FloatArray
    high: FloatArray
    between: FloatArray  # somewhere between the two: what is likely, not what is safe

    def limits(self, level: float) -> tuple[float, float]:
        """The two-sided interval."""
        return quantiles(self.low, self.high, level)


class Steps(NamedTuple):
    """An arm's plays in the order of time, as steps of a curve: one for each distinct time.

    Step s covers the time from start[s] to end[s]. During it `watched` plays are watched, at its
    end `events` plays finish, on average `ahead` before the end (0 unless several distinct times
    share a step). The last step ends at D, where nothing needs to be known any more.
    """

    start: FloatArray
    end: FloatArray
    watched: IntArray
    events: IntArray
    ahead: FloatArray


def quantiles(low: FloatArray, high: FloatArray, level: float) -> tuple[float, float]:
    """The lower limit from draws of `low`, the upper one from draws of `high`."""
    miss = (1.0 - level) / 2
    return float(np.quantile(low, miss)), float(np.quantile(high, 1.0 - miss))


def steps_of(times: FloatArray, finished: FloatArray, limit: float, finest: int = FINEST) -> Steps:
    """The steps of plays that lasted `times` (at most `limit`), or longer if not `finished`."""
    below = times < limit
    distinct, place = np.unique(times[below], return_inverse=True)
    ends = finished[below]
    if len(distinct) > finest:
        edges = np.unique(np.quantile(times[below], np.linspace(0.0, 1.0, finest + 1)[1:]))
        place = np.searchsorted(edges, times[below], "left")
        distinct = edges
    bins = len(distinct)
    events = np.bincount(place, ends, bins).astype(np.int64)
    gone = np.bincount(place, minlength=bins)
    before = np.concatenate([[0], np.cumsum(gone)]).astype(np.int64)
    sums = np.bincount(place, np.where(ends, distinct[place] - times[below], 0.0), bins)
    ahead = sums / np.maximum(events, 1)
    watched = len(times) - before
    return Steps(
        start=np.concatenate([[0.0], distinct]),
        end=np.concatenate([distinct, [limit]]),
        watched=watched,
        events=np.concatenate([events, [0]]),
        ahead=np.concatenate([ahead, [0.0]]),
    )


def random_curves(
    steps: Steps, rng: np.random.Generator, draws: int
) -> tuple[FloatArray, FloatArray]:
    """Random heights of the lower and the upper curve during each step, (draws, steps)."""
    count = len(steps.watched)
    ending = np.flatnonzero(steps.events)
    at_risk, events = steps.watched[ending], steps.events[ending]
    # One uniform for the first end at each time, and one for what follows the last end.
    luck = np.log1p(-rng.random((draws, len(ending) + 1)))
    falls = luck[:, :-1] / at_risk
    for place in np.flatnonzero(events > 1):  # the other ends at the same time
        left = at_risk[place] - events[place] + 1
        falls[:, place] += np.log(rng.beta(left, events[place] - 1, draws))
    upper = np.zeros((draws, count))
    after = ending + 1
    upper[:, after] = falls
    upper = np.cumsum(upper, axis=1)
    following = np.searchsorted(ending, np.arange(count), "left")
    watched = np.maximum(steps.watched, 1)
    lower = upper + luck[:, following] / watched
    lower[:, steps.watched == 0] = -np.inf
    return np.exp(lower), np.exp(upper)


def mean_draws(
    times: FloatArray, finished: FloatArray, limit: float, seed: Sequence[int], draws: int = DRAWS
) -> Draws:
    """Random lower and upper restricted means of one arm; the same for the same plays and seed."""
    steps = steps_of(times, finished, limit)
    rng = np.random.default_rng(seed)
    width = steps.end - steps.start
    page = max(1, min(draws, PAGE // len(width)))
    parts = []
    for start in range(0, draws, page):
        lower, upper = random_curves(steps, rng, min(page, draws - start))
        parts.append((area(lower, width, steps.ahead), area(upper, width, steps.ahead)))
    low, high = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Draws(low, high, low + rng.random(draws) * (high - low))


def area(curve: FloatArray, width: FloatArray, ahead: FloatArray) -> FloatArray:
    """The area under each curve; within a step, ends come `ahead` of its end on average."""
    drops = curve[:, :-1] - curve[:, 1:]
    return curve @ width - drops @ ahead[:-1]
