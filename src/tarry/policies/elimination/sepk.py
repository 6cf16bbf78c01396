"""SEPK: conservative successive elimination with partial knowledge (the paper's Algorithm 10)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.elimination.sweep import Sweep, full_sweep
from tarry.policies.elimination.widths import (
    mean_minus,
    mean_plus,
    missing_bound,
    spacing_of,
    width_again,
)
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class SEPKRule(NamedTuple):
    """The running form of `SEPK`."""

    max_delay: int  # D
    reward: bool
    log_term: float  # L
    sweep: Sweep

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """The next arm of the sweep; after a full sweep, first the elimination."""
        if self.sweep.finished():
            size = self.sweep.position[0]
            before, radius, regular = -1, 0.0, size / self.max_delay
            for k in range(size):
                arm = self.sweep.active[k]
                radius = width_again(self.log_term, ledger.plays[arm], before, radius)
                before = ledger.plays[arm]
                missing = ledger.missing(arm)
                window = ledger.window(arm)
                spacing = spacing_of(ledger, arm, regular, self.max_delay)
                few = (2 * missing + 8.0 * self.log_term + 1.0) / max(window, 1)
                self.sweep.lower[arm] = max(
                    mean_minus(ledger, arm, now, self.max_delay) - radius,
                    missing_bound(missing, spacing, self.log_term),
                )
                self.sweep.upper[arm] = min(
                    mean_plus(ledger, arm, self.max_delay) + radius,
                    few if window > 0 else math.inf,
                )
            self.sweep.eliminate(self.reward, -math.inf if self.reward else math.inf)
        return self.sweep.next_arm()


@dataclass(frozen=True)
class SEPK:
    """Successive Elimination with Partial Knowledge: never removes an arm on a guess.

    After each sweep, for every active arm i, with n plays, m of them missing, S the arms of the
    sweep, w the plays of i in the last D steps, mu_minus and mu_plus as in `CSE` and `RSE`,
    L = log(horizon) and D the maximum delay:

        LCB = max( mu_minus - sqrt(2 L / n),  |S| / D * (m / 2 - 8 L - 1) )
        UCB = min( mu_plus + sqrt(2 L / n),   (2 m + 8 L + 1) / w )

    cost: remove i if min_j UCB(j) < LCB(i); reward: remove i if max_j LCB(j) > UCB(i). The second
    term of UCB is infinite while w = 0.

    Guarantee: regret of order sum_i log T / gap_i + sqrt(D d*) log K + sqrt(D K log T) in cost,
    with constants in `tarry.theory.sepk_bound`. The theorem that the paper prints lacks the last
    term and is false (d* = 0 and a large D show it); growing with sqrt(D d*) is the best that a
    conservative policy can do.

    Departures from the print: the appendix has sqrt(2 log T / t); the proof needs n in place of t,
    and with t the best arm is lost. Reward is the mirror image, which the paper leaves to the
    reader.

    >>> import tarry
    >>> problem = tarry.problems.bernoulli(5, 200, seed=1)
    >>> tarry.play(tarry.SEPK(), problem, payoff="cost", horizon=20_000)
    <Run of SEPK, cost, seed 0: 20000 steps, regret 1396.33, 0 restarts, compiled>
    """

    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "paper"
    needs_horizon: ClassVar[bool] = True
    shareable: ClassVar[bool] = False
    by_the_clock: ClassVar[bool] = True  # its bounds count the time since a play began

    def start(self, setting: Setting) -> SEPKRule:
        """All arms active, nothing known."""
        return SEPKRule(
            max_delay=setting.max_delay,
            reward=setting.reward,
            log_term=math.log(setting.horizon),
            sweep=full_sweep(setting.arms),
        )
