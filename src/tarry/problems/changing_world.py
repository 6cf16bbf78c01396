"""Delays in a world that changes: which block of laws a step has, and what a play costs then.

A plan says for each piece of time which block of laws it has; where laws drift, a coin of the step
decides between two blocks. The laws are those of virtual arms: (block n, arm k) is number n K + k.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.plays import Plays
from tarry.problems.world import COIN_BITS, M32, OF_DRIFT, World, philox

FIRST, FROM, TO, ORIGIN, SPAN = range(5)  # the columns of a plan, see tarry.problems.changing


class ChangingWorld(NamedTuple):
    """Delays where laws change with time."""

    laws: World  # of the virtual arms
    arms: int
    plan: IntArray  # int64, (pieces, 5)
    caught: IntArray  # int64, (n, 3): arm, step, D: plays of the arm out when the step begins hang

    def meet(self, plays: Plays, row: int, step: int) -> int:
        """The number of the first virtual arm that a step has."""
        return self.block(step) * self.arms

    def delay(self, step: int, arm: int) -> int:
        """The delay of virtual arm `arm`; D if an outage begins meanwhile that it shares."""
        delay = self.laws.delay(step, arm)
        for row in range(self.caught.shape[0]):
            begin = int(self.caught[row, 1])
            if self.caught[row, 0] == arm % self.arms and step < begin <= step + delay:
                return int(self.caught[row, 2])
        return delay

    def gap(self, gaps: FloatArray, step: int, arm: int) -> float:
        """What a play of virtual arm `arm` adds to the regret.

        It is that of the piece and the step, whichever law the delay was drawn from: `gaps` has
        those of the first step of each piece, then what comes to them with each step.
        """
        piece = self.piece(step)
        place = piece * self.arms + arm % self.arms
        steeper = gaps[self.plan.shape[0] * self.arms + place]
        return gaps[place] + steeper * (step - self.plan[piece, FIRST])

    def piece(self, step: int) -> int:
        """Which row of the plan a step belongs to."""
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
        """Which block of laws a play in this step has."""
        piece = self.piece(step)
        before = int(self.plan[piece, FROM])
        after = int(self.plan[piece, TO])
        if before == after:
            return before
        word = int(step)
        key0, key1 = self.laws.key0, self.laws.key1
        w0, w1, _, _ = philox(word & M32, word >> 32, 0, OF_DRIFT, key0, key1)
        coin = float((w0 << 20) | (w1 >> 12)) * 2.0**-COIN_BITS
        gone = float(word - int(self.plan[piece, ORIGIN]))
        return after if coin * float(self.plan[piece, SPAN]) < gone else before


def draw_blocks(world: ChangingWorld, steps: IntArray) -> IntArray:
    """`ChangingWorld.block` for an array of steps."""
    rows = world.plan[np.searchsorted(world.plan[:, FIRST], steps, "right") - 1]
    zero = np.zeros_like(steps)
    key0, key1 = world.laws.key0, world.laws.key1
    w0, w1, _, _ = philox(steps & M32, steps >> 32, zero, zero + OF_DRIFT, key0, key1)
    coin = ((w0 << 20) | (w1 >> 12)).astype(np.float64) * 2.0**-COIN_BITS
    gone = (steps - rows[..., ORIGIN]).astype(np.float64)
    moved = coin * rows[..., SPAN].astype(np.float64) < gone
    return np.where(moved, rows[..., TO], rows[..., FROM])


def catch_delays(
    world: ChangingWorld, steps: IntArray, arms: IntArray, delays: IntArray
) -> IntArray:
    """What `ChangingWorld.delay` makes of the delays of plays that an outage meets in flight."""
    for arm, begin, most in world.caught.tolist():
        hit = (arms == arm) & (steps < begin) & (begin <= steps + delays)
        delays = np.where(hit, most, delays)
    return delays
