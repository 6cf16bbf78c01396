"""Sweeps: what all successive elimination policies share.

A sweep plays the active arms once each, in increasing order. After a full sweep, and only then,
arms are removed, all at once and on bounds computed at the same time.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import ArmState, Floats, FreshState, IntArray, Ints


class Sweep(NamedTuple):
    """The active arms and how far the current sweep has come."""

    active: FreshState[Ints]  # S: the first `position[0]` entries, in increasing order
    position: FreshState[Ints]  # |S|, and how many of them this sweep has played
    lower: ArmState[Floats]  # LCB of each arm at the latest test
    upper: ArmState[Floats]  # UCB of each arm at the latest test
    past: FreshState[Ints]  # a queue of earlier sweeps as pairs (last step, size), see close
    past_ends: FreshState[Ints]  # first and one past the last pair of the queue, running counts

    def finished(self) -> bool:
        """Whether every active arm had its play in this sweep."""
        return self.position[1] >= self.position[0]

    def next_arm(self) -> int:
        """The next arm of this sweep."""
        arm = self.active[self.position[1]]
        self.position[1] += 1
        return arm

    def reopen(self) -> None:
        """Make all arms active and begin a sweep."""
        for arm in range(len(self.active)):
            self.active[arm] = arm
        self.position[0] = len(self.active)
        self.position[1] = 0

    def eliminate(self, reward: bool, threshold: float) -> int:
        """Remove the arms that are surely worse than another or than `threshold`; begin a sweep.

        cost:    remove i if min(min_j UCB(j), threshold) < LCB(i)
        reward:  remove i if max(max_j LCB(j), threshold) > UCB(i)

        Returns how many arms are left.
        """
        bar = threshold
        for k in range(self.position[0]):
            arm = self.active[k]
            bar = max(bar, self.lower[arm]) if reward else min(bar, self.upper[arm])
        return self.remove(reward, bar)

    def remove(self, reward: bool, bar: float) -> int:
        """`eliminate` for a caller that knows the best bound or threshold, `bar`, already."""
        size = self.position[0]
        kept = 0
        if reward:
            for k in range(size):
                arm = self.active[k]
                if self.upper[arm] >= bar:
                    self.active[kept] = arm
                    kept += 1
        else:
            for k in range(size):
                arm = self.active[k]
                if self.lower[arm] <= bar:
                    self.active[kept] = arm
                    kept += 1
        self.position[0] = kept
        self.position[1] = 0
        return kept

    def relax(self, phase: Ints, reward: bool, threshold: Floats, limit: float) -> None:
        """Nobody was left: move B and repeat the test on all arms until somebody survives.

        B = `threshold` is doubled (cost) or halved (reward), up to `limit` and not beyond; if
        nobody survives there, all arms stay active. The bounds of all arms must be up to date.
        Each move of B is a failure in `phase`.
        """
        left = 0
        while left == 0 and threshold[0] != limit:
            if reward:
                threshold[0] = max(threshold[0] / 2.0, limit)
            else:
                threshold[0] = min(threshold[0] * 2.0, limit)
            phase[1] += 1
            self.reopen()
            left = self.eliminate(reward, threshold[0])
        if left == 0:
            self.reopen()

    def forget(self) -> None:
        """Begin anew: all arms active, no sweep before."""
        self.reopen()
        self.past_ends[0] = 0
        self.past_ends[1] = 0

    def close(self, size: int, last: int) -> None:
        """A sweep of `size` arms ended with the play at time `last`.

        The queue holds the sweeps that may become the smallest of the last D steps: a sweep
        at least as large as a later one never will. Sizes therefore rise strictly, so that
        the number of arms bounds the length of the queue.
        """
        capacity = len(self.past) // 2
        while (
            self.past_ends[1] > self.past_ends[0]
            and self.past[2 * ((self.past_ends[1] - 1) % capacity) + 1] >= size
        ):
            self.past_ends[1] -= 1
        slot = self.past_ends[1] % capacity
        self.past[2 * slot] = last
        self.past[2 * slot + 1] = size
        self.past_ends[1] += 1

    def smallest(self, since: int) -> int:
        """R: the smallest sweep among those that ended after time `since`, 0 if there is none."""
        capacity = len(self.past) // 2
        while (
            self.past_ends[1] > self.past_ends[0]
            and self.past[2 * (self.past_ends[0] % capacity)] <= since
        ):
            self.past_ends[0] += 1
        if self.past_ends[1] == self.past_ends[0]:
            return 0
        return self.past[2 * (self.past_ends[0] % capacity) + 1]

    def round_robin(self, now: int, max_delay: int) -> int:
        """R after this sweep, which ended just before `now`: the smallest of the last D steps.

        With D = 1 no sweep ended within the last D steps but this one, at their edge.
        """
        size = self.position[0]
        self.close(size, now - 1)
        smallest = self.smallest(now - max_delay)
        return smallest if smallest > 0 else size


def full_sweep(arms: int) -> Sweep:
    """A first sweep over all `arms` arms."""
    return Sweep(
        active=np.arange(arms, dtype=np.int64),
        position=np.array([arms, 0], np.int64),
        lower=np.zeros(arms),
        upper=np.zeros(arms),
        past=np.zeros(2 * (arms + 1), np.int64),
        past_ends=np.zeros(2, np.int64),
    )


def first_of_phases() -> IntArray:
    """The `phase` of a rule at its first step: everything counts, nothing has failed."""
    return np.zeros(2, np.int64)
