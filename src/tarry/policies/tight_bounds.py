"""Confidence bounds at the paper's level that are narrower than the paper's.

The paper's width sqrt(2 L / n), L = log T, comes from Hoeffding's inequality at a level of T^-4 on
each side. Chernoff's inequality at the same level, with kl(p, q) the relative entropy of two coins,

    P( n kl(mean of n payoffs, mu) > level and mean < mu ) <= exp(-level),   level = 4 L

likewise for mean > mu, holds for payoffs anywhere in [0, 1] and is never wider.
"""

import math

from tarry.ledger import Ledger
from tarry.policies.bounds import mean_complete, mean_minus, mean_plus


def kl_lower(mean: float, radius: float) -> float:
    """The smallest q <= mean with kl(mean, q) <= radius, or a little below it.

    Newton's method on a convex decreasing function, from the left: it never passes the solution,
    so that what it returns is valid after any number of iterations.
    """
    if mean <= 0.0:
        return 0.0
    if mean >= 1.0:
        return math.exp(-radius)
    rest = 1.0 - mean
    entropy = -mean * math.log(mean) - rest * math.log(rest)
    q = max(
        mean - math.sqrt(0.5 * radius),  # kl >= 2 (mean - q)^2
        mean - math.sqrt(2.0 * mean * radius),  # kl >= (mean - q)^2 / (2 mean)
        math.exp(-min((radius + entropy) / mean, 700.0)),  # kl >= mean log(1/q) - entropy
    )
    for _ in range(8):
        value = -entropy - mean * math.log(q) - rest * math.log(1.0 - q) - radius
        if value <= 1e-9 * (radius + entropy) or q >= mean:
            break
        q += value * q * (1.0 - q) / (mean - q)
    return min(q, mean)


def kl_upper(mean: float, radius: float) -> float:
    """The largest q >= mean with kl(mean, q) <= radius, or a little above it."""
    return 1.0 - kl_lower(1.0 - mean, radius)


def tight_missing_bound(missing: int, spacing: int, max_delay: int, log_term: float) -> float:
    """The paper's L3 with 1.6 in the place of 8: spacing / D * (m / 2 - 1.6 L - 1).

    For a fixed time t, with E the sum of P(d >= age) over the plays of the arm, exp(theta m
    - (e^theta - 1) E) has a mean of at most 1 whatever decided when to play: each play was decided
    before its own delay was drawn. With (e^theta - 1) / theta = 2, theta = 1.2564, this gives
    m <= 2 E + level / theta except with probability exp(-level). With level = 4 L and
    level / theta < 3.2 L, and E <= 1 + d(i) / spacing where two plays of the arm are at least
    `spacing` apart, d(i) >= spacing (m / 2 - 1.6 L - 1).
    """
    return spacing / max_delay * (missing / 2 - 1.6 * log_term - 1.0)


def ledger_lower(
    ledger: Ledger, arm: int, now: int, max_delay: int, spacing: int, log_term: float
) -> float:
    """The largest of the lower bounds from mu_minus, mu_F and the missing plays."""
    level = 4.0 * log_term
    lower = tight_missing_bound(ledger.missing(arm), spacing, max_delay, log_term)
    plays = ledger.plays[arm]
    if plays > 0:
        lower = max(lower, kl_lower(mean_minus(ledger, arm, now, max_delay), level / plays))
    complete = ledger.complete[arm]
    if complete > 0:
        lower = max(lower, kl_lower(mean_complete(ledger, arm, max_delay), level / complete))
    return lower


def ledger_upper(ledger: Ledger, arm: int, max_delay: int, log_term: float) -> float:
    """The smallest of the upper bounds from mu_plus and mu_F."""
    level = 4.0 * log_term
    upper = 1.0
    plays = ledger.plays[arm]
    if plays > 0:
        upper = kl_upper(mean_plus(ledger, arm, max_delay), level / plays)
    complete = ledger.complete[arm]
    if complete > 0:
        upper = min(upper, kl_upper(mean_complete(ledger, arm, max_delay), level / complete))
    return upper
