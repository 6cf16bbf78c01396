"""Sweeps: what all successive elimination policies share.

A sweep plays the active arms once each, in increasing order. After a full sweep, and only then,
arms are removed, all at once and on bounds computed at the same time.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import Floats, Ints
from tarry.ledger import Ledger


class Sweep(NamedTuple):
    """The active arms and how far the current sweep has come."""

    active: Ints  # S: the first `position[0]` entries, in increasing order
    position: Ints  # |S|, and how many of them this sweep has played
    lower: Floats  # LCB of each arm at the latest test
    upper: Floats  # UCB of each arm at the latest test

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
        size = self.position[0]
        bar = threshold
        kept = 0
        if reward:
            for k in range(size):
                bar = max(bar, self.lower[self.active[k]])
            for k in range(size):
                arm = self.active[k]
                if self.upper[arm] >= bar:
                    self.active[kept] = arm
                    kept += 1
        else:
            for k in range(size):
                bar = min(bar, self.upper[self.active[k]])
            for k in range(size):
                arm = self.active[k]
                if self.lower[arm] <= bar:
                    self.active[kept] = arm
                    kept += 1
        self.position[0] = kept
        self.position[1] = 0
        return kept

    def relax(self, ledger: Ledger, reward: bool, threshold: Floats, limit: float) -> None:
        """Nobody was left: move B and repeat the test on all arms until somebody survives.

        B = `threshold` is doubled (cost) or halved (reward), up to `limit` and not beyond; if
        nobody survives there, all arms stay active. The bounds of all arms must be up to date.
        """
        left = 0
        while left == 0 and threshold[0] != limit:
            if reward:
                threshold[0] = max(threshold[0] / 2.0, limit)
            else:
                threshold[0] = min(threshold[0] * 2.0, limit)
            ledger.note_failure()
            self.reopen()
            left = self.eliminate(reward, threshold[0])
        if left == 0:
            self.reopen()


def full_sweep(arms: int) -> Sweep:
    """A first sweep over all `arms` arms."""
    return Sweep(
        active=np.arange(arms, dtype=np.int64),
        position=np.array([arms, 0], np.int64),
        lower=np.zeros(arms),
        upper=np.zeros(arms),
    )
