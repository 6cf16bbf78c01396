"""The told rival where delays are 0 or D with chances that are linear in the request.

It knows all that, and that weights are uniform in [0, 1]. So it need not wait: who is not back at
once will last D. What is known of the weights of an arm is kept as a cloud of points with weights
of their own (Chopin 2002): they are multiplied by the likelihood of every play, and when they have
become too uneven, points are drawn anew and moved by Metropolis steps that keep the exact law.
"""

from typing import Any

import numpy as np

from benchmarks.contexts.rival_scales import Plays
from benchmarks.contexts.worlds import ARMS
from tarry.arrays import FloatArray, IntArray

POINTS = 1000
MOVES = 10
LEAST = 1e-12  # of a chance


class Cloud:
    """What is known of the weights of one arm."""

    def __init__(self, rows: FloatArray, rng: Any) -> None:
        self.rows, self.rng = rows, rng
        self.seen = np.zeros((2, len(rows)))  # by request: plays with delay 0, and with D
        self.points = rng.random((POINTS, rows.shape[1]))
        self.logs = np.zeros(POINTS)

    @property
    def shares(self) -> FloatArray:
        """Of the points; they sum to 1."""
        found: FloatArray = np.exp(self.logs - self.logs.max())
        return found / found.sum()

    @staticmethod
    def likelihood(points: FloatArray, rows: FloatArray, seen: FloatArray) -> FloatArray:
        """Its logarithm, by point."""
        chance = np.clip(points @ rows.T, LEAST, 1 - LEAST)
        found: FloatArray = np.log1p(-chance) @ seen[0] + np.log(chance) @ seen[1]
        return found

    def learn(self, kinds: IntArray, lasted: IntArray) -> None:
        """Take in some plays: of which requests, and whether they last D."""
        new = np.zeros_like(self.seen)
        np.add.at(new, (lasted, kinds), 1.0)
        some = np.flatnonzero(new.any(axis=0))
        self.logs += self.likelihood(self.points, self.rows[some], new[:, some])
        self.seen += new
        if (self.shares**2).sum() > 2 / POINTS:
            self.renew()

    def renew(self) -> None:
        """Points of equal weights, from the same law."""
        shares = self.shares
        middle = shares @ self.points
        apart = self.points - middle
        cover = (apart * shares[:, None]).T @ apart + 1e-12 * np.eye(len(middle))
        root = np.linalg.cholesky(cover) * 2.4 / np.sqrt(len(middle))
        places = np.searchsorted(
            np.cumsum(shares), (np.arange(POINTS) + self.rng.random()) / POINTS
        )
        points = self.points[np.minimum(places, POINTS - 1)]
        some = np.flatnonzero(self.seen.any(axis=0))
        rows, seen = self.rows[some], self.seen[:, some]
        held = self.likelihood(points, rows, seen)
        for _ in range(MOVES):
            size = self.rng.choice([0.3, 1.0], (POINTS, 1))
            tried = points + size * (self.rng.normal(size=points.shape) @ root.T)
            inside = ((tried >= 0) & (tried <= 1)).all(axis=1)
            likely = self.likelihood(np.clip(tried, 0, 1), rows, seen)
            go = inside & (np.log(self.rng.random(POINTS)) < likely - held)
            points, held = np.where(go[:, None], tried, points), np.where(go, likely, held)
        self.points, self.logs = points, np.zeros(POINTS)


class Linear:
    """The rival."""

    def __init__(self, problem: Any, rng: Any) -> None:
        self.rows, self.known = problem.features, 0
        self.clouds = [Cloud(problem.features, rng) for _ in range(ARMS)]

    def learn(self, plays: Plays) -> None:
        """Take in the plays that are new: one step after a play all is known of it."""
        new = slice(self.known, None)
        kinds, arms, lasted = plays.kinds[new], plays.arms[new], (plays.back[new] == 0).astype(int)
        self.known = len(plays.arms)
        for arm, cloud in enumerate(self.clouds):
            mine = arms == arm
            if mine.any():
                cloud.learn(kinds[mine], lasted[mine])

    def payoffs(self, kinds: IntArray, rng: Any) -> tuple[FloatArray, FloatArray]:
        """Of these requests, (requests, arms): expected payoffs, and payoffs by one draw each."""
        x = self.rows[kinds]
        means, draws = [], []
        for cloud in self.clouds:
            shares = cloud.shares
            means.append(x @ (shares @ cloud.points))
            draws.append((x * cloud.points[rng.choice(POINTS, len(x), p=shares)]).sum(axis=1))
        return np.stack(means, axis=1), np.stack(draws, axis=1)
