"""The survival curve of measured times of which some are only known to be at least so long.

With n_j plays at risk just before the distinct time t_j and e_j of them finished at t_j,

    S(t) = product over t_j <= t of (1 - e_j / n_j)             Kaplan and Meier 1958
    var S(t) = S(t)^2 sum over t_j <= t of e_j / (n_j (n_j - e_j))         Greenwood 1926

estimate P(d > t), the share that is still there after t. A play that is unfinished at time t counts
as at risk at t: it lasted at least so long. The mean restricted to D is the area under S up to D.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray


class SurvivalCurve(NamedTuple):
    """Counts at each distinct time, and the curve from just after that time to the next."""

    times: FloatArray  # t_j, increasing
    at_risk: IntArray  # n_j
    events: IntArray  # e_j
    survival: FloatArray  # S(t_j)
    variance: FloatArray  # Greenwood's, of S(t_j)

    def at(self, ages: FloatArray) -> FloatArray:
        """S at each of `ages`; beyond the last time it stays where it is."""
        steps = np.concatenate([[1.0], self.survival])
        return steps[np.searchsorted(self.times, ages, "right")]

    def restricted_mean(self, limit: float) -> float:
        """The area under the curve from 0 to `limit`, held level beyond the last time."""
        widths, heights = self._steps(limit)
        return float(widths @ heights)

    def restricted_variance(self, limit: float) -> float:
        """The variance of the restricted mean: sum of A(t_j)^2 e_j / (n_j (n_j - e_j)).

        A(t) is the area under the curve from t to `limit`.
        """
        widths, heights = self._steps(limit)
        beyond = np.cumsum((widths * heights)[::-1])[::-1][1:]
        left = self.at_risk - self.events
        inside = (self.times < limit) & (left > 0)
        terms = beyond**2 * self.events / np.maximum(self.at_risk * left, 1)
        return float(terms[inside].sum())

    def _steps(self, limit: float) -> tuple[FloatArray, FloatArray]:
        """Widths and heights of the steps below `limit`, the first one from 0 to t_1."""
        edges = np.minimum(np.concatenate([[0.0], self.times, [limit]]), limit)
        return np.diff(edges), np.concatenate([[1.0], self.survival])


def kaplan_meier(times: FloatArray, finished: FloatArray) -> SurvivalCurve:
    """The curve of plays that took `times`, or at least that where they are not `finished`.

    >>> curve = kaplan_meier(np.array([3.0, 5.0, 5.0, 8.0]), np.array([True, True, False, True]))
    >>> curve.survival
    array([0.75, 0.5 , 0.  ])
    >>> curve.restricted_mean(10)
    6.0
    """
    distinct, place = np.unique(np.asarray(times, np.float64), return_inverse=True)
    ended = np.bincount(place, np.asarray(finished, np.float64), len(distinct)).astype(np.int64)
    gone = np.bincount(place, minlength=len(distinct))
    at_risk = len(place) - np.concatenate([[0], np.cumsum(gone)[:-1]]).astype(np.int64)
    left = at_risk - ended
    survival = np.cumprod(left / at_risk)
    spread = np.cumsum(np.where(left > 0, ended / np.maximum(at_risk * left, 1), 0.0))
    return SurvivalCurve(distinct, at_risk, ended, survival, survival**2 * spread)
