"""The running form of `IncrementUCB(unbounded=True)`: delays without an end, as a cost.

For every age a, E min(d, a) <= E d, so a lower bound of what plays take up to age a is one of what
they take at all, and nothing need be known of how long a delay can be. The ages are 1, 2, 4, ...;
one begins to count when a first play is so old. D is used for nothing: it only ends the list.
"""

import math
from typing import NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, Constant, Floats, IntArray, Ints, SharedEvidence
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.coins import kl_lower
from tarry.policies.increments import radius
from tarry.policies.index.kept_bounds import KeptBounds, no_bounds
from tarry.policies.index.levels import GROWTH, anytime_base, spread_factor
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class UnboundedUCBRule(NamedTuple):
    """Means of min(d, a) / a over the plays at least a old; arm-major, an entry per age."""

    spread: float
    edges: Constant[Ints]  # the ages a = 1, 2, 4, ..., up to D
    old: ArmEvidence[Ints]  # n(a): plays at least a old, the first n(a) of the arm
    capped: ArmEvidence[Floats]  # the sum of min(d, a) / a over them
    late: SharedEvidence[Ints]  # ages that the answer being told was wrongly said to have outlived
    bounds: KeptBounds  # in units of time

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Renew the bounds that are due; play the least one."""
        step = plays.number[row]
        for arm in range(len(ledger.plays)):
            count = ledger.plays[arm]
            if self.bounds.is_due(arm, step, count):
                widening = spread_factor(self.spread, ledger.seen[arm], ledger.missing(arm))
                self.bounds.renew(arm, step, count, self.lower_delay(arm, step, widening))
        return self.bounds.best(ledger, False)  # compiled code: by position

    def lower_delay(self, arm: int, step: int, widening: float) -> float:
        """LCB of the mean delay: the best over all ages that a play of the arm has reached.

        Age 2^k has the share 1 / ((k + 1) (k + 2)) of what may go wrong; all shares add up to 1.
        """
        base = anytime_base(1, step)
        best = 0.0
        for k in range(len(self.edges)):
            place = arm * len(self.edges) + k
            count = self.old[place]
            if count == 0:
                break
            level = widening * (base + math.log((k + 1.0) * (k + 2.0)))
            mean = min(self.capped[place] / count, 1.0)
            lower = kl_lower(mean, radius(level, widening * GROWTH, count))
            best = max(best, self.edges[k] * lower)
        return best

    def aged(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play is old enough for this age: it counts with its delay, or with the age."""
        place = plays.arm[row] * len(self.edges) + edge
        delay = plays.delay[row]
        self.old[place] += 1
        if 0 <= delay < self.edges[edge]:
            self.capped[place] += delay / self.edges[edge]
        else:
            self.capped[place] += 1.0

    def withdrawn(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """An answer told late: it counts less than the age. `returned` says how much, next."""
        self.capped[plays.arm[row] * len(self.edges) + edge] -= 1.0
        self.late[0] += 1

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer: nothing to do, unless it was told late."""
        if self.late[0] == 0:
            return
        delay = plays.delay[row]
        edge = 0
        while self.edges[edge] <= delay:
            edge += 1
        place = plays.arm[row] * len(self.edges)
        for k in range(edge, edge + self.late[0]):
            self.capped[place + k] += delay / self.edges[k]
        self.late[0] = 0


def doubling_ages(max_delay: int) -> IntArray:
    """1, 2, 4, ..., up to D."""
    return 2 ** np.arange(int(max_delay).bit_length(), dtype=np.int64)


def start_unbounded(setting: Setting, spread: float) -> UnboundedUCBRule:
    """Nothing is known of any arm."""
    edges = doubling_ages(setting.max_delay)
    return UnboundedUCBRule(
        spread=float(spread),
        edges=edges,
        old=np.zeros(setting.arms * len(edges), np.int64),
        capped=np.zeros(setting.arms * len(edges)),
        late=np.zeros(1, np.int64),
        bounds=no_bounds(setting.arms),
    )
