"""What all arms together say about delays: where the hypotheses of a single arm begin.

An arm that has just changed is unknown, but it is an arm like the others. The prior of its curve is
therefore a mixture of "anything may be" and of the curve of all arms together, as far as that is
known. With E_b, P_b the events and passes of all arms in bin b, faded, and n_0 = E_0 + P_0,

    lam = SHARE n_0 / (n_0 + HALF),   h_b = E_b / (E_b + P_b),   S_b = prod_{i < b} (1 - h_i)
    a_b = MASS ((1 - lam)(1 - END)/B + lam S_b h_b)         the prior mass in bin b
    a_D = MASS ((1 - lam) END + lam S_B)                    that of "reached D"
    r_b = a_{b+1} + ... + a_{B-1} + a_D

so that h_b ~ Beta(a_b, r_b) for an arm of which nothing is known.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import Floats, IntArray, Ints, SharedEvidence

MASS = 0.5  # in plays
END = 0.8  # how much of it is on "reached D" while nothing is known
SHARE = 0.8  # of the pool in the prior, at most
HALF = 10.0  # plays after which the pool has half of its share
EVERY = 16  # plays after which the prior is computed anew
FADE = (1.0 - 1.0 / 1000.0) ** EVERY


class Pool(NamedTuple):
    """Events and passes of all arms, and the prior that follows from them."""

    all_events: SharedEvidence[Floats]  # E_b
    all_passes: SharedEvidence[Floats]  # P_b
    prior: SharedEvidence[Floats]  # a_b
    beyond: SharedEvidence[Floats]  # r_b
    since: SharedEvidence[Ints]  # plays since the prior was computed

    def count_play(self) -> None:
        """A play is made, of any arm: now and then, fade and compute the prior anew."""
        self.since[0] += 1
        if self.since[0] < EVERY:
            return
        self.since[0] = 0
        for b in range(len(self.prior)):
            self.all_events[b] *= FADE
            self.all_passes[b] *= FADE
        self.mix()

    def mix(self) -> None:
        """The prior, from what is in the pool now."""
        size = len(self.prior)
        known = self.all_events[0] + self.all_passes[0]
        share = SHARE * known / (known + HALF)
        alone = MASS * (1.0 - share) * (1.0 - END) / size
        alive = 1.0
        for b in range(size):
            total = self.all_events[b] + self.all_passes[b]
            ended = alive * self.all_events[b] / total if total > 0.0 else 0.0
            self.prior[b] = alone + MASS * share * ended
            alive -= ended
        rest = MASS * ((1.0 - share) * END + share * max(alive, 0.0))
        for b in range(size - 1, -1, -1):
            self.beyond[b] = rest
            rest += self.prior[b]


def empty_pool(edges: IntArray) -> Pool:
    """Nothing is known of any arm."""
    size = len(edges)
    pool = Pool(
        all_events=np.zeros(size),
        all_passes=np.zeros(size),
        prior=np.zeros(size),
        beyond=np.zeros(size),
        since=np.zeros(1, np.int64),
    )
    pool.mix()
    return pool
