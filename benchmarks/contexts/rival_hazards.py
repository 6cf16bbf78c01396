"""A rival that is told nothing and forgets nothing: it fits a regression to all plays at once.

Delays are cut into the bins of SurvivalRegression. The log odds to come back in bin b are

    logit h_{i,b}(z) = c_i + l_b e_i + (w_i' + l_b w_i'') . z,     l_b = 2 b / (B - 1) - 1

with z the scaled features. That is nearly the model of SurvivalRegression, but for the odds of the
bins, which are free there and a line in l_b here. It looks for the most likely numbers of every arm
under normal laws in advance, c ~ N(-3, 9), e ~ N(0, 4), w' ~ N(0, 10 / p) and w'' ~ N(0, 1 / 2p),
by Newton's method, and takes the normal law around them. Who outlives the present age of the world
counts as D: nothing is said of ages at which no play has been.
"""

from typing import Any

import numpy as np

from benchmarks.contexts.rival_scales import Plays
from tarry.arrays import FloatArray, IntArray
from tarry.policies.bins import geometric_edges

BINS, ARM = 24, 2  # bins; numbers of an arm that no request changes
CENTRE, LEVEL, SLOPE, STEADY, CHANGE = -3.0, 9.0, 4.0, 10.0, 0.5  # of the laws in advance
FURTHEST, ROUNDS, NEAR = 2.0, 6, 5e-3  # of a step, steps at the most, a step that ends the search


class Hazards:
    """What is known of all arms."""

    def __init__(self, problem: Any, draws: int) -> None:
        features = problem.features
        spread = np.maximum(features.std(axis=0), 1e-9)
        self.z = (features - features.mean(axis=0)) / spread
        self.most, self.draws = problem.max_delay, draws
        self.edges = geometric_edges(self.most, BINS)
        self.age = 2.0 * np.arange(len(self.edges)) / max(len(self.edges) - 1, 1) - 1.0
        lows = np.concatenate([[0], self.edges[:-1]])
        self.payoff = (lows + self.edges - 1) / 2 / self.most  # in the middle of each bin
        count = features.shape[1]
        effects = np.repeat([count / STEADY, count / CHANGE], count)
        self.weight = np.array([1 / LEVEL, 1 / SLOPE, *effects])
        self.centre = np.array([CENTRE, *np.zeros(len(self.weight) - 1)])
        self.found = np.tile(self.centre, (problem.arms, 1))
        self.spread = np.tile(np.diag(1 / self.weight), (problem.arms, 1, 1))
        self.oldest = 0

    def rows(self, z: FloatArray, bins: IntArray) -> FloatArray:
        """What the numbers of an arm are multiplied with: (1, l, z, l z)."""
        ages = self.age[bins][:, None]
        return np.hstack([np.ones_like(ages), ages, z, ages * z])

    def learn(self, plays: Plays) -> None:
        """Fit every arm to all of its plays."""
        self.oldest = int(plays.times.max())
        passed = np.searchsorted(self.edges, plays.times, side="right")
        back = (plays.back > 0) & (plays.times < self.most)
        for arm in range(len(self.found)):
            mine = plays.arms == arm
            told = (passed + back)[mine]
            if told.sum():
                play = np.repeat(np.arange(len(told)), told)
                ends = np.cumsum(told)
                bins = np.arange(ends[-1]) - np.repeat(ends - told, told)
                answered = np.zeros(len(bins))
                answered[ends[back[mine]] - 1] = 1.0
                self.fit(arm, self.rows(self.z[plays.kinds[mine]][play], bins), answered)

    def fit(self, arm: int, rows: FloatArray, answered: FloatArray) -> None:
        """Newton's method from where the last search ended."""
        found = self.found[arm]
        for _ in range(ROUNDS):
            chance = 1 / (1 + np.exp(-np.clip(rows @ found, -15, 15)))
            slope = (answered - chance) @ rows - self.weight * (found - self.centre)
            bend = (rows * (chance * (1 - chance))[:, None]).T @ rows + np.diag(self.weight)
            step = np.linalg.solve(bend, slope)
            step *= min(1.0, FURTHEST / max(float(np.abs(step).max()), 1e-9))
            found = found + step
            if np.abs(step).max() < NEAR:
                break
        self.found[arm], self.spread[arm] = found, np.linalg.inv(bend)

    def payoffs(self, kinds: IntArray, rng: Any) -> tuple[FloatArray, FloatArray]:
        """Of these requests: expected payoffs (requests, arms), and draws (draws, ..., ...)."""
        z = self.z[kinds]
        reached = int(np.searchsorted(self.edges, self.oldest, side="right"))
        drawn = np.ones((self.draws, len(kinds), len(self.found)))
        for arm, (found, spread) in enumerate(zip(self.found, self.spread, strict=True)):
            root = np.linalg.cholesky((spread + spread.T) / 2 + 1e-10 * np.eye(len(found)))
            numbers = found + rng.normal(size=(self.draws, len(found))) @ root.T
            level, slope = numbers[:, :ARM].T
            steady, change = np.split(numbers[:, ARM:], 2, axis=1)
            for b in range(reached - 1, -1, -1):
                tilt = (steady + self.age[b] * change) @ z.T + (level + self.age[b] * slope)[
                    :, None
                ]
                hazard = 1 / (1 + np.exp(-np.clip(tilt, -12, 12)))
                drawn[:, :, arm] += hazard * (self.payoff[b] - drawn[:, :, arm])
        means: FloatArray = drawn.mean(axis=0)
        return means, drawn
