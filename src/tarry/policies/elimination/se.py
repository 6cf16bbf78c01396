"""SE: successive elimination on the answers seen so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.elimination.sweep import Sweep, full_sweep
from tarry.policies.elimination.widths import width
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class SERule(NamedTuple):
    """The running form of `SE`."""

    max_delay: int
    reward: bool
    log_term: float  # L
    sweep: Sweep

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """The next arm of the sweep; after a full sweep, first the elimination."""
        if self.sweep.finished():
            for k in range(self.sweep.position[0]):
                arm = self.sweep.active[k]
                seen = ledger.seen[arm]
                if seen == 0:
                    self.sweep.lower[arm] = -math.inf
                    self.sweep.upper[arm] = math.inf
                else:
                    mean = ledger.seen_sum[arm] / (self.max_delay * seen)
                    self.sweep.lower[arm] = mean - width(self.log_term, seen)
                    self.sweep.upper[arm] = mean + width(self.log_term, seen)
            self.sweep.eliminate(self.reward, -math.inf if self.reward else math.inf)
        return self.sweep.next_arm()


@dataclass(frozen=True)
class SE:
    """Successive elimination (Even-Dar et al. 2006) that looks only at answers already seen.

    After each sweep, with O the seen plays of arm i and L = log(horizon):

        mean = sum_{O} d / (D |O|)        LCB, UCB = mean -+ sqrt(2 L / |O|)

    cost: remove i if min_j UCB(j) < LCB(i); reward: remove i if max_j LCB(j) > UCB(i). An arm
    without an answer has no bounds and stays.

    No guarantee here: short delays come back first, so the mean over O is biased towards short
    delays and the best arm can be lost. That is the point of having it as a baseline.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> run = tarry.play(tarry.SE(), problem, payoff="cost", horizon=1000)
    >>> bool(run.arms[-1] == 0)
    True
    """

    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = True
    shareable: ClassVar[bool] = False

    def start(self, setting: Setting) -> SERule:
        """All arms active, nothing known."""
        return SERule(
            max_delay=setting.max_delay,
            reward=setting.reward,
            log_term=math.log(setting.horizon),
            sweep=full_sweep(setting.arms),
        )
