"""DelayedUCB: UCB1 on the answers seen so far (Joulani, Gyorgy, Szepesvari 2013)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class DelayedUCBRule(NamedTuple):
    """The running form of `DelayedUCB`."""

    max_delay: int
    reward: bool

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """An arm without an answer, fewest plays first; else the most promising index."""
        unseen = -1
        best = 0
        best_index = -math.inf
        confidence = 2.0 * math.log(plays.number[row])
        sign = 1.0 if self.reward else -1.0
        for arm in range(len(ledger.plays)):
            seen = ledger.seen[arm]
            if seen == 0:
                if unseen < 0 or ledger.plays[arm] < ledger.plays[unseen]:
                    unseen = arm
            elif unseen < 0:
                mean = ledger.seen_sum[arm] / (self.max_delay * seen)
                index = sign * mean + math.sqrt(confidence / seen)
                if index > best_index:
                    best_index = index
                    best = arm
        return unseen if unseen >= 0 else best


@dataclass(frozen=True)
class DelayedUCB:
    """UCB1 that is told of an answer when it comes back (Joulani et al. 2013).

    With O the seen plays of arm i and t the step:

        reward:  play argmax_i  sum_{O} d / (D |O|) + sqrt(2 log t / |O|)
        cost:    play argmin_i  sum_{O} d / (D |O|) - sqrt(2 log t / |O|)

    An arm without any answer comes first, the one with the fewest plays; ties go to the lowest
    index. The guarantee of the source needs delays that are independent of the payoff. Here they
    are the payoff, so the mean over O is biased and no guarantee holds.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> run = tarry.play(tarry.DelayedUCB(), problem, payoff="cost", horizon=1000)
    >>> run.arms[:10].tolist()
    [0, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    """

    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True

    def start(self, setting: Setting) -> DelayedUCBRule:
        """All the evidence is in the ledger."""
        return DelayedUCBRule(setting.max_delay, setting.reward)
