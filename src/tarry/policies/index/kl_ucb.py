"""KLUCB: the index of Garivier and Cappe (2011) on the answers seen so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from tarry.checks import check_number
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.coins import coin_entropy, kl_lower
from tarry.policies.index.seen import first_unseen, seen_loss
from tarry.policies.protocol import Setting
from tarry.randomness import Random


def lowest_coin(mean: float, radius: float) -> float:
    """The smallest q with kl(mean, q) <= radius.

    Newton's method on a convex function from the left, where `kl_lower` leaves off; it never passes
    the solution.
    """
    q = kl_lower(mean, radius)
    for _ in range(20):
        if q <= 0.0 or q >= mean or mean >= 1.0:
            break
        step = (coin_entropy(mean, q) - radius) * q * (1.0 - q) / (mean - q)
        if step <= 1e-15 * q:
            break
        q += step
    return q


class KLUCBRule(NamedTuple):
    """The running form of `KLUCB`, on losses: 1 - payoff, which near 0 are more exact."""

    max_delay: int
    reward: bool
    extra: float  # c

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """An arm without an answer, fewest plays first; else the least lower bound of the loss.

        Solving for a bound takes time; most arms can be told apart without.
        """
        unseen = first_unseen(ledger)
        if unseen >= 0:
            return unseen
        growth = math.log(plays.number[row])
        level = growth + self.extra * math.log(max(growth, 1.0))
        first = 0
        widest = math.inf
        for arm in range(len(ledger.plays)):
            bound = self.pinsker(ledger, arm, level)
            if bound < widest:
                widest = bound
                first = arm
        best = first
        least = self.least_loss(ledger, first, level)
        for arm in range(len(ledger.plays)):
            if arm != first and self.may_reach(ledger, arm, least, level):
                lower = self.least_loss(ledger, arm, level)
                if lower < least or (lower == least and arm < best):
                    least = lower
                    best = arm
        return best

    def pinsker(self, ledger: Ledger, arm: int, level: float) -> float:
        """At most the lower bound, by Pinsker's inequality kl(p, q) >= 2 (p - q)^2."""
        mean = seen_loss(ledger, arm, self.max_delay, self.reward)
        return mean - math.sqrt(0.5 * level / ledger.seen[arm])

    def may_reach(self, ledger: Ledger, arm: int, rival: float, level: float) -> bool:
        """Whether the lower bound may be as small as `rival`; a rounding error is allowed for."""
        if self.pinsker(ledger, arm, level) > rival:
            return False
        mean = seen_loss(ledger, arm, self.max_delay, self.reward)
        return mean <= rival or ledger.seen[arm] * coin_entropy(mean, rival) <= 1.000001 * level

    def least_loss(self, ledger: Ledger, arm: int, level: float) -> float:
        """The least q with |O| kl(mean, q) <= level."""
        mean = seen_loss(ledger, arm, self.max_delay, self.reward)
        return lowest_coin(mean, level / ledger.seen[arm])


@dataclass(frozen=True)
class KLUCB:
    """KL-UCB that is told of an answer when it comes back (Garivier and Cappe 2011).

    With O the seen plays of arm i, `mean` their mean payoff (delay / D as reward, 1 - delay / D as
    cost), kl the relative entropy of two coins and t the step, it plays

        argmax_i  max { q : |O| kl(mean, q) <= log t + c log log t }

    An arm without any answer comes first, the one with the fewest plays; ties go to the lowest
    index. The source proves its bound with c = 3 and recommends c = 0. Its proof needs answers at
    once or delays that say nothing of the payoff. Here the mean over O is biased towards short
    delays, and no guarantee holds.

    Args:
        c: of the source, 0 or more.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> run = tarry.play(tarry.KLUCB(), problem, payoff="cost", horizon=1000)
    >>> bool((run.arms[-500:] == 0).mean() > 0.95)
    True
    """

    c: float = 0.0
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse a negative c."""
        check_number("c of KLUCB", self.c, 0.0)

    def start(self, setting: Setting) -> KLUCBRule:
        """All the evidence is in the ledger."""
        return KLUCBRule(setting.max_delay, setting.reward, float(self.c))
