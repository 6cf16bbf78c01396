"""IMED: the minimum empirical divergence of Honda and Takemura (2015) on the answers so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.coins import coin_entropy
from tarry.policies.index.seen import first_unseen, seen_payoff
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class IMEDRule(NamedTuple):
    """The running form of `IMED`."""

    max_delay: int
    reward: bool

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """An arm without an answer, fewest plays first; else the smallest index.

        An index is at least 2 |O| (top - mean)^2, by Pinsker's inequality; the exact one is needed
        only where that could win.
        """
        unseen = first_unseen(ledger)
        if unseen >= 0:
            return unseen
        top = 0.0
        for arm in range(len(ledger.plays)):
            top = max(top, seen_payoff(ledger, arm, self.max_delay, self.reward))
        best = 0
        best_index = math.inf
        for arm in range(len(ledger.plays)):
            seen = ledger.seen[arm]
            mean = seen_payoff(ledger, arm, self.max_delay, self.reward)
            if 2.0 * seen * (top - mean) * (top - mean) >= best_index:
                continue
            index = seen * coin_entropy(mean, top) + math.log(seen)
            if index < best_index:
                best_index = index
                best = arm
        return best


@dataclass(frozen=True)
class IMED:
    """IMED that is told of an answer when it comes back (Honda and Takemura 2015).

    With O the seen plays of arm i, `mean` their mean payoff (delay / D as reward, 1 - delay / D as
    cost), `top` the largest of these means and kl the relative entropy of two coins, it plays

        argmin_i  |O| kl(mean, top) + log |O|

    An arm without any answer comes first, the one with the fewest plays; ties go to the lowest
    index. This is the source's index for coins; for other payoffs in [0, 1] its divergence is
    larger, and kl errs on the side of exploring. The source is asymptotically optimal where
    answers come at once. Here the mean over O is biased towards short delays, and no guarantee
    holds.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> run = tarry.play(tarry.IMED(), problem, payoff="cost", horizon=1000)
    >>> bool((run.arms[-500:] == 0).mean() > 0.95)
    True
    """

    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True

    def start(self, setting: Setting) -> IMEDRule:
        """All the evidence is in the ledger."""
        return IMEDRule(setting.max_delay, setting.reward)
