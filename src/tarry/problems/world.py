"""Where delays come from: a pure function of (seed, step, arm), in constant time and memory.

A `World` holds, for every arm, a table of alias cells (Walker 1977, Vose 1991). The delay of a
play is found by one call of the counter-based generator Philox4x32-10 (Salmon et al. 2011) with
the step and the arm as its counter and the seed as its key, so that

* all policies of a comparison face the same delays,
* no result depends on the order of the plays or on the number of workers,
* nothing of size horizon x arms is ever allocated.

Where requests differ, the context of a step is drawn in the same way from a stream of its own, and
the laws are those of virtual arms: (context n, arm k) is number n K + k.

`philox` and `World.delay` are plain integer code, right for Python's integers and for 64-bit
integers that wrap around: a compiler may take them as they are.
"""

from typing import Any, NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray

M32 = 0xFFFFFFFF
COIN_BITS = 52
DELAY_BITS = 32
OF_DELAYS, OF_PROBLEMS, OF_CONTEXTS = range(3)  # last word of the counter: streams apart


def philox(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> tuple[Any, Any, Any, Any]:
    """Four random 32-bit words for the counter (c0, c1, c2, c3) and the key (k0, k1).

    Philox4x32 with 10 rounds. Each argument is a 32-bit word: a Python integer, or an array of
    int64 whose products may wrap (the high half of a wrapped product is right after the mask).
    """
    for _ in range(10):
        p0 = 0xD2511F53 * c0
        p1 = 0xCD9E8D57 * c2
        c0 = ((p1 >> 32) & M32) ^ c1 ^ k0
        c1 = p1 & M32
        c2 = ((p0 >> 32) & M32) ^ c3 ^ k1
        c3 = p0 & M32
        k0 = (k0 + 0x9E3779B9) & M32
        k1 = (k1 + 0xBB67AE85) & M32
    return c0, c1, c2, c3


class World(NamedTuple):
    """All that a run needs to know of a problem: a delay for every step and arm.

    Arm i (in a world with contexts, virtual arm i) owns the rows offsets[i] to offsets[i + 1] - 1
    of `cells`. A row is a threshold in 0..2**52 and two delays, value + alias * 2**32: the value
    is drawn with probability threshold / 2**52, the alias otherwise.
    """

    cells: IntArray  # int64, (cells of all arms, 2)
    offsets: IntArray  # int64, (arms + 1,)
    table: IntArray  # int32, (steps, arms): a replayed table, or (0, 0)
    key0: int  # two 32-bit words made from the seed
    key1: int
    requests: IntArray  # int64, (contexts, 2): alias cells of the contexts; (0, 2) if there is one
    features: FloatArray  # (contexts, p): what is known of a request

    def context(self, step: int) -> int:
        """Which context step `step` has: a row of `features`."""
        count = self.requests.shape[0]
        if count < 2:
            return 0
        word = int(step)
        w0, w1, w2, w3 = philox(word & M32, word >> 32, 0, OF_CONTEXTS, self.key0, self.key1)
        row = (w0 * count + ((w1 * count) >> 32)) >> 32
        pair = int(self.requests[row, 1])
        if ((w2 << 20) | (w3 >> 12)) < int(self.requests[row, 0]):
            return pair & M32
        return pair >> DELAY_BITS

    def delay(self, step: int, arm: int) -> int:
        """The delay of arm `arm` (from 0) if it is played in step `step` (from 1)."""
        if self.table.shape[0] > 0:
            return int(self.table[step - 1, arm])
        word = int(step)
        w0, w1, w2, w3 = philox(word & M32, word >> 32, int(arm), OF_DELAYS, self.key0, self.key1)
        first = int(self.offsets[arm])
        count = int(self.offsets[arm + 1]) - first
        row = first + ((w0 * count + ((w1 * count) >> 32)) >> 32)
        pair = int(self.cells[row, 1])
        if ((w2 << 20) | (w3 >> 12)) < int(self.cells[row, 0]):
            return pair & M32
        return pair >> DELAY_BITS


def draw_delays(world: World, steps: IntArray, arms: IntArray) -> IntArray:
    """`World.delay` for arrays of steps and arms of one shape, which must not be 0-dimensional."""
    if world.table.shape[0] > 0:
        return world.table[steps - 1, arms].astype(np.int64)
    zero = np.zeros_like(steps)
    words = philox(steps & M32, steps >> 32, arms, zero, world.key0, world.key1)
    first = world.offsets[arms]
    return from_cells(world.cells, first, world.offsets[arms + 1] - first, words)


def draw_contexts(world: World, steps: IntArray) -> IntArray:
    """`World.context` for an array of steps."""
    count = len(world.requests)
    if count < 2:
        return np.broadcast_to(np.int64(0), steps.shape)
    zero = np.zeros_like(steps)
    stream = zero + OF_CONTEXTS
    words = philox(steps & M32, steps >> 32, zero, stream, world.key0, world.key1)
    return from_cells(world.requests, zero, zero + count, words)


def from_cells(cells: IntArray, first: IntArray, count: IntArray, words: tuple[Any, ...]) -> Any:
    """The values that these random words draw from `count` alias cells each, from `first` on."""
    w0, w1, w2, w3 = words
    rows = cells[first + ((w0 * count + ((w1 * count) >> 32)) >> 32)]
    pairs = rows[..., 1]
    own = ((w2 << 20) | (w3 >> 12)) < rows[..., 0]
    return np.where(own, pairs & M32, pairs >> DELAY_BITS)


def seed_words(seed: int) -> tuple[int, int]:
    """Two well-mixed 32-bit words from a seed, the same on every machine and NumPy version."""
    word0, word1 = np.random.SeedSequence(seed).generate_state(2, np.uint32)
    return int(word0), int(word1)


def uniforms(seed: int, stream: int, count: int) -> FloatArray:
    """`count` numbers uniform in (0, 1), a pure function of (seed, stream, position).

    For the parameters of random problems. The last counter word keeps them apart from delays.
    """
    key0, key1 = seed_words(seed)
    position = np.arange(count, dtype=np.int64)
    zero = np.zeros_like(position)
    w0, w1, _, _ = philox(position, zero, zero + stream, zero + OF_PROBLEMS, key0, key1)
    return (((w0 << 20) | (w1 >> 12)) + 0.5) * 2.0**-COIN_BITS
