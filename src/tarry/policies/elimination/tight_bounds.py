"""Confidence bounds with the paper's guarantee that are narrower than the paper's.

The paper's bounds hold for all arms and all times together with probability 1 - 3 / T^2. Ours hold
with the same probability, but do not waste it. With kl(p, q) the relative entropy of two coins,

    P( some n <= T has  n kl(mean of the first n payoffs, mu) > l  and  mean < mu )
        <= e ceil(l log T) exp(-l)

likewise for mean > mu, for payoffs anywhere in [0, 1] (Garivier and Cappe 2011, theorem 10: the
union over n is taken over l log T slices, not T times; they state it for a random number of plays
at a fixed time, and playing until the first miss turns that into all n). It is enough that each
play was decided before its own delay was drawn. `uniform_level` solves the right-hand side for l.
"""

import math

from tarry.ledger import Ledger
from tarry.policies.coins import kl_lower, kl_upper
from tarry.policies.elimination.widths import mean_complete, mean_minus, mean_plus


def uniform_level(horizon: int, miss: float) -> float:
    """The smallest l >= 1 with e ceil(l log T) exp(-l) <= miss; T = `horizon`."""
    growth = math.log(max(horizon, 3))
    slices = 0
    level = 1.0
    while slices != math.ceil(level * growth):
        slices = math.ceil(level * growth)
        level = max(1.0 + math.log(slices / miss), 1.0)
    return level


def tight_missing_bound(missing: int, spacing: int, max_delay: int, level: float) -> float:
    """L3 of the paper with a better constant: spacing / D * (m / 2 - level / 2.5128 - 1).

    For a fixed time t, with E the sum of P(d >= age) over the plays of the arm, exp(theta m
    - (e^theta - 1) E) has a mean of at most 1 whatever decided when to play: each play was decided
    before its own delay was drawn. With (e^theta - 1) / theta = 2, theta = 1.2564, this gives
    m <= 2 E + level / theta except with probability exp(-level). Where two plays of the arm are
    at least `spacing` apart, E <= 1 + d(i) / spacing. At the paper's level of 4 log T its 8 log T
    is 1.6 log T here.
    """
    return spacing / max_delay * (missing / 2 - level / 2.5128 - 1.0)


def ledger_lower(ledger: Ledger, arm: int, now: int, max_delay: int, level: float) -> float:
    """The larger of the lower bounds from mu_minus and mu_F; both are below means of first plays.

    mu_minus counts every play with at most its delay, and mu_F is the mean of the first |F| plays.
    """
    lower = 0.0
    plays = ledger.plays[arm]
    if plays > 0:
        lower = kl_lower(mean_minus(ledger, arm, now, max_delay), level / plays)
    complete = ledger.complete[arm]
    if complete > 0:
        lower = max(lower, kl_lower(mean_complete(ledger, arm, max_delay), level / complete))
    return lower


def ledger_upper(ledger: Ledger, arm: int, max_delay: int, level: float) -> float:
    """The smaller of the upper bounds from mu_plus and mu_F, likewise."""
    upper = 1.0
    plays = ledger.plays[arm]
    if plays > 0:
        upper = kl_upper(mean_plus(ledger, arm, max_delay), level / plays)
    complete = ledger.complete[arm]
    if complete > 0:
        upper = min(upper, kl_upper(mean_complete(ledger, arm, max_delay), level / complete))
    return upper
