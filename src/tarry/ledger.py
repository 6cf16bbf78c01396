"""The ledger: what was played, what came back, what is still out and how old it is.

`tarry.policies.driver` books three facts here, for the simulator and for the live agent: a play
starts, its answer is seen, it is at least D old. Every policy reads its evidence from here.

The words, for arm i at time `now` (the time of the next play), all within the current phase:

    plays          n(i)    plays started
    seen           |O(i)|  plays whose answer is known: start + delay < now
    missing        m(i)    plays still out: start + delay >= now, so delay >= now - start is known
    complete       |F(i)|  plays with start <= now - D: their payoff is known even if it is still
                           missing, since it can only be D
    window                 plays with start > now - D, which is n(i) - |F(i)|
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, IntArray, Ints, SharedEvidence


class Ledger(NamedTuple):
    """Evidence of the current phase, as sums from which every bound of the paper follows.

    All fields are arrays, so that one ledger serves interpreted and compiled code.
    """

    plays: ArmEvidence[Ints]  # n(i)
    seen: ArmEvidence[Ints]  # |O(i)|
    seen_sum: ArmEvidence[Ints]  # sum of the delays over O(i)
    start_sum: ArmEvidence[Ints]  # sum of the starts over M(i); see missing_age
    complete: ArmEvidence[Ints]  # |F(i)|
    complete_sum: ArmEvidence[Ints]  # sum of the delays over F(i)
    spacing: ArmEvidence[Ints]  # least time between plays, 0 where its sweeps say it (live only)
    phase: SharedEvidence[Ints]  # one number: the first play of the current phase

    def missing(self, arm: int) -> int:
        """m(i): how many plays of `arm` are still out."""
        return self.plays[arm] - self.seen[arm]

    def missing_age(self, arm: int, now: int) -> int:
        """Sum of the ages of the plays of `arm` that are still out: m(i) * now - start_sum."""
        return (self.plays[arm] - self.seen[arm]) * now - self.start_sum[arm]

    def window(self, arm: int) -> int:
        """Plays of `arm` that started less than D ago."""
        return self.plays[arm] - self.complete[arm]

    def book_play(self, arm: int, start: int) -> None:
        """A play of `arm` starts at time `start`."""
        self.plays[arm] += 1
        self.start_sum[arm] += start

    def book_return(self, number: int, arm: int, start: int, delay: int) -> bool:
        """The answer of play `number` is seen; tells whether it belongs to this phase."""
        if number < self.phase[0]:
            return False
        self.seen[arm] += 1
        self.seen_sum[arm] += delay
        self.start_sum[arm] -= start
        return True

    def book_complete(self, number: int, arm: int, delay: int) -> None:
        """Play `number` is D old, so its payoff is known."""
        if number < self.phase[0]:
            return
        self.complete[arm] += 1
        self.complete_sum[arm] += delay

    def restart(self, number: int) -> None:
        """A new phase begins with play `number`: forget all, and ignore what older plays bring."""
        for arm in range(len(self.plays)):
            self.plays[arm] = 0
            self.seen[arm] = 0
            self.seen_sum[arm] = 0
            self.start_sum[arm] = 0
            self.complete[arm] = 0
            self.complete_sum[arm] = 0
        self.phase[0] = number


def empty_ledger(arms: int) -> Ledger:
    """A ledger in which nothing was played yet, for `arms` arms."""

    def zeros(size: int) -> IntArray:
        return np.zeros(size, np.int64)

    return Ledger(
        plays=zeros(arms),
        seen=zeros(arms),
        seen_sum=zeros(arms),
        start_sum=zeros(arms),
        complete=zeros(arms),
        complete_sum=zeros(arms),
        spacing=zeros(arms),
        phase=zeros(1),
    )
