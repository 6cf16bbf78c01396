"""The ledger: what was played, what came back, what is still out and how old it is.

The simulator and the live agent book the same three events here (a play starts, its answer is
seen, it is at least D old), and every policy reads its evidence from here, so the delicate
question of what is known at time `now` is answered once.

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

from tarry.arrays import IntArray, Ints


class Ledger(NamedTuple):
    """Evidence of the current phase, as sums from which every bound of the paper follows.

    All fields are arrays, so that one ledger serves interpreted and compiled code.
    """

    plays: Ints  # n(i)
    seen: Ints  # |O(i)|
    seen_sum: Ints  # sum of the delays over O(i)
    start_sum: Ints  # sum of the starts over M(i); the ages add up to m(i) * now - start_sum
    complete: Ints  # |F(i)|
    complete_sum: Ints  # sum of the delays over F(i)
    latest: Ints  # start, arm and delay of the play that became complete last
    phase: Ints  # first step of the current phase, failed phases so far
    sweeps: Ints  # a queue of (last step, size) pairs, see close_sweep
    sweeps_ends: Ints  # first and one past the last pair of the queue, as running counts
    spacing: Ints  # least time between plays of an arm, 0 where its sweeps say it (live only)

    def missing(self, arm: int) -> int:
        """m(i): how many plays of `arm` are still out."""
        return self.plays[arm] - self.seen[arm]

    def missing_age(self, arm: int, now: int) -> int:
        """Sum of the ages now - start of the plays of `arm` that are still out."""
        return (self.plays[arm] - self.seen[arm]) * now - self.start_sum[arm]

    def window(self, arm: int) -> int:
        """Plays of `arm` that started less than D ago."""
        return self.plays[arm] - self.complete[arm]

    def book_play(self, arm: int, start: int) -> None:
        """A play of `arm` starts at time `start`."""
        self.plays[arm] += 1
        self.start_sum[arm] += start

    def book_return(self, step: int, arm: int, start: int, delay: int) -> bool:
        """The answer of play number `step` is seen; tells whether it belongs to this phase."""
        if step < self.phase[0]:
            return False
        self.seen[arm] += 1
        self.seen_sum[arm] += delay
        self.start_sum[arm] -= start
        return True

    def book_complete(self, step: int, arm: int, start: int, delay: int) -> None:
        """Play number `step` is D old, so its payoff is known."""
        if step < self.phase[0]:
            return
        self.complete[arm] += 1
        self.complete_sum[arm] += delay
        self.latest[0] = start
        self.latest[1] = arm
        self.latest[2] = delay

    def restart(self, step: int) -> None:
        """A phase failed: forget everything, and ignore what its plays still bring."""
        for arm in range(len(self.plays)):
            self.plays[arm] = 0
            self.seen[arm] = 0
            self.seen_sum[arm] = 0
            self.start_sum[arm] = 0
            self.complete[arm] = 0
            self.complete_sum[arm] = 0
        self.latest[1] = -1
        self.phase[0] = step
        self.phase[1] += 1
        self.sweeps_ends[0] = 0
        self.sweeps_ends[1] = 0

    def note_failure(self) -> None:
        """A phase failed, and its evidence is kept."""
        self.phase[1] += 1

    def close_sweep(self, size: int, last: int) -> None:
        """A sweep of `size` arms ended with the play at time `last`.

        The queue holds the sweeps that may become the smallest of the last D steps: a sweep
        at least as large as a later one never will. Sizes therefore rise strictly, so that
        the number of arms bounds the length of the queue.
        """
        capacity = len(self.sweeps) // 2
        while (
            self.sweeps_ends[1] > self.sweeps_ends[0]
            and self.sweeps[2 * ((self.sweeps_ends[1] - 1) % capacity) + 1] >= size
        ):
            self.sweeps_ends[1] -= 1
        slot = self.sweeps_ends[1] % capacity
        self.sweeps[2 * slot] = last
        self.sweeps[2 * slot + 1] = size
        self.sweeps_ends[1] += 1

    def smallest_sweep(self, since: int) -> int:
        """R: the smallest sweep among those that ended after time `since`, 0 if there is none."""
        capacity = len(self.sweeps) // 2
        while (
            self.sweeps_ends[1] > self.sweeps_ends[0]
            and self.sweeps[2 * (self.sweeps_ends[0] % capacity)] <= since
        ):
            self.sweeps_ends[0] += 1
        if self.sweeps_ends[1] == self.sweeps_ends[0]:
            return 0
        return self.sweeps[2 * (self.sweeps_ends[0] % capacity) + 1]

    def round_robin(self, size: int, now: int, max_delay: int) -> int:
        """R after a sweep of `size` arms that ended just before `now`: the smallest of the last D.

        With D = 1 no sweep ended within the last D steps but this one, at their edge.
        """
        self.close_sweep(size, now - 1)
        smallest = self.smallest_sweep(now - max_delay)
        return smallest if smallest > 0 else size


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
        latest=np.array([0, -1, 0], np.int64),
        phase=zeros(2),
        sweeps=zeros(2 * (arms + 1)),
        sweeps_ends=zeros(2),
        spacing=zeros(arms),
    )
