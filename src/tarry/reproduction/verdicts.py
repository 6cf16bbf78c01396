"""From numbers to verdicts: tests with their p-values, and what many of them mean together.

A verdict is "holds" or "does not hold here" where a test decides at the 95 % level, otherwise
"undecided". Each test is two-sided. Of n tests of claims that are neither true nor false, one in
twenty is decided by chance; `firm` tells which verdicts stay decided when the 5 % is shared by all
(Holm 1979).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, stdtr

from tarry.arrays import FloatArray
from tarry.experiments.curves import LEVEL, paired_difference, student

LARGEST = 1 - 1e-12  # correlation that is told from 1
HOLDS, FAILS, OPEN = "holds", "does not hold here", "undecided"


class Outcome(NamedTuple):
    """What a test says of "the quantity is below 0": an estimate, its 95 % interval, a p-value."""

    estimate: float
    low: float
    high: float
    p: float

    @property
    def verdict(self) -> str:
        """`HOLDS` if the interval is below 0, `FAILS` if it is above, else `OPEN`."""
        if self.high < 0:
            return HOLDS
        return FAILS if self.low > 0 else OPEN

    def flipped(self) -> "Outcome":
        """The same of "the quantity is above 0"."""
        return Outcome(-self.estimate, -self.high, -self.low, self.p)


def t_test(estimate: float, error: float, degrees: float) -> Outcome:
    """From an estimate with its standard error; without any scatter the estimate is exact."""
    if not error > 0:
        return Outcome(estimate, estimate, estimate, 1.0 if estimate == 0 else 0.0)
    half = float(student(degrees)) * error
    p = 2 * float(stdtr(degrees, -abs(estimate) / error))
    return Outcome(estimate, estimate - half, estimate + half, p)


def less_in_pairs(one: FloatArray, other: FloatArray) -> Outcome:
    """That the mean of `one` is below that of `other`, of runs that met the same delays."""
    gap = np.asarray(one, float) - np.asarray(other, float)
    mean = paired_difference(one, other).mean
    return t_test(mean, float(gap.std(ddof=1)) / len(gap) ** 0.5, len(gap) - 1)


def less(one: FloatArray, other: FloatArray) -> Outcome:
    """That the mean of `one` is below that of `other`, of independent runs (Welch)."""
    parts = [float(sample.var(ddof=1)) / len(sample) for sample in (one, other)]
    error = sum(parts)
    weights = sum(part**2 / (len(s) - 1) for part, s in zip(parts, (one, other), strict=True))
    return t_test(
        float(one.mean() - other.mean()), error**0.5, error**2 / weights if weights else 1.0
    )


def deviations(sample: FloatArray) -> FloatArray:
    """How far each run is from the median run.

    Regrets are skewed, and the F test of two variances believes in normal ones. A test of these
    deviations does not (Brown and Forsythe 1974).
    """
    return np.abs(sample - np.median(sample))


def correlated(one: FloatArray, other: FloatArray) -> Outcome:
    """That Pearson's correlation is positive; 0 where one does not vary.

    By Fisher's transformation: atanh(r) is about normal with the variance 1 / (n - 3), and the
    interval stays within -1 and 1.
    """
    if len(one) < 4 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return Outcome(0.0, -1.0, 1.0, 1.0)
    r = float(np.corrcoef(one, other)[0, 1])
    centre = math.atanh(min(max(r, -LARGEST), LARGEST))  # points on a line have r = 1
    error = (len(one) - 3) ** -0.5
    half = float(ndtri(0.5 + LEVEL / 2)) * error
    p = 2 * float(ndtr(-abs(centre) / error))
    return Outcome(r, math.tanh(centre - half), math.tanh(centre + half), p).flipped()


class Line(NamedTuple):
    """Points (log x, log y) against a straight line."""

    slope: float
    low: float  # 95 % interval of the slope, from the scatter about the line
    high: float
    error: float
    degrees: int
    first: float  # slope of the lower half of the points
    last: float  # slope of the upper half
    steeper: tuple[float, float, int]  # slope, standard error and degrees of freedom of one half

    @property
    def is_straight(self) -> bool:
        """Whether both halves have the slope of the whole, up to `BEND`."""
        return abs(self.last - self.first) <= BEND


BEND = 0.25  # of slopes: what logarithmic terms may do to a line over two decades
NEAR = 0.1  # how far a slope may be from the law


def line_of(x: FloatArray, y: FloatArray) -> Line:
    """Least squares of log y on log x, and of the halves; at least three points."""
    u, v = np.log(x), np.log(y)
    half = (len(u) + 1) // 2
    slope, error, degrees = fitted(u, v)
    around = float(student(degrees)) * error
    steeper = max((fitted(u[:half], v[:half]), fitted(u[-half:], v[-half:])))
    first, last = (fitted(u[part], v[part])[0] for part in (slice(half), slice(-half, None)))
    return Line(slope, slope - around, slope + around, error, degrees, first, last, steeper)


def fitted(u: FloatArray, v: FloatArray) -> tuple[float, float, int]:
    """The slope of a line through points, its standard error and the degrees of freedom of that."""
    if len(u) < 3:
        return float((v[-1] - v[0]) / (u[-1] - u[0])), np.inf, 0
    slope, height = np.polyfit(u, v, 1)
    degrees = len(u) - 2
    rest = v - height - slope * u
    error = np.sqrt(np.sum(rest**2) / degrees / np.sum((u - u.mean()) ** 2))
    return float(slope), float(error), degrees


def growth_test(line: Line, law: float, *, exactly: bool) -> Outcome:
    """That regret grows at most as x**law, or `exactly` so: the slope is near the law or below it.

    Where the points bend, the line is none. Then the steeper half speaks for an upper bound, and
    nothing is said about an exact law.
    """
    if exactly:
        if not line.is_straight:
            return Outcome(line.slope - law, -np.inf, np.inf, 1.0)
        return t_test(abs(line.slope - law) - NEAR, line.error, line.degrees)
    whole = line.slope, line.error, line.degrees
    slope, error, degrees = whole if line.is_straight else line.steeper
    if degrees < 1:
        return Outcome(slope - law - NEAR, -np.inf, np.inf, 1.0)
    return t_test(slope - law - NEAR, error, degrees)


def firm(tests: Sequence[Outcome]) -> list[bool]:
    """Which decided verdicts stay decided if all together may be wrong in 5 % (Holm)."""
    order = sorted(range(len(tests)), key=lambda place: tests[place].p)
    found = [False] * len(tests)
    for rank, place in enumerate(order):
        if tests[place].p > (1 - LEVEL) / (len(tests) - rank):
            break
        found[place] = tests[place].verdict != OPEN
    return found
