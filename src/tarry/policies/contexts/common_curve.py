"""What all arms together show of a survival curve: where the curve of one of them begins.

An arm with few plays has bins in which hardly anything happened. What the arms have in common, the
pace of the world, is known sooner, and stands there as a play or two.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import Floats, FreshState
from tarry.policies.survival.evidence import SurvivalEvidence

POOLED_PLAYS = 2.0  # what the other arms say counts as so many plays of an arm, in each bin


class CommonCurve(NamedTuple):
    """By bin, pseudo-plays that all arms are given: C h_b of them end there, with payoff x_b.

        h_b = back_b / (back_b + tilted_b),     x_b = sums_b / events_b

    all summed over the arms, and C = min(2, back_b + tilted_b).
    Who has reached bin b will come back before D, as far as any play has shown, with chance

        due_b = h_b + (1 - h_b) due_{b+1}
    """

    ended: FreshState[Floats]  # C h_b
    beyond: FreshState[Floats]  # C (1 - h_b)
    payoff: FreshState[Floats]  # x_b
    due: FreshState[Floats]

    def gather(self, evidence: SurvivalEvidence, back: Floats, tilted: Floats) -> None:
        """Sum up what is known now."""
        size = len(self.ended)
        for b in range(size):
            ended = beyond = events = payoffs = 0.0
            for arm in range(len(evidence.reached)):
                place = arm * size + b
                ended += back[place]
                beyond += tilted[place]
                events += evidence.events[place]
                payoffs += evidence.event_sum[place]
            total = ended + beyond
            scale = min(POOLED_PLAYS / total, 1.0) if total > 0.0 else 0.0
            self.ended[b] = scale * ended
            self.beyond[b] = scale * beyond
            self.payoff[b] = payoffs / events if events > 0.0 else 0.0
        due = 0.0
        for b in range(size - 1, -1, -1):
            total = self.ended[b] + self.beyond[b]
            if total > 0.0:
                due = (self.ended[b] + self.beyond[b] * due) / total
            self.due[b] = due

    def expected(self, evidence: SurvivalEvidence, arm: int) -> float:
        """Answers still to be expected of those plays of an arm that are out and were heard of.

        In bin b there are passes_{b-1} - passes_b - events_b of them.
        """
        total = 0.0
        for b in range(1, len(self.due)):
            place = arm * len(self.due) + b
            here = evidence.passes[place - 1] - evidence.passes[place] - evidence.events[place]
            total += max(here, 0.0) * self.due[b]
        return total


def no_common_curve(bins: int) -> CommonCurve:
    """Nothing is known of any arm."""
    ended, beyond, payoff, due = (np.zeros(bins) for _ in range(4))
    return CommonCurve(ended, beyond, payoff, due)
