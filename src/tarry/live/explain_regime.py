"""What an arm is at present, where a policy follows how arms change, and since when.

The mean is that of the law from which the policy draws the arm (`tarry.policies.change.regimes`):
a mixture over its hypotheses of when the present regime began, and over whether arms change at all.
"""

import math

import numpy as np

from tarry.arrays import FloatArray, Floats
from tarry.live.clock import to_seconds
from tarry.live.curve import Estimate
from tarry.live.inside import find_inside
from tarry.live.plays import Arm
from tarry.policies.change.pool import Pool
from tarry.policies.change.regimes import Regimes


def regime_of(arm: Arm, now: int) -> tuple[float | None, float | None]:
    """How many seconds ago the present regime of an arm began, and how sure that is.

    Nothing of both where the policy does not ask, or nothing was played yet.
    """
    regimes = _regimes(arm)
    if regimes is None:
        return None, None
    start, sure = regimes.present(arm.index)
    return to_seconds(max(now - start, 0)), sure


def in_words(since: float | None, sure: float | None, text: str) -> str:
    """The same in words, to follow on the reason; `text` is `since` with its unit."""
    return "" if since is None or sure is None else f"; as it is for {text} ({sure:.0%} sure)"


def present_estimate(arm: Arm, ever: Estimate) -> Estimate:
    """The mean of the present regime with its interval; `ever` is that of all plays."""
    regimes = _regimes(arm)
    pool = None if arm.desk is None else find_inside(arm.desk.rule, Pool)
    if regimes is None or pool is None:
        return ever
    most = regimes.ever.max_delay
    reach = (ever.high - ever.low) / 2 / 1.96
    unchanged = 1.0 / (1.0 + regimes.odds[0])
    first = arm.index * regimes.most
    slots = [first + regimes.order[first + j] for j in range(regimes.held[arm.index])]
    shares = np.array([unchanged, *((1.0 - unchanged) * regimes.weight[s] for s in slots)])
    found = [moments(regimes, pool, arm.index, slot) for slot in slots]
    means = np.array([ever.mean, *(most * mean for mean, _ in found)])
    squares = np.array([ever.mean**2 + reach**2, *(most**2 * square for _, square in found)])
    shares /= shares.sum()
    mean = float(shares @ means)
    reach = 1.96 * math.sqrt(max(float(shares @ squares) - mean * mean, 0.0))
    return Estimate(mean, max(mean - reach, 0.0), min(mean + reach, float(most)))


def moments(regimes: Regimes, pool: Pool, arm: int, place: int) -> tuple[float, float]:
    """Mean and mean square of the arm's mean payoff under the hypothesis in `place`.

    With h ~ Beta(A, R) in bin b, x the mean payoff there and X' what follows,
    X = h x + (1 - h) X': E h^2 = A (A + 1) / (T (T + 1)) with T = A + R, and so on.
    """
    size = len(regimes.centre)
    own, before = slice(arm * size, (arm + 1) * size), slice(place * size, (place + 1) * size)

    def since(now: Floats, then: Floats) -> FloatArray:
        return np.asarray(now)[own] - np.asarray(then)[before]

    ended = np.asarray(pool.prior) + since(regimes.ever.events, regimes.events_before)
    beyond = np.asarray(pool.beyond) + since(regimes.ever.passes, regimes.passes_before)
    total = np.asarray(pool.prior) * np.asarray(regimes.centre)
    payoff = (total + since(regimes.ever.event_sum, regimes.sum_before)) / ended
    mean = square = 1.0
    for a, r, x in zip(ended[::-1], beyond[::-1], payoff[::-1], strict=True):
        both = (a + r) * (a + r + 1.0)
        square = (a * (a + 1.0) * x * x + 2.0 * a * r * x * mean + r * (r + 1.0) * square) / both
        mean = (a * x + r * mean) / (a + r)
    return float(mean), float(square)


def _regimes(arm: Arm) -> Regimes | None:
    """The hypotheses about the arm; None if there are none."""
    regimes = None if arm.desk is None else find_inside(arm.desk.rule, Regimes)
    if regimes is None or arm.plays == 0 or regimes.held[arm.index] == 0:
        return None
    return regimes
