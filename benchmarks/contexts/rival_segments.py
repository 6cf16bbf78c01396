"""The told rival in *five segments*: exact but for the grids that it computes on.

It knows which segment a request is of, that delays are Weibull, the shape of every arm in every
segment, and how scales are drawn:

    log scale = log(D / 10) + level + sign * x,    level ~ N(0, 1/4),  sign = -1 or 1,  x ~ N(0, 1)

with one x for all arms of a segment. Given |x|, arms are independent, so that what is known of all
of them is a sum over |x| of products over arms.
"""

from typing import Any

import numpy as np

from benchmarks.contexts.rival_scales import Family, Plays
from benchmarks.contexts.worlds import ARMS, FIRST_SEED
from tarry.arrays import FloatArray, IntArray
from tarry.problems.regressions import Points, grid

SIZES = np.linspace(0.0, 4.0, 26)  # of x, whose sign counts for nothing
CELLS = np.arange(-6.0, 6.0, 0.01)  # of the log scale, from log(D / 10) on


def prior() -> FloatArray:
    """Chances of the log scales given |x|, (sizes, cells)."""
    both = [np.exp(-2 * (CELLS - sign * SIZES[:, None]) ** 2) for sign in (-1, 1)]
    found: FloatArray = sum(both) / np.sum(both, axis=(0, 2))[:, None]
    return found


class Segment:
    """What is known of the arms of one segment."""

    def __init__(self, seed: int, most: int) -> None:
        draw = Points.checked("", 0, ARMS, 1, most, seed, 1)
        self.family = Family.of(draw, normal=False)
        logs = np.log(most / 10) + CELLS
        self.means, self.prior = self.family.means(logs), prior()
        cuts = np.concatenate([[-np.inf], self.family.cuts])
        z = self.family.shapes[:, None, None] * (cuts[:, None] - logs)
        self.lasted = self.family.survival(z)  # (arms, values, cells): at least that value
        after = np.concatenate([self.lasted[:, 1:], np.full((ARMS, 1, len(logs)), -np.inf)], axis=1)
        with np.errstate(divide="ignore"):
            ended = self.lasted + np.log(-np.expm1(after - self.lasted))
        self.ended = np.maximum(ended, -1e9)  # that very value
        self.told(np.zeros(self.lasted.shape[:2]), np.zeros(self.lasted.shape[:2]))

    def told(self, back: FloatArray, out: FloatArray) -> None:
        """Take in all plays: how many of an arm were back with a value, or have lasted until it."""
        likely = np.einsum("av,avc->ac", back, self.ended)
        likely += np.einsum("av,avc->ac", out, self.lasted)
        likely = np.exp(likely - likely.max(axis=1, keepdims=True))
        self.likely = likely
        self.given = np.maximum(likely @ self.prior.T, 1e-300)  # (arms, sizes)
        sizes = np.log(self.given).sum(axis=0) - SIZES**2 / 2
        sizes[0] -= np.log(2)  # at the edge: half a step
        sizes = np.exp(sizes - sizes.max())
        self.sizes = sizes / sizes.sum()

    def expected(self) -> FloatArray:
        """Mean payoffs, by arm."""
        chances = self.likely * ((self.sizes / self.given) @ self.prior)
        found: FloatArray = (chances * self.means).sum(axis=1)
        return found

    def drawn(self, count: int, rng: Any) -> FloatArray:
        """Payoffs by so many draws of all log scales, (draws, arms)."""
        which = rng.choice(len(SIZES), count, p=self.sizes)
        found = []
        for likely, means in zip(self.likely, self.means, strict=True):
            sums = np.cumsum(likely * self.prior, axis=1)
            sums = sums / np.maximum(sums[:, -1:], 1e-300) + np.arange(len(SIZES))[:, None]
            cell = np.searchsorted(sums.ravel(), which + rng.random(count)) - len(CELLS) * which
            found.append(means[np.clip(cell, 0, len(CELLS) - 1)])
        return np.stack(found, axis=1)


class Segments:
    """The rival."""

    def __init__(self, problem: Any, number: int) -> None:
        first = FIRST_SEED + 10 * number
        count = len(problem.weights)
        self.parts = [Segment(first + i, problem.max_delay) for i in range(count)]
        self.values = grid(problem.max_delay)

    def learn(self, plays: Plays) -> None:
        """Count, and take in."""
        place = np.searchsorted(self.values, plays.times)
        shape = len(self.parts), ARMS, len(self.values)
        where = np.ravel_multi_index((plays.kinds, plays.arms, place), shape)
        total = np.bincount(where, minlength=np.prod(shape)).reshape(shape)
        back = np.bincount(where, plays.back, np.prod(shape)).reshape(shape)
        for i, part in enumerate(self.parts):
            part.told(back[i], total[i] - back[i])

    def payoffs(self, kinds: IntArray, rng: Any) -> tuple[FloatArray, FloatArray]:
        """Of these requests, (requests, arms): expected payoffs, and payoffs by one draw each."""
        means, draws = np.zeros((2, len(kinds), ARMS))
        for i, part in enumerate(self.parts):
            mine = kinds == i
            if mine.any():
                means[mine] = part.expected()
                draws[mine] = part.drawn(int(mine.sum()), rng)
        return means, draws
