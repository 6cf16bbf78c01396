"""Limits of a mean that hold for all numbers of plays at once, so at every look.

*Bets.* For numbers Z_1, Z_2, ... in [0, 1], drawn independently from one law with mean q, and a bet
c in [0, 1), the capital  prod_k (1 - c + c Z_k / m)  starts at 1 and stays 1 on average if m = q.
So does the mean of the capitals of several bets, and by Ville's inequality it ever reaches 1 / miss
with probability at most `miss`. The lower limit is the smallest m whose capital has not; small m
make capital large, so it is found by halving (Waudby-Smith and Ramdas 2023, here with bets that
are fixed in advance). The bets need not know the variance: one of them suits it.

*Pieces.* Likewise, with kl(p, q) the relative entropy of two coins,

    P( some n >= 1 has  n kl(mean of the first n, q) >= log(2 sqrt(n) / miss) ) <= miss

on each side of q. This is used for the share of a piece of time that a play lasts through,

    Y_b = min(max(d - x_(b-1), 0), x_b - x_(b-1)) / (x_b - x_(b-1)),    d / D = sum_b w_b Y_b,

for edges 0 = x_0 < ... < x_G = D and w_b = (x_b - x_(b-1)) / D.

What an unfinished play has not yet shown counts as nothing for a lower limit and in full for an
upper one. Since the limits hold for all n at once, the tightest over several numbers of first plays
is one, too, and each piece takes those that suit it: late pieces are judged by older plays. Three
quarters of the miss are for the bets, one quarter for the pieces.
"""

import math

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.policies.coins import kl_lower

BETS = tuple(0.999 * 0.5**j for j in range(16))
HALVINGS = 26  # the limit is found to 1e-7 of D
PIECES = 12
FIRST_EDGE = 1 / 64  # of D; further edges grow geometrically
PREFIXES = 40  # numbers of first plays that are tried
FOR_PIECES = 0.25  # share of the miss


def anytime_limits(
    times: FloatArray, finished: FloatArray, limit: float, miss: float
) -> tuple[float, float]:
    """Limits of the mean of one arm whose plays stand in the order in which they were made.

    The probability that one of the two is ever on the wrong side is at most `miss`.
    """
    over = np.asarray(finished, bool)
    firsts = prefixes(len(times))
    share = times / limit
    by_bets = miss * (1.0 - FOR_PIECES) / 2
    low = bet_lower(share, firsts, by_bets) * limit
    high = (1.0 - bet_lower(1.0 - np.where(over, share, 1.0), firsts, by_bets)) * limit
    if over.all():  # the pieces add nothing then
        return low, high
    edges = piece_edges(limit)
    widths = np.diff(edges)
    level = math.log(2.0 * 2.0 * len(widths) / (miss * FOR_PIECES))  # two sides of G numbers
    known = np.clip((times[:, None] - edges[:-1]) / widths, 0.0, 1.0)
    lows = piece_lower(known, firsts, level)
    highs = 1.0 - piece_lower(1.0 - np.where(over[:, None], known, 1.0), firsts, level)
    # Who lasts through a piece lasted through those before it: means of Y_b fall in b.
    low = max(low, float(np.maximum.accumulate(lows[::-1])[::-1] @ widths))
    return low, min(high, float(np.minimum.accumulate(highs) @ widths))


def prefixes(count: int) -> IntArray:
    """How many first plays are looked at: all of them, and fewer by a tenth each time."""
    return np.unique(np.rint(count * 0.9 ** np.arange(PREFIXES)).astype(np.int64).clip(1))


def bet_lower(values: FloatArray, firsts: IntArray, miss: float) -> float:
    """A lower limit of the mean of numbers in [0, 1]."""
    starts = np.concatenate([[0], firsts[:-1]])
    low, high = 0.0, float(values.mean())
    for _ in range(HALVINGS if high > 0.0 else 0):
        middle = (low + high) / 2
        if capital(values / middle - 1.0, starts) >= 1.0 / miss:
            low = middle
        else:
            high = middle
    return low


def capital(gains: FloatArray, starts: IntArray) -> float:
    """The most that the bets have on average, after each of the pieces that begin at `starts`."""
    logs = [np.cumsum(np.add.reduceat(np.log1p(bet * gains), starts)) for bet in BETS]
    return float(np.exp(np.minimum(logs, 700.0)).mean(axis=0).max())  # e^700 is enough


def piece_edges(limit: float) -> FloatArray:
    """0, then edges that grow geometrically up to D."""
    return np.concatenate([[0.0], limit * FIRST_EDGE ** np.linspace(1.0, 0.0, PIECES)])


def piece_lower(values: FloatArray, firsts: IntArray, level: float) -> FloatArray:
    """For each column the largest lower limit of its mean that some first plays give."""
    sums = np.cumsum(values, axis=0)[firsts - 1]
    limits = [
        [kl_lower(total / n, (level + 0.5 * math.log(n)) / n) for total in row]
        for n, row in zip(firsts.tolist(), sums.tolist(), strict=True)
    ]
    return np.max(limits, axis=0)
