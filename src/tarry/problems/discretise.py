"""From any distribution of real delays to the exact law of whole ones.

A real delay is rounded (half to even) and clipped to [0, D]. The law of the result follows from
the distribution function F alone: with the cuts at 0.5, 1.5, ..., D - 0.5,

    P(d = k) = F(k + 0.5) - F(k - 0.5)    for 0 < k < D,
    P(d = 0) = F(0.5),    P(d = D) = 1 - F(D - 0.5).

Above the median the differences are taken of 1 - F, which keeps the upper tail accurate.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.checks import shortened
from tarry.errors import InputError
from tarry.problems.delays import check_max_delay
from tarry.problems.law import Law

Function = Callable[[FloatArray], Any]

# More values than this are a sign of a unit that is too fine: 2**24 take 400 MB on the way.
MOST_VALUES = 2**24
GRID = 257
# An atom this close to a half-way point is on it, but for the rounding of its location.
TIE = 1e-6


def discretise(distribution: Any, max_delay: int) -> Law:
    """The law of a delay with this distribution, rounded half to even and clipped to [0, D].

    Args:
        distribution: a frozen distribution of scipy.stats, continuous or discrete, or anything
            else with the methods `cdf(x)` and `sf(x)` (or `ccdf(x)`) for arrays.
        max_delay: D.

    The law has only values of positive probability, and only those are computed.

    >>> from scipy import stats
    >>> law = discretise(stats.uniform(0, 3), max_delay=2)
    >>> law.values.tolist(), law.probabilities.round(4).tolist()
    ([0, 1, 2], [0.1667, 0.3333, 0.5])
    """
    cdf = getattr(distribution, "cdf", None)
    sf = getattr(distribution, "sf", None) or getattr(distribution, "ccdf", None)
    if not callable(cdf) or not callable(sf):
        raise InputError(
            f"The distribution is {shortened(distribution)}; it must have the methods cdf and sf, "
            "as the frozen distributions of scipy.stats do."
        )
    most = check_max_delay(max_delay)
    if any(base.__name__ == "DiscreteDistribution" for base in type(distribution).__mro__):
        # SciPy's newer discrete distributions live on the integers and interpolate between them.
        return law_of(lambda x: cdf(np.floor(x)), lambda x: sf(np.floor(x)), most)
    atoms = hasattr(distribution, "pmf") and not hasattr(distribution, "pdf")
    return law_of(cdf, sf, most, atoms=atoms)


def law_of(cdf: Function, sf: Function, most: int, *, atoms: bool = False) -> Law:
    """The law of a delay with P(X <= x) = cdf(x) and P(X > x) = sf(x), rounded and clipped.

    `atoms` says that half-way points may have probability and need care.
    """
    below = checked(cdf, "cdf", atoms=atoms)
    above = checked(sf, "sf", atoms=atoms)
    low = first_true(lambda k: below(k) > 0, most)
    high = first_true(lambda k: above(k) <= 0, most)
    low = min(low, high)
    if high - low >= MOST_VALUES:
        raise InputError(
            f"The distribution spreads over {high - low + 1} whole delays; at most {MOST_VALUES} "
            "are allowed, so measure delays in a coarser unit."
        )
    cuts = np.arange(low, high)
    return Law(np.arange(low, high + 1), between_cuts(below(cuts), above(cuts)))


def checked(function: Function, name: str, *, atoms: bool) -> Callable[[IntArray], FloatArray]:
    """`function` at the cut above each k, refused where it returns no probabilities."""

    def at_cut_above(k: IntArray) -> FloatArray:
        cuts = k + 0.5
        if atoms:
            # k + 0.5 itself is rounded to the even neighbour: down to k, or up to k + 1.
            cuts += np.where(k % 2 == 0, TIE, -TIE)
        try:
            shares = np.asarray(function(cuts), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"The {name} of the distribution fails ({shortened(str(error))}); it must return "
                "one number from 0 to 1 for each delay."
            ) from error
        good = (shares >= 0) & (shares <= 1)
        if shares.shape != k.shape or not good.all():
            bad = shares[~good].tolist()[0] if not good.all() else shares
            raise InputError(
                f"The {name} of the distribution returns {shortened(bad)}; it must return one "
                "number from 0 to 1 for each delay."
            )
        return shares

    return at_cut_above


def first_true(test: Callable[[IntArray], Any], end: int) -> int:
    """The least k in 0..end-1 with a true test, which stays true from there; `end` if none."""
    low, high = 0, end
    while low < high:
        grid = np.unique(np.linspace(low, high - 1, GRID).astype(np.int64))
        hits = np.flatnonzero(test(grid))
        if len(hits) == 0:
            return high
        high = int(grid[hits[0]])
        if hits[0] > 0:
            low = int(grid[hits[0] - 1]) + 1
    return high


def between_cuts(below: FloatArray, above: FloatArray) -> FloatArray:
    """Probabilities of the cells between cuts that have `below` and `above` on their sides."""
    from_below = np.diff(below, prepend=0.0, append=1.0)
    from_above = -np.diff(above, prepend=1.0, append=0.0)
    upper = np.concatenate([[False], below > 0.5])
    # A distribution function may go down by a rounding error.
    return np.maximum(np.where(upper, from_above, from_below), 0.0)
