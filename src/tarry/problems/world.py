"""Where delays come from: a pure function of (seed, step, arm), in constant time and memory.

A `World` holds, for every arm, a table of alias cells (Walker 1977, Vose 1991). The delay of a
play is found by one call of the counter-based generator Philox4x32-10 (Salmon et al. 2011) with
the step and the arm as its counter and the seed as its key, so that

* all policies of a comparison face the same delays,
* no result depends on the order of the plays or on the number of workers,
* nothing of size horizon x arms is ever allocated.

Where laws change with time, a plan says which block of laws a step has; where they drift, a coin
of the step decides between two blocks. Where requests differ, the context of a step is drawn in the
same way from a stream of its own. The laws are then those of virtual arms: (context or block n,
arm k) is number n K + k.

`philox` and `World.delay` are plain integer code, right for Python's integers and for 64-bit
integers that wrap around: a compiler may take them as they are.
"""

from typing import Any, NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray

M32 = 0xFFFFFFFF
COIN_BITS = 52
DELAY_BITS = 32
OF_DELAYS, OF_PROBLEMS, OF_CONTEXTS, OF_DRIFT = range(4)  # last word of the counter: streams apart
FIRST, FROM, TO, ORIGIN, SPAN = range(5)  # the columns of a plan, see tarry.problems.changing


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
    plan: IntArray  # int64, (pieces, 5): how laws change; (0, 5) if they do not
    caught: IntArray  # int64, (n, 3): arm, step, D: plays of the arm out when the step begins hang

    def piece(self, step: int) -> int:
        """Which row of the plan step `step` belongs to."""
        low = 0
        high = self.plan.shape[0] - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self.plan[middle, FIRST] <= step:
                low = middle
            else:
                high = middle - 1
        return low

    def block(self, step: int) -> int:
        """Which block of laws a play in step `step` has."""
        piece = self.piece(step)
        before = int(self.plan[piece, FROM])
        after = int(self.plan[piece, TO])
        if before == after:
            return before
        word = int(step)
        w0, w1, _, _ = philox(word & M32, word >> 32, 0, OF_DRIFT, self.key0, self.key1)
        coin = float((w0 << 20) | (w1 >> 12)) * 2.0**-COIN_BITS
        gone = float(word - int(self.plan[piece, ORIGIN]))
        return after if coin * float(self.plan[piece, SPAN]) < gone else before

    def caught_delay(self, step: int, arm: int, delay: int) -> int:
        """`delay`, or D if the play is out when an outage begins that plays in flight share."""
        for row in range(self.caught.shape[0]):
            begin = int(self.caught[row, 1])
            if self.caught[row, 0] == arm and step < begin <= step + delay:
                return int(self.caught[row, 2])
        return delay

    def context(self, step: int) -> int:
        """Which context a step has, a row of `features`; in a world that changes, its block."""
        if self.plan.shape[0] > 0:
            return self.block(step)
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


def steady_world(
    cells: IntArray,
    offsets: IntArray,
    table: IntArray,
    key0: int,
    key1: int,
    features: FloatArray,
) -> World:
    """A world in which nothing changes, with one context."""
    requests, plan, caught = (np.zeros((0, columns), np.int64) for columns in (2, 5, 3))
    return World(cells, offsets, table, key0, key1, requests, features, plan, caught)


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
    if len(world.plan):
        return draw_blocks(world, steps)
    count = len(world.requests)
    if count < 2:
        return np.broadcast_to(np.int64(0), steps.shape)
    zero = np.zeros_like(steps)
    stream = zero + OF_CONTEXTS
    words = philox(steps & M32, steps >> 32, zero, stream, world.key0, world.key1)
    return from_cells(world.requests, zero, zero + count, words)


def draw_blocks(world: World, steps: IntArray) -> IntArray:
    """`World.block` for an array of steps."""
    rows = world.plan[np.searchsorted(world.plan[:, FIRST], steps, "right") - 1]
    zero = np.zeros_like(steps)
    w0, w1, _, _ = philox(steps & M32, steps >> 32, zero, zero + OF_DRIFT, world.key0, world.key1)
    coin = ((w0 << 20) | (w1 >> 12)).astype(np.float64) * 2.0**-COIN_BITS
    gone = (steps - rows[..., ORIGIN]).astype(np.float64)
    moved = coin * rows[..., SPAN].astype(np.float64) < gone
    return np.where(moved, rows[..., TO], rows[..., FROM])


def catch_delays(world: World, steps: IntArray, arms: IntArray, delays: IntArray) -> IntArray:
    """`World.caught_delay` for arrays."""
    for arm, begin, most in world.caught.tolist():
        hit = (arms == arm) & (steps < begin) & (begin <= steps + delays)
        delays = np.where(hit, most, delays)
    return delays


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
