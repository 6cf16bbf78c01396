"""CensoredUCB: UCB on plays old enough to be surely back (Tang, Wang, Zheng 2024)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from tarry.ledger import Ledger
from tarry.plays import NOBODY, Plays
from tarry.policies.check import check_choice
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class CensoredUCBRule(NamedTuple):
    """The running form of `CensoredUCB`."""

    max_delay: int  # D
    reward: bool
    confidence: float  # what stands over N under the root

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Each arm once, then any arm up to time D, then the most promising index."""
        arms = len(ledger.plays)
        number = plays.number[row]
        if number <= arms:
            return number - 1
        if now <= self.max_delay:
            return rng.integers(arms)
        best = 0
        best_index = -math.inf
        sign = 1.0 if self.reward else -1.0
        # Plays with s <= t - D - 1 count; the play of s = t - D is complete, but not yet used.
        latest = plays.row_of(number - self.max_delay)
        spared = plays.arm[latest] if plays.start[latest] == now - self.max_delay else NOBODY
        for arm in range(arms):
            count = ledger.complete[arm]
            total = ledger.complete_sum[arm]
            if arm == spared:
                count -= 1
                total -= plays.complete_delay(latest, self.max_delay)
            if count == 0:
                return arm
            mean = total / (self.max_delay * count)
            index = sign * mean + math.sqrt(self.confidence / count)
            if index > best_index:
                best_index = index
                best = arm
        return best


@dataclass(frozen=True)
class CensoredUCB:
    """UCB that waits D steps before it uses a play (Tang, Wang, Zheng 2024, bounded version).

    Steps 1..K play each arm once; then arms drawn uniformly while t <= D; then, with N the number
    of plays of arm i in steps s <= t - D - 1 and `mean` their mean payoff,

        reward:  argmax_i  mean + sqrt(c / N)       cost:  argmin_i  mean - sqrt(c / N)

    where c = 2 log(2 K^2 T^3) with radius="paper" and c = 2 log(K T) with radius="experiments",
    which is what reproduces the figures of its authors. An arm with N = 0 comes first; ties go to
    the lowest index.

    Guarantee: regret of order sum_i log T / gap_i + D sum_i gap_i in reward, as published. Cost is
    our extension by symmetry.

    Args:
        radius: "paper" or "experiments".

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> policy = tarry.CensoredUCB(radius="experiments")
    >>> run = tarry.play(policy, problem, payoff="reward", horizon=1000)
    >>> bool((run.arms[-100:] == 1).mean() > 0.8)
    True
    """

    radius: Literal["paper", "experiments"] = "paper"
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = True
    shareable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse another radius."""
        check_choice("radius", self.radius, ("paper", "experiments"))

    def start(self, setting: Setting) -> CensoredUCBRule:
        """All the evidence is in the ledger."""
        arms, horizon = setting.arms, setting.horizon
        inside = 2 * arms**2 * horizon**3 if self.radius == "paper" else arms * horizon
        return CensoredUCBRule(setting.max_delay, setting.reward, 2.0 * math.log(inside))
