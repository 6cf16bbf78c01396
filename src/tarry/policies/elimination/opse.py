"""OPSE: optimistic-pessimistic successive elimination (Lancewicki et al. 2021)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.check import check_choice
from tarry.policies.elimination.sweep import Sweep, full_sweep
from tarry.policies.elimination.widths import mean_plus, width_again
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class OPSERule(NamedTuple):
    """The running form of `OPSE`."""

    max_delay: int  # D
    reward: bool
    log_term: float  # L
    sweep: Sweep

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """The next arm of the sweep; after a full sweep, first the elimination."""
        if self.sweep.finished():
            before, radius = -1, 0.0
            bar = -math.inf if self.reward else math.inf
            for k in range(self.sweep.position[0]):
                arm = self.sweep.active[k]
                count = ledger.plays[arm]
                radius = width_again(self.log_term, count, before, radius)
                before = count
                mean_zero = ledger.seen_sum[arm] / (self.max_delay * max(count, 1))
                upper = mean_plus(ledger, arm, self.max_delay) + radius
                lower = mean_zero - radius
                self.sweep.upper[arm] = upper
                self.sweep.lower[arm] = lower
                bar = max(bar, lower) if self.reward else min(bar, upper)
            self.sweep.remove(self.reward, bar)
        return self.sweep.next_arm()


@dataclass(frozen=True)
class OPSE:
    """Successive elimination that assumes the best and the worst of every missing play.

    After each sweep, for every active arm i, with n plays, m of them missing, seen plays O and D
    the maximum delay, a missing play counts 1 in the upper bound and 0 in the lower:

        UCB = ( m + sum_{O} d / D ) / n + sqrt(2 L / n)         (`mean_plus`)
        LCB = sum_{O} d / D / n - sqrt(2 L / n)                 (`mean_zero`)

    cost: remove i if min_j UCB(j) < LCB(i); reward: remove i if max_j LCB(j) > UCB(i).

    Guarantee: regret of order sum_i log T / gap_i + D (Lancewicki et al. 2021, for payoffs and
    delays with any joint law). It does not use that the payoff is the delay.

    Written from descriptions of the algorithm; L = log(horizon) by default as in the paper's other
    policies. With log_term="KT", L = log(arms * horizon), which gives the figures that Tang et al.
    (2024) publish for it.

    Args:
        log_term: "T" or "KT".

    >>> import tarry
    >>> problem = tarry.problems.bernoulli(5, 200, seed=1)
    >>> tarry.play(tarry.OPSE(), problem, payoff="cost", horizon=20_000)
    <Run of OPSE, cost, seed 0: 20000 steps, regret 1404.84, 0 restarts, compiled>
    """

    log_term: Literal["T", "KT"] = "T"
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = True
    shareable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse another log term."""
        check_choice("log_term", self.log_term, ("T", "KT"))

    def start(self, setting: Setting) -> OPSERule:
        """All arms active, nothing known."""
        inside = setting.horizon * (setting.arms if self.log_term == "KT" else 1)
        return OPSERule(
            max_delay=setting.max_delay,
            reward=setting.reward,
            log_term=math.log(inside),
            sweep=full_sweep(setting.arms),
        )
