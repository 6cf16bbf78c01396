"""What all arms together show of a survival curve: where the curve of one of them begins.

An arm with few plays has bins in which hardly anything happened. What the arms have in common, the
pace of the world, is known sooner, and stands there as a play or two. At ages that hardly any play
of any arm has reached, the pace is taken to go on as it was.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import Floats, FreshState
from tarry.policies.survival.evidence import SurvivalEvidence

POOLED_PLAYS = 2.0  # what the other arms say counts as so many plays of an arm, in each bin
ENOUGH_PLAYS = 32.0  # of all arms: with as many in a bin, the bins before have no say in it
HANDED_ON = 0.75  # of what the bins before say, from one bin to the next


class CommonCurve(NamedTuple):
    """By bin, pseudo-plays that all arms are given: C h_b of them end there, with payoff x_b.

        h_b = back_b / (back_b + tilted_b),     x_b = sums_b / events_b

    all summed over the arms, and C = min(2, back_b + tilted_b). For rewards the pace goes on where
    it is hardly known: to these come E = max(0, 32 - back_b - tilted_b) more, of which E g_b end,
    with the payoff of the middle of the bin,

        g_b = G_b / (G_b + H_b + 1),   G_b = back_b + 3/4 G_{b-1},   H_b = tilted_b + 3/4 H_{b-1}

    Otherwise who has outlived all plays so far would count as D, and arms would be told apart by
    how many plays they have out, which says little about the time they take in the end. For costs
    that is harmless: the best arms are those whose answers are back.

    With k_b the share of all these that end in bin b, who has reached the bin will come back before
    D with chance

        due_b = k_b + (1 - k_b) due_{b+1}
    """

    ended: FreshState[Floats]  # C h_b + E g_b
    beyond: FreshState[Floats]  # C (1 - h_b) + E (1 - g_b)
    payoff: FreshState[Floats]  # x_b, with the middle of the bin for the E g_b
    due: FreshState[Floats]

    def gather(
        self, evidence: SurvivalEvidence, back: Floats, tilted: Floats, goes_on: bool
    ) -> None:
        """Sum up what is known now; `goes_on` if the pace goes on where it is hardly known."""
        size = len(self.ended)
        gone = stayed = 0.0  # G_b, H_b
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
            gone = ended + HANDED_ON * gone
            stayed = beyond + HANDED_ON * stayed
            more = ENOUGH_PLAYS - total
            if goes_on and more > 0.0 and gone > 0.0:
                pace = gone / (gone + stayed + 1.0)
                middle = 0.5 * (evidence.floor[b] + evidence.floor[b + 1])
                payoffs = self.ended[b] * self.payoff[b] + more * pace * middle
                self.ended[b] += more * pace
                self.beyond[b] += more * (1.0 - pace)
                self.payoff[b] = payoffs / self.ended[b]
        due = 0.0
        for b in range(size - 1, -1, -1):
            total = self.ended[b] + self.beyond[b]
            if total > 0.0:
                due = (self.ended[b] + self.beyond[b] * due) / total
            self.due[b] = due

    def expected(self, evidence: SurvivalEvidence, arm: int) -> float:
        """Answers still to be expected of the plays of an arm that were heard of: it is in bin b
        that passes_{b-1} - passes_b - events_b of them are now.
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
