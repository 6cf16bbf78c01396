"""Means, limits, curves and who is best, of all arms at once, from counts in bins.

These are the limits of `tarry.logs.confidence`, in a form that takes no random numbers: a figure on
a screen that is drawn anew every second must not tremble. In bin b, n_b plays are watched (half of
those given up in it) and e_b end, on average a_b before its end, w_b being its width. With

    F_b ~ Beta(n_b - e_b + 1, e_b)                        what is left of those who reached the bin
    A_b = (w_b - a_b) + F_b (a_b + A_(b+1)),   A_B = 0    the area under the upper curve from b on

the F_b are independent, so mean and mean square of A_0 follow from one pass backwards. The lower
curve is the upper one after one more end: with G ~ Beta(n, 1) for the first end of a bin and
H ~ Beta(n - e + 1, e - 1) for the others, it falls by H_b G_c, where c is the next bin with an end.
A law with these two moments and the range 0 to D, a Beta law, has the quantiles we take: Fay,
Brittain and Proschan (2013) do so for points of the curve. Where every play ends at 0 or at D it is
exact. `python -m benchmarks.view_coverage` measures how often the truth is inside.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray

LEVEL = 0.95
SPREAD = 4.5  # standard deviations around a mean in which its law is looked at
FAR = 6.0  # standard deviations by which an arm must be behind to have no chance at all
GRID = 25  # points of each of the leading arms at which chances are worked out
LEADING = 10
DRAWS = 1000
HALVINGS = 16  # a quantile is found to 2e-4 standard deviations


class Bins(NamedTuple):
    """What is known of the arms: arrays (arms, bins), times as shares of D."""

    width: FloatArray  # (bins,)
    watched: FloatArray  # n_b
    events: FloatArray  # e_b
    ahead: FloatArray  # a_b


class Moments(NamedTuple):
    """Mean and variance of each arm's mean payoff, as shares of D."""

    mean: FloatArray
    variance: FloatArray


class Limits(NamedTuple):
    """A mean by arm with its interval, as shares of D, and the law of what is likely."""

    mean: FloatArray
    low: FloatArray
    high: FloatArray
    likely: Moments


class Band(NamedTuple):
    """The share that is left at the end of each bin, (arms, bins), with an interval."""

    alive: FloatArray
    low: FloatArray
    high: FloatArray


def bins_of(edges: IntArray, events: IntArray, sums: IntArray, cut: IntArray) -> Bins:
    """From the counts of `tarry.live.curve.DelayCurve`, stacked by arm; the last entry is D."""
    most = float(edges[-1])
    beyond = np.cumsum((events + cut)[:, :0:-1], axis=1)[:, ::-1]
    ended = events[:, :-1].astype(float)
    late = np.where(ended > 0, edges - sums / np.maximum(ended, 1.0), 0.0)
    width = np.diff(np.concatenate([[0], edges])) / most
    return Bins(width, beyond + ended + cut[:, :-1] / 2, ended, late / most)


def mean_limits(bins: Bins, level: float = LEVEL) -> Limits:
    """The restricted mean of each arm with its interval."""
    _, upper, upper_square, lower, lower_square, first, first_square = falls(bins)
    mean = estimated(bins)
    high = Moments(*area(bins, upper, upper_square))
    inside, square = area(bins, lower, lower_square, bins.watched > 0)
    whole = (square + inside**2) * first_square
    low = Moments(inside * first, np.maximum(whole - (inside * first) ** 2, 0.0))
    miss = (1.0 - level) / 2
    return Limits(
        mean=mean,
        low=np.minimum(quantile(low, miss), mean),
        high=np.maximum(quantile(high, 1.0 - miss), mean),
        likely=between(low, high),
    )


