"""Where delays come from if requests differ: a context for every step, and laws for each.

The context of a step is drawn like a delay, from a stream of its own: a pure function of (seed,
step), and of nothing that is played.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.plays import Plays
from tarry.problems.world import DELAY_BITS, M32, OF_CONTEXTS, World, from_cells, philox


class ContextWorld(NamedTuple):
    """A world of N contexts and K arms: `laws` are those of N K virtual arms."""

    laws: World
    arms: int  # K
    requests: IntArray  # int64, (N, 2): alias cells of the contexts
    features: FloatArray  # (N, p): what is known of a request

    def context(self, step: int) -> int:
        """Which context step `step` has: a row of `features`."""
        count = self.requests.shape[0]
        word = int(step)
        key0, key1 = self.laws.key0, self.laws.key1
        w0, w1, w2, w3 = philox(word & M32, word >> 32, 0, OF_CONTEXTS, key0, key1)
        row = (w0 * count + ((w1 * count) >> 32)) >> 32
        pair = int(self.requests[row, 1])
        if ((w2 << 20) | (w3 >> 12)) < int(self.requests[row, 0]):
            return pair & M32
        return pair >> DELAY_BITS

    def meet(self, plays: Plays, row: int, step: int) -> int:
        """The request of a step, told to its row; the number of the first virtual arm it has."""
        context = self.context(step)
        for column in range(self.features.shape[1]):
            plays.context[row, column] = self.features[context, column]
        return context * self.arms

    def delay(self, step: int, arm: int) -> int:
        """The delay of virtual arm `arm` if it is played in step `step`."""
        return self.laws.delay(step, arm)

    def gap(self, gaps: FloatArray, step: int, arm: int) -> float:
        """What a play of virtual arm `arm` adds to the regret."""
        return gaps[arm]


def draw_contexts(world: ContextWorld, steps: IntArray) -> IntArray:
    """`ContextWorld.context` for an array of steps."""
    zero = np.zeros_like(steps)
    stream, keys = zero + OF_CONTEXTS, (world.laws.key0, world.laws.key1)
    words = philox(steps & M32, steps >> 32, zero, stream, *keys)
    drawn: IntArray = from_cells(world.requests, zero, zero + len(world.requests), words)
    return drawn
