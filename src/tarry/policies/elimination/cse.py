"""CSE: successive elimination for cost, with a threshold (the paper's Algorithms 2 and 6)."""

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
from tarry.policies.elimination.widths import (
    mean_complete,
    mean_minus,
    missing_bound,
    spacing_of,
    width_again,
)
from tarry.policies.protocol import STOP, Setting
from tarry.randomness import Random


class CSERule(NamedTuple):
    """The running form of `CSE`, and one phase of `BDSE`."""

    max_delay: int  # D
    threshold: SharedState[Floats]  # B, one number
    log_term: SharedState[Floats]  # L, one number
    sweep: Sweep

    def cost_bounds(self, ledger: Ledger, now: int, round_robin: int) -> None:
        """LCB and UCB of every active arm; `round_robin` is |S|, or R where history is kept."""
        log_term, regular = self.log_term[0], round_robin / self.max_delay
        before, before_complete, of_plays, radius = -1, -1, 0.0, 0.0
        for k in range(self.sweep.position[0]):
            arm = self.sweep.active[k]
            count, complete = ledger.plays[arm], ledger.complete[arm]
            of_plays = width_again(log_term, count, before, of_plays)
            radius = width_again(log_term, complete, before_complete, radius)
            before, before_complete = count, complete
            mean = mean_complete(ledger, arm, self.max_delay)
            spacing = spacing_of(ledger, arm, regular, self.max_delay)
            lower1 = mean_minus(ledger, arm, now, self.max_delay) - of_plays
            lower2 = mean - radius
            lower3 = missing_bound(ledger.missing(arm), spacing, log_term)
            self.sweep.lower[arm] = max(lower1, lower2, lower3)
            self.sweep.upper[arm] = mean + radius

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """The next arm of the sweep; after a full sweep, first the elimination step."""
        if self.sweep.finished():
            self.cost_bounds(ledger, now, self.sweep.position[0])
            if self.sweep.eliminate(False, self.threshold[0]) == 0:
                return STOP  # Fail
        return self.sweep.next_arm()


def first_phase(setting: Setting, threshold: float) -> CSERule:
    """CSE(T, K, D, B) at its first step."""
    return CSERule(
        max_delay=setting.max_delay,
        threshold=np.array([threshold]),
        log_term=np.array([math.log(setting.horizon)]),
        sweep=full_sweep(setting.arms),
    )


@dataclass(frozen=True)
class CSE:
    """Cost Successive Elimination: arms are measured against each other and against a threshold.

    After each sweep, for every active arm i, with n plays, m missing plays M, seen plays O,
    complete plays F (see `tarry.ledger`), S the arms of the sweep, L = log(horizon), D the
    maximum delay, B = `threshold` and t the next step:

        mu_minus = ( sum_{s in M} (t - s) / D + sum_{O} d / D ) / n     (`mean_minus`)
        mu_F     = sum_{F} d / D / max(|F|, 1)                          (`mean_complete`)
        L1 = mu_minus - sqrt(2 L / n)                                   (`lower1`)
        L2 = mu_F - sqrt(2 L / max(|F|, 1))                             (`lower2`)
        L3 = |S| / D * (m / 2 - 8 L - 1)                                (`lower3`)
        LCB = max(L1, L2, L3)       UCB = mu_F + sqrt(2 L / max(|F|, 1))

    Remove i if min(min_j UCB(j), B) < LCB(i). If nobody is left, CSE fails: the run stops there
    and `run.failed_at` is the next step to be played.

    Guarantee: with B >= mu* the best arm is never removed and CSE does not fail, with probability
    1 - 3 / T^2 (the paper's safe elimination lemma). Regret until failure at most
    sum_i 129 log T / gap_i + 8 D min(B, max gap) log K (the paper's theorem on CSE).

    Departures from the print: an average over an empty F is 0 over 1, so its bounds are vacuous;
    exactly `horizon` plays are made, and a sweep that would overrun is cut without a test.

    Args:
        threshold: B, a payoff (a delay divided by D).

    >>> import tarry
    >>> problem = tarry.problems.bernoulli(5, 200, seed=1)
    >>> tarry.play(tarry.CSE(threshold=0.5), problem, payoff="cost", horizon=20_000)
    <Run of CSE(threshold=0.5), cost, seed 0: 20000 steps, regret 1356.18, 0 restarts, compiled>
    >>> tarry.play(tarry.CSE(threshold=0.01), problem, payoff="cost", horizon=20_000).failed_at
    3069
    """

    threshold: float
    payoffs: ClassVar[Sequence[str]] = ("cost",)
    origin: ClassVar[str] = "paper"
    needs_horizon: ClassVar[bool] = True
    shareable: ClassVar[bool] = False
    by_the_clock: ClassVar[bool] = True  # its bounds count the time since a play began
    counterpart: ClassVar[str] = "RSE"

    def __post_init__(self) -> None:
        """Refuse a threshold that is no positive number."""
        check_positive("threshold", self.threshold)

    def start(self, setting: Setting) -> CSERule:
        """All arms active, nothing known."""
        return first_phase(setting, self.threshold)
