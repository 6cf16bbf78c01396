"""MOSS: the minimax index of Audibert and Bubeck (2009) on the answers seen so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.index.seen import first_unseen, seen_payoff
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class MOSSRule(NamedTuple):
    """The running form of `MOSS`."""

    max_delay: int
    reward: bool
    horizon: int  # T

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """An arm without an answer, fewest plays first; else the largest index."""
        unseen = first_unseen(ledger)
        if unseen >= 0:
            return unseen
        best = 0
        best_index = -math.inf
        arms = len(ledger.plays)
        widest = max(math.log(self.horizon / arms), 0.0)  # the most that the logarithm can be
        for arm in range(arms):
            seen = ledger.seen[arm]
            mean = seen_payoff(ledger, arm, self.max_delay, self.reward)
            if mean + math.sqrt(widest / seen) <= best_index:
                continue
            level = max(math.log(self.horizon / (arms * seen)), 0.0)
            index = mean + math.sqrt(level / seen)
            if index > best_index:
                best_index = index
                best = arm
        return best


@dataclass(frozen=True)
class MOSS:
    """MOSS that is told of an answer when it comes back (Audibert and Bubeck 2009).

    With O the seen plays of arm i, `mean` their mean payoff (delay / D as reward, 1 - delay / D as
    cost), K arms and T steps, it plays

        argmax_i  mean + sqrt( max(log(T / (K |O|)), 0) / |O| )

    An arm without any answer comes first, the one with the fewest plays; ties go to the lowest
    index. The source has a regret of order sqrt(K T) where answers come at once. Here the mean
    over O is biased towards short delays, and no guarantee holds.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> run = tarry.play(tarry.MOSS(), problem, payoff="cost", horizon=1000)
    >>> bool((run.arms[-500:] == 0).mean() > 0.95)
    True
    """

    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = True
    shareable: ClassVar[bool] = True

    def start(self, setting: Setting) -> MOSSRule:
        """All the evidence is in the ledger."""
        return MOSSRule(setting.max_delay, setting.reward, setting.horizon)
