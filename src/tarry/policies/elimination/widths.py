"""Means and widths that the paper's bounds are made of.

Payoffs are delay / D, in [0, 1]. `log_term` is L, usually log T.
"""

import math

from tarry.ledger import Ledger


def width(log_term: float, count: int) -> float:
    """sqrt(2 L / max(count, 1)), the confidence width of a mean of `count` payoffs."""
    return math.sqrt(2.0 * log_term / max(count, 1))


def width_again(log_term: float, count: int, before: int, known: float) -> float:
    """`width` of `count`, which is `known` if that of `before` is: a root takes as long as a play.

    Active arms are played, and become complete, equally often but for one play.
    """
    return known if count == before else width(log_term, count)


def mean_minus(ledger: Ledger, arm: int, now: int, max_delay: int) -> float:
    """mu_minus: each missing play counts the age it has already reached."""
    known = ledger.missing_age(arm, now) + ledger.seen_sum[arm]
    return known / (max_delay * max(ledger.plays[arm], 1))


def mean_plus(ledger: Ledger, arm: int, max_delay: int) -> float:
    """mu_plus: each missing play counts as if it took D."""
    worst = ledger.missing(arm) * max_delay + ledger.seen_sum[arm]
    return worst / (max_delay * max(ledger.plays[arm], 1))


def mean_complete(ledger: Ledger, arm: int, max_delay: int) -> float:
    """mu_F: the mean over the complete plays, 0 while there is none."""
    return ledger.complete_sum[arm] / (max_delay * max(ledger.complete[arm], 1))


def missing_bound(missing: int, spacing: float, log_term: float) -> float:
    """L3 = spacing * (m / 2 - 8 L - 1): so many plays are out that the mean must be long.

    `spacing` is the time between two plays of the arm, over D: the number of active arms, where
    each sweep plays each of them once.
    """
    return spacing * (missing / 2 - 8.0 * log_term - 1.0)


def spacing_of(ledger: Ledger, arm: int, regular: float, max_delay: int) -> float:
    """The least time between two plays of an arm, over D: `regular` where its sweeps say it."""
    return ledger.spacing[arm] / max_delay if ledger.spacing[arm] > 0 else regular
