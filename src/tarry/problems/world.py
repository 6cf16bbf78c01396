"""Where delays come from: a pure function of (seed, step, arm), in constant time and memory.

A `World` holds, for every arm, a table of alias cells (Walker 1977, Vose 1991). The delay of a
play is found by one call of the counter-based generator Philox4x32-10 (Salmon et al. 2011) with
the step and the arm as its counter and the seed as its key, so that

* all policies of a comparison face the same delays,
* no result depends on the order of the plays or on the number of workers,
* nothing of size horizon x arms is ever allocated.

A world in which laws depend on more than the arm is another class with the same three methods, so
that the loop compiled for this one does nothing of it. Its laws are those of virtual arms: those of
arm k in the n-th of several states of the world are number n K + k.

`philox` and `World.delay` are plain integer code, right for Python's integers and for 64-bit
integers that wrap around: a compiler may take them as they are.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.plays import Plays

M32 = 0xFFFFFFFF
COIN_BITS = 52
DELAY_BITS = 32
OF_DELAYS, OF_PROBLEMS, OF_CONTEXTS, OF_DRIFT = range(4)  # last word of the counter: streams apart


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


class AnyWorld(Protocol):
    """What the loop asks of a world."""

    def meet(self, plays: Plays, row: int, step: int) -> int:
        """The request of a step, told to its row; the number of the first virtual arm it has."""

    def delay(self, step: int, arm: int) -> int:
        """The delay of virtual arm `arm` (from 0) if it is played in step `step` (from 1)."""

    def gap(self, gaps: FloatArray, step: int, arm: int) -> float:
        """What a play of virtual arm `arm` in this step adds to the regret; `gaps` by place."""


class World(NamedTuple):
    """All that a run needs to know of a problem: a delay for every step and arm.

    Arm i (where laws depend on more, virtual arm i) owns the rows offsets[i] to offsets[i + 1] - 1
    of `cells`. A row is a threshold in 0..2**52 and two delays, value + alias * 2**32: the value
    is drawn with probability threshold / 2**52, the alias otherwise.
    """

    cells: IntArray  # int64, (cells of all arms, 2)
    offsets: IntArray  # int64, (arms + 1,)
    table: IntArray  # int32, (steps, arms): a replayed table, or (0, 0)
    key0: int  # two 32-bit words made from the seed
    key1: int

    def meet(self, plays: Plays, row: int, step: int) -> int:
        """The request of a step, told to its row; the number of the first virtual arm it has."""
        return 0

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

    def gap(self, gaps: FloatArray, step: int, arm: int) -> float:
        """What a play of the arm adds to the regret."""
        return gaps[arm]


def draw_delays(world: World, steps: IntArray, arms: IntArray) -> IntArray:
    """`World.delay` for arrays of steps and arms of one shape, which must not be 0-dimensional."""
    if world.table.shape[0] > 0:
        return world.table[steps - 1, arms].astype(np.int64)
    zero = np.zeros_like(steps)
    words = philox(steps & M32, steps >> 32, arms, zero, world.key0, world.key1)
    first = world.offsets[arms]
    return from_cells(world.cells, first, world.offsets[arms + 1] - first, words)


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
