"""Alias tables: a discrete law as cells of equal probability with two values each.

With n values there are n cells. A cell is chosen uniformly, then a coin decides between its own
value and its alias, so a draw takes the same time whatever the law.

The classic construction moves probability from cells that are too full to cells that are not full
enough, one by one. Here the same sweep is done at once with running sums, in exact integers: the
deficits of the small cells laid end to end are matched with the excesses of the large ones, and a
large cell that has given everything away borrows what it lacks from the next one.
"""

from collections.abc import Sequence

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.problems.law import Law
from tarry.problems.world import COIN_BITS, DELAY_BITS


def alias_cells(values: IntArray, probabilities: FloatArray) -> IntArray:
    """Rows (threshold, value + alias * 2**32) whose law is (values, probabilities).

    Every probability is kept to an absolute precision of 2**-52 or better, and they sum to 1.
    """
    weights, bits = integer_weights(probabilities)
    full = 1 << bits
    large = np.flatnonzero(weights > full)
    small = np.flatnonzero(weights <= full)
    threshold = np.full(len(values), full, dtype=np.int64)
    alias = np.arange(len(values))
    if len(large):
        deficit = np.cumsum(full - weights[small])
        excess = np.cumsum(weights[large] - full)
        threshold[small] = weights[small]
        before = deficit - (full - weights[small])
        alias[small] = large[np.minimum(np.searchsorted(excess, before, "right"), len(large) - 1)]
        exhausted = np.searchsorted(deficit, excess, "left")
        threshold[large] = full - (deficit[exhausted] - excess)
        alias[large[:-1]] = large[1:]
    cells = np.empty((len(values), 2), dtype=np.int64)
    cells[:, 0] = threshold << (COIN_BITS - bits)
    cells[:, 1] = values | (values[alias] << DELAY_BITS)
    return cells


def integer_weights(probabilities: FloatArray) -> tuple[IntArray, int]:
    """Integers in proportion to the probabilities with sum n * 2**bits, which is below 2**63.

    What rounding leaves over goes to the most probable value.
    """
    count = len(probabilities)
    bits = min(COIN_BITS, 62 - (count - 1).bit_length())
    weights = np.rint(probabilities * float(count << bits)).astype(np.int64)
    weights[np.argmax(weights)] += (count << bits) - int(weights.sum())
    return weights, bits


def cells_of(laws: Sequence[Law]) -> tuple[IntArray, IntArray]:
    """The alias cells of some laws, one after another, and where each one's begin.

    A law that is there many times, as that of one delay in many contexts, is looked at once.
    """
    distinct = {id(law): law for law in laws}
    made = {key: alias_cells(law.values, law.probabilities) for key, law in distinct.items()}
    parts = [made[id(law)] for law in laws]
    offsets = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return np.concatenate(parts), offsets