def estimated(bins: Bins) -> FloatArray:
    """The restricted mean of the curve of Kaplan and Meier, as in a log: no imagined play is in it.

    Beyond the age at which anybody has looked, each later bin and D are equally likely, as in the
    prior of `tarry.live.curve`. A log holds the curve level there and says "at most": a live mean
    would begin at D and fall to the truth, two to five times as far from it at first.
    """
    count = bins.events.shape[1]
    ends = np.cumsum(bins.width)
    centre = ends - bins.width / 2
    mean = np.ones(len(bins.events))
    for b in range(count - 1, -1, -1):
        watched, ended = bins.watched[:, b], bins.events[:, b]
        total = ended * (ends[b] - bins.ahead[:, b]) + (watched - ended) * mean
        unseen = (centre[b] + (count - b) * mean) / (count - b + 1)
        mean = np.where(watched > 0, total / np.where(watched > 0, watched, 1.0), unseen)
    return mean


def band(bins: Bins, level: float = LEVEL) -> Band:
    """The curve of each arm and the limits of its points."""
    share, upper, upper_square, lower, lower_square, first, first_square = falls(bins)
    alive = np.cumprod(share, axis=1)
    high = np.cumprod(upper, axis=1)
    high_square = np.cumprod(upper_square, axis=1)
    low = np.cumprod(lower, axis=1) * first[:, None]
    low_square = np.cumprod(lower_square, axis=1) * first_square[:, None]
    miss = (1.0 - level) / 2
    floor = quantile(Moments(low, np.maximum(low_square - low**2, 0.0)), miss)
    after = np.concatenate([bins.watched[:, 1:], bins.watched[:, -1:] - bins.events[:, -1:]], 1)
    floor = np.where(after > 0, floor, 0.0)
    top = quantile(Moments(high, np.maximum(high_square - high**2, 0.0)), 1.0 - miss)
    return Band(alive, np.minimum(floor, alive), np.maximum(top, alive))


def falls(bins: Bins) -> tuple[FloatArray, ...]:
    """By what the curves fall in each bin: the estimate, and means and squares of both limits.

    Last, what the lower curve starts with.
    """
    n, e = bins.watched, bins.events
    some = e > 0
    share = np.where(some, 1.0 - e / np.maximum(n, e + (e == 0)), 1.0)
    upper, upper_square = beta_moments(n - e + 1.0, e)
    rest, rest_square = beta_moments(n - e + 1.0, np.maximum(e - 1.0, 0.0))
    risk = next_at_risk(n, some)
    step, step_square = beta_moments(risk[:, 1:], 1.0)
    lower = np.where(some, rest * step, 1.0)
    lower_square = np.where(some, rest_square * step_square, 1.0)
    first, first_square = beta_moments(risk[:, 0], 1.0)
    return share, upper, upper_square, lower, lower_square, first, first_square


def next_at_risk(watched: FloatArray, some: FloatArray) -> FloatArray:
    """For each bin, and for the time after the last: how many are watched at the next end.

    Where no end follows, the fewest who are still watched; 0 where nobody is.
    """
    arms, count = watched.shape
    found = np.zeros((arms, count + 1))
    last = watched[:, -1].copy()
    found[:, -1] = last
    for b in range(count - 1, -1, -1):
        tail = np.where(found[:, b + 1] > 0, found[:, b + 1], watched[:, b])
        found[:, b] = np.where(some[:, b], watched[:, b], tail)
    return found


def beta_moments(a: FloatArray, b: FloatArray | float) -> tuple[FloatArray, FloatArray]:
    """Mean and mean square of Beta(a, b): 1 where b is 0, 0 where a is 0."""
    total = a + b
    safe = np.where(total > 0, total, 1.0)
    mean = np.where(total > 0, a / safe, 1.0)
    return mean, mean * np.where(total > 0, (a + 1.0) / (safe + 1.0), 1.0)


