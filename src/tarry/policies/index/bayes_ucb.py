"""BayesUCB: posterior quantiles (Kaufmann, Cappe, Garivier 2012) of the answers seen so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.coins import coin_entropy
from tarry.policies.index.beta_tail import beta_upper
from tarry.policies.index.seen import first_unseen, seen_payoff
from tarry.policies.protocol import Setting
from tarry.randomness import Random

DIGITS = 1e10


class BayesUCBRule(NamedTuple):
    """The running form of `BayesUCB`."""

    max_delay: int
    reward: bool

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """An arm without an answer, fewest plays first; else the largest quantile.

        The quantile of an arm is below x where Chernoff's bound says that its tail beyond x is
        less than 1 / t; only of the other arms it is worked out.
        """
        unseen = first_unseen(ledger)
        if unseen >= 0:
            return unseen
        level = math.log(max(plays.number[row], 2))
        first = 0
        widest = -1.0
        for arm in range(len(ledger.plays)):
            count = ledger.seen[arm] + 2.0
            bound = self.posterior_mean(ledger, arm) + math.sqrt(0.5 * level / count)
            if bound > widest:
                widest = bound
                first = arm
        best = first
        best_index = self.quantile(ledger, first, level)
        for arm in range(len(ledger.plays)):
            mean = self.posterior_mean(ledger, arm)
            count = ledger.seen[arm] + 2.0
            below = mean < best_index and (
                2.0 * count * (best_index - mean) * (best_index - mean) > level
                or count * coin_entropy(mean, best_index) > level
            )
            if arm != first and not below:
                index = self.quantile(ledger, arm, level)
                if index > best_index or (index == best_index and arm < best):
                    best_index = index
                    best = arm
        return best

    def posterior_mean(self, ledger: Ledger, arm: int) -> float:
        """(1 + S) / (2 + |O|)."""
        seen = ledger.seen[arm]
        total = seen * seen_payoff(ledger, arm, self.max_delay, self.reward)
        return (1.0 + total) / (2.0 + seen)

    def quantile(self, ledger: Ledger, arm: int, level: float) -> float:
        """The quantile of order 1 - exp(-level), rounded: equal ones of different shapes exist."""
        seen = ledger.seen[arm]
        total = seen * seen_payoff(ledger, arm, self.max_delay, self.reward)
        exact = beta_upper(1.0 + total, 1.0 + seen - total, level)
        return math.floor(exact * DIGITS + 0.5) / DIGITS


@dataclass(frozen=True)
class BayesUCB:
    """Bayes-UCB that is told of an answer when it comes back (Kaufmann et al. 2012).

    With O the seen plays of arm i, S the sum of their payoffs (delay / D as reward, 1 - delay / D
    as cost) and t the step, it plays the arm whose posterior reaches furthest up:

        argmax_i  quantile of order 1 - 1 / t  of  Beta(1 + S, 1 + |O| - S)

    An arm without any answer comes first, the one with the fewest plays; ties, to ten digits, go
    to the lowest index. The order is the one that the source recommends; its proof is for coins
    and an order of 1 - 1 / (t (log T)^5). Payoffs between 0 and 1 count as parts of a success.
    The mean over O is biased towards short delays, and no guarantee holds.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> run = tarry.play(tarry.BayesUCB(), problem, payoff="cost", horizon=1000)
    >>> bool((run.arms[-500:] == 0).mean() > 0.95)
    True
    """

    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True

    def start(self, setting: Setting) -> BayesUCBRule:
        """All the evidence is in the ledger."""
        return BayesUCBRule(setting.max_delay, setting.reward)
