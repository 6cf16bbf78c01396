"""RSE: successive elimination for reward, with a threshold (the paper's Algorithms 4 and 8)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tarry.arrays import Floats, SharedState
from tarry.checks import check_positive
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.elimination.sweep import Sweep, full_sweep
from tarry.policies.elimination.widths import mean_complete, mean_plus, width_again
from tarry.policies.protocol import STOP, Setting
from tarry.randomness import Random


class RSERule(NamedTuple):
    """The running form of `RSE`, and one phase of `BHSE`."""

    max_delay: int  # D
    threshold: SharedState[Floats]  # B, one number
    log_term: SharedState[Floats]  # L, one number
    sweep: Sweep

    def reward_bounds(self, ledger: Ledger) -> None:
        """LCB and UCB of every active arm."""
        log_term = self.log_term[0]
        before, before_complete, of_plays, radius = -1, -1, 0.0, 0.0
        for k in range(self.sweep.position[0]):
            arm = self.sweep.active[k]
            count, complete = ledger.plays[arm], ledger.complete[arm]
            of_plays = width_again(log_term, count, before, of_plays)
            radius = width_again(log_term, complete, before_complete, radius)
            before, before_complete = count, complete
            mean = mean_complete(ledger, arm, self.max_delay)
            upper1 = mean_plus(ledger, arm, self.max_delay) + of_plays
            upper2 = mean + radius
            self.sweep.upper[arm] = min(upper1, upper2)
            self.sweep.lower[arm] = mean - radius

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """The next arm of the sweep; after a full sweep, first the elimination step."""
        if self.sweep.finished():
            self.reward_bounds(ledger)
            if self.sweep.eliminate(True, self.threshold[0]) == 0:
                return STOP  # Fail
        return self.sweep.next_arm()


def first_phase(setting: Setting, threshold: float) -> RSERule:
    """RSE(T, K, D, B) at its first step."""
    return RSERule(
        max_delay=setting.max_delay,
        threshold=np.array([threshold]),
        log_term=np.array([math.log(setting.horizon)]),
        sweep=full_sweep(setting.arms),
    )


@dataclass(frozen=True)
class RSE:
    """Reward Successive Elimination: arms are measured against each other and a threshold.

    After each sweep, for every active arm i, with n plays, m of them missing, seen plays O and
    complete plays F (see `tarry.ledger`), L = log(horizon), D the maximum delay, B = `threshold`:

        mu_plus = ( m + sum_{O} d / D ) / n                     (`mean_plus`)
        mu_F    = sum_{F} d / D / max(|F|, 1)                   (`mean_complete`)
        U1 = mu_plus + sqrt(2 L / n)                            (`upper1`)
        U2 = mu_F + sqrt(2 L / max(|F|, 1))                     (`upper2`)
        UCB = min(U1, U2)           LCB = mu_F - sqrt(2 L / max(|F|, 1))

    Remove i if max(max_j LCB(j), B) > UCB(i). If nobody is left, RSE fails: the run stops there
    and `run.failed_at` is the next step to be played.

    Guarantee: with B <= mu* the best arm is never removed and RSE does not fail, with probability
    1 - 3 / T^2 (safe elimination). With B >= mu* / 2 its regret is at most
    sum_i 289 log T / gap_i + 12 min(second longest mean delay, D max gap) log K.

    Departures from the print: the appendix has n in place of |F| in U2. The proof needs |F|, and
    with n the best arm is lost. An average over an empty F is 0 over 1; exactly `horizon` plays.

    Args:
        threshold: B, a payoff (a delay divided by D).

    >>> import tarry
    >>> problem = tarry.problems.bernoulli(5, 200, seed=1)
    >>> tarry.play(tarry.RSE(threshold=0.5), problem, payoff="reward", horizon=20_000)
    <Run of RSE(threshold=0.5), reward, seed 0: 20000 steps, regret 619.599, 0 restarts, compiled>
    >>> tarry.play(tarry.RSE(threshold=0.9), problem, payoff="reward", horizon=20_000).failed_at
    756
    """

    threshold: float
    payoffs: ClassVar[Sequence[str]] = ("reward",)
    origin: ClassVar[str] = "paper"
    needs_horizon: ClassVar[bool] = True
    shareable: ClassVar[bool] = False
    counterpart: ClassVar[str] = "CSE"

    def __post_init__(self) -> None:
        """Refuse a threshold that is no positive number."""
        check_positive("threshold", self.threshold)

    def start(self, setting: Setting) -> RSERule:
        """All arms active, nothing known."""
        return first_phase(setting, self.threshold)
