"""The told rival where scales are log-linear in the request, delays Weibull or log-normal.

It knows which, the shape of every arm, and the laws from which levels and effects are drawn:

    log delay = level + beta . x + noise,    level ~ N(log(D / 10), 1/4),   beta of length 1

and has to find level and effects of every arm. A direction drawn at random is a normal draw
beta ~ N(0, I / p) of which one learns that its length is 1. So the rival looks for the most likely
numbers with that normal law first (Newton's method; the likelihood of plays that are back and of
those still out is log-concave), takes the normal law around them (Laplace), and corrects it by the
observation |beta|^2 = 1, of which it has the first two moments. Nothing of this is exact.

Told of the family and the shapes only, it takes level ~ N(log D, 4) and beta ~ N(0, I / p).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_ndtr

from benchmarks.contexts.worlds import ARMS, FIRST_SEED, World
from tarry.arrays import FloatArray, IntArray
from tarry.problems.regressions import Points, grid

LOGS = np.linspace(-6.0, 16.0, 2201)  # of scales
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
SOONEST = 0.4  # what a delay of 0, which is one below 1/2, is taken for


class Plays(NamedTuple):
    """What is known of the plays so far, in the order of their steps."""

    kinds: IntArray  # which request
    arms: IntArray
    times: IntArray  # until it was back, or until now
    back: FloatArray  # 1 where it is back, else 0


class Family(NamedTuple):
    """Laws of delays with a scale and a known shape per arm."""

    normal: bool  # of the logarithm, else Weibull
    most: int
    shapes: FloatArray  # by arm: what the logarithm's distance from the scale is multiplied with

    @classmethod
    def of(cls, draw: Points, *, normal: bool) -> "Family":
        """Shapes as `log_linear` draws them."""
        spread = draw.uniform(3, draw.arms, 1).ravel()
        shapes = 1 / (0.4 + 0.6 * spread) if normal else 0.7 + 0.8 * spread
        return cls(normal, draw.max_delay, shapes)

    @property
    def cuts(self) -> FloatArray:
        """Logarithms of what lies between two delays."""
        values = grid(self.most)
        middle: FloatArray = np.log((values[1:] + values[:-1]) / 2.0)
        return middle

    @property
    def lows(self) -> FloatArray:
        """By age, from 1 to D: the logarithm of what is exceeded by a delay that is not less."""
        places = np.searchsorted(grid(self.most), np.arange(1, self.most + 1))
        return np.concatenate([[-np.inf], self.cuts])[places]

    def survival(self, z: FloatArray) -> FloatArray:
        """Logarithm of P(delay > e^cut), with z = shape * (cut - log scale)."""
        found: FloatArray = log_ndtr(-z) if self.normal else -np.exp(z)
        return found

    def means(self, logs: FloatArray) -> FloatArray:
        """Mean payoff by arm and logarithm of the scale."""
        parts = np.diff(grid(self.most)) / self.most
        z = self.shapes[:, None, None] * (self.cuts[:, None] - logs)
        found: FloatArray = np.einsum("c,acl->al", parts, np.exp(self.survival(z)))
        return found

    def slopes(self, z: FloatArray, back: FloatArray) -> tuple[FloatArray, FloatArray]:
        """First and minus second derivative of the log-likelihood along shape * log scale.

        Plays that are back count with their density, others with P(delay > e^cut).
        """
        if not self.normal:
            rates = np.exp(np.clip(z, -30.0, 6.0))
            return rates - back, rates
        hazards = np.exp(-0.5 * z**2 - log_ndtr(-z)) / np.sqrt(2 * np.pi)
        out = back == 0
        return np.where(out, hazards, z), np.where(out, hazards * (hazards - z), 1.0)


class Fit:
    """Level and effects of one arm: the normal law that stands for what is known of them."""

    def __init__(self, family: Family, arm: int, features: int, *, laws: bool = True) -> None:
        self.family, self.shape, self.laws = family, float(family.shapes[arm]), laws
        level, weight = (np.log(family.most / 10), 4.0) if laws else (np.log(family.most), 0.25)
        self.centre = np.array([level, *np.zeros(features)])
        self.weight = np.diag([weight, *np.full(features, float(features))])
        self.found = self.centre.copy()  # without what is known of the length
        self.mean, self.spread = self.centre.copy(), np.linalg.inv(self.weight)

    def learn(self, rows: FloatArray, logs: FloatArray, back: FloatArray) -> None:
        """Newton's method on all plays: `logs` of the delay, or of what it exceeds."""
        k = self.shape
        for _ in range(12):
            steep, bent = self.family.slopes(k * (logs - rows @ self.found), back)
            slope = k * (steep @ rows) - self.weight @ (self.found - self.centre)
            bend = (rows * (k * k * bent)[:, None]).T @ rows + self.weight
            step = np.linalg.solve(bend, slope)
            self.found += step * min(1.0, 1.0 / max(float(np.abs(step).max()), 1e-9))
            if np.abs(step).max() < 1e-3:
                break
        spread: FloatArray = np.linalg.inv(bend)
        self.mean, self.spread = (
            of_length_one(self.found, spread) if self.laws else (self.found, spread)
        )


def of_length_one(mean: FloatArray, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A normal law of a level and effects, given that these have the length 1.

    |beta|^2 has the mean |m|^2 + tr V and the variance 4 m V m + 2 tr V^2; its covariance with the
    numbers is 2 V m.
    """
    slope = np.array([0.0, *(2 * mean[1:])])
    inner = spread[1:, 1:]
    along = spread @ slope
    varies = slope @ along + 2 * float((inner**2).sum())
    surprise = 1.0 - float(mean[1:] @ mean[1:]) - float(np.trace(inner))
    return mean + along * (surprise / varies), spread - np.outer(along, along) / varies


class Scales:
    """The rival; without `laws` it is not told from which laws levels and effects are drawn."""

    def __init__(self, world: World, problem: Any, number: int, *, laws: bool = True) -> None:
        most, (count, features) = problem.max_delay, problem.features.shape
        draw = Points.checked("", 0, ARMS, features, most, FIRST_SEED + number, count)
        self.family = Family.of(draw, normal=world.key.startswith("log-normal"))
        self.lows, self.table = self.family.lows, self.family.means(LOGS)
        self.rows = np.column_stack([np.ones(count), problem.features])
        self.fits = [Fit(self.family, arm, features, laws=laws) for arm in range(ARMS)]

    def learn(self, plays: Plays) -> None:
        """Fit all arms to all plays."""
        logs = np.where(
            plays.back, np.log(np.maximum(plays.times, SOONEST)), self.lows[plays.times - 1]
        )
        for arm, fit in enumerate(self.fits):
            mine = np.flatnonzero(plays.arms == arm)
            if len(mine):
                fit.learn(self.rows[plays.kinds[mine]], logs[mine], plays.back[mine])

    def payoffs(self, kinds: IntArray, rng: Any) -> tuple[FloatArray, FloatArray]:
        """Of these requests, (requests, arms): expected payoffs, and payoffs by one draw each."""
        x = self.rows[kinds]
        means, draws = [], []
        for table, fit in zip(self.table, self.fits, strict=True):
            middle = x @ fit.mean
            wide = np.sqrt(np.maximum(np.einsum("ni,ij,nj->n", x, fit.spread, x), 0.0))
            every = np.interp(middle[:, None] + wide[:, None] * NODES, LOGS, table)
            means.append(every @ WEIGHTS)
            draws.append(np.interp(middle + wide * rng.normal(size=len(x)), LOGS, table))
        return np.stack(means, axis=1), np.stack(draws, axis=1)
