"""Bins of delays whose ends grow geometrically: 1 = e_0 < e_1 < ... < e_{B-1} = D.

bin 0 = {0},   bin b = {e_{b-1}, ..., e_b - 1},   and "reached D" after the last bin
"""

import numpy as np

from tarry.arrays import IntArray, Ints
from tarry.checks import check_whole

MOST = 1_000_000  # bins: evidence has several numbers in each, for each arm


def check_bins(bins: int) -> None:
    """Refuse what is no sensible number of bins."""
    check_whole("number of bins", bins, 2, MOST)


def geometric_edges(max_delay: int, bins: int) -> IntArray:
    """The ends of `bins` bins, or of fewer where D has not so many different whole numbers."""
    return np.unique(np.rint(np.geomspace(1, max_delay, bins)).astype(np.int64))


def bin_of(edges: Ints, delay: int) -> int:
    """The bin of a delay below D: the number of edges that are not above it."""
    low = 0
    high = len(edges)
    while low < high:
        middle = (low + high) // 2
        if edges[middle] <= delay:
            low = middle + 1
        else:
            high = middle
    return low