def area(
    bins: Bins, fall: FloatArray, square: FloatArray, counted: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of the area under a curve that falls by independent factors."""
    arms, count = bins.events.shape
    mean, whole = np.zeros(arms), np.zeros(arms)
    for b in range(count - 1, -1, -1):
        a = bins.ahead[:, b]
        here = bins.width[b] - a
        if counted is not None:
            here = np.where(counted[:, b], here, 0.0)
        f, ff = fall[:, b], square[:, b]
        whole = here**2 + 2 * here * f * (a + mean) + ff * (a**2 + 2 * a * mean + whole)
        mean = here + f * (a + mean)
    return mean, np.maximum(whole - mean**2, 0.0)


def between(low: Moments, high: Moments) -> Moments:
    """Of a point drawn evenly between the lower and the upper mean, which go up and down together.

    With V even on [0, 1]: E ((1-V) L + V H)^2 = (E L^2 + E L H + E H^2) / 3.
    """
    mean = (low.mean + high.mean) / 2
    both = low.mean * high.mean + np.sqrt(low.variance * high.variance)
    square = (low.variance + low.mean**2 + both + high.variance + high.mean**2) / 3
    return Moments(mean, np.maximum(square - mean**2, 0.0))


def shape_of(law: Moments) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The two numbers of a Beta law with these moments, and where there is one."""
    room = law.mean * (1.0 - law.mean)
    is_law = (law.variance > 1e-16) & (law.variance < room)
    size = np.where(is_law, room / np.where(is_law, law.variance, 1.0) - 1.0, 1.0)
    return law.mean * size, (1.0 - law.mean) * size, is_law


def quantile(law: Moments, chance: float) -> FloatArray:
    """The quantile of a Beta law with these moments; the mean where there is no spread.

    By halving, from where it must be by Chebyshev's inequality: many times quicker than
    `scipy.special.betaincinv` where shapes are small.
    """
    from scipy.special import betainc  # takes a moment to import, and only who looks needs it

    a, b, is_law = shape_of(law)
    a, b = np.where(is_law, a, 1.0), np.where(is_law, b, 1.0)
    reach = np.sqrt(law.variance / min(chance, 1.0 - chance))
    low, high = np.maximum(law.mean - reach, 0.0), np.minimum(law.mean + reach, 1.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = betainc(a, b, middle) < chance
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(is_law, (low + high) / 2, law.mean)


def chances(likely: Moments, *, reward: bool) -> FloatArray:
    """The probability of each arm to be the best, if means are drawn from their laws.

    The sum over a grid of times x of  P(this mean is about x) P(all others are worse than x).
    """
    from scipy.special import betainc

    if len(likely.mean) < 2:
        return np.ones(len(likely.mean))
    mean = likely.mean if reward else 1.0 - likely.mean
    deviation = np.sqrt(likely.variance)
    fair = mean + FAR * deviation >= (mean - FAR * deviation).max()
    a, b, is_law = shape_of(Moments(mean, likely.variance)._replace())
    a, b = np.where(is_law, a, mean * 1e9 + 1e-9), np.where(is_law, b, (1.0 - mean) * 1e9 + 1e-9)
    leading = np.flatnonzero(fair)
    first = leading[np.argsort(-(mean + deviation)[leading])[:LEADING]]
    away = np.linspace(-SPREAD, SPREAD, GRID)
    points = (mean[first, None] + away * np.maximum(deviation[first, None], 1e-12)).ravel()
    grid = np.unique(np.concatenate([[0.0], points[(points > 0) & (points < 1)], [1.0]]))
    below = betainc(a[leading, None], b[leading, None], grid)
    middle = np.log(np.maximum((below[:, 1:] + below[:, :-1]) / 2, 1e-300))
    worse = np.exp(middle.sum(axis=0) - middle)
    won = (np.diff(below, axis=1) * worse).sum(axis=1)
    found = np.zeros(len(mean))
    found[leading] = won / max(won.sum(), 1e-300)
    return found


def cost(
    plays: IntArray, limits: Limits, *, reward: bool, level: float = LEVEL
) -> tuple[float, float, float]:
    """What plays of other arms than the best have cost, as a multiple of D, with an interval.

    The interval is that of normal draws around the likely means, the same ones at every look.
    """
    sign = 1.0 if reward else -1.0
    plain = sign * limits.mean
    value = float(plays @ (plain.max() - plain))
    rng = np.random.default_rng(16)
    noise = rng.standard_normal((DRAWS, len(plays)))
    drawn = limits.likely.mean + noise * np.sqrt(limits.likely.variance)
    gains = sign * np.clip(drawn, 0.0, 1.0)
    lost = (gains.max(axis=1, keepdims=True) - gains) @ plays
    miss = (1.0 - level) / 2
    low, high = np.quantile(lost, [miss, 1.0 - miss]).tolist()
    return value, min(low, value), max(high, value)
