"""IncrementUCB: an optimistic index from increments of the delay, with a proof."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tarry.arrays import Constant, IntArray, Ints
from tarry.checks import check_number, check_truth
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.coins import kl_lower, kl_upper
from tarry.policies.elimination.widths import mean_complete, mean_minus, mean_plus
from tarry.policies.increments import Increments, no_increments, radius
from tarry.policies.index.kept_bounds import KeptBounds, no_bounds
from tarry.policies.index.levels import GROWTH, anytime_base, spread_factor
from tarry.policies.index.unbounded_ucb import start_unbounded
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class IncrementUCBRule(NamedTuple):
    """The running form of `IncrementUCB`."""

    reward: bool
    max_delay: int
    variables: int  # P: how many means are bounded at once
    spread: float  # c
    edges: Constant[Ints]
    increments: Increments
    bounds: KeptBounds

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Renew the bounds that are due; play the most promising one."""
        step = plays.number[row]
        for arm in range(len(ledger.plays)):
            count = ledger.plays[arm]
            if self.bounds.is_due(arm, step, count):
                self.bounds.renew(arm, step, count, self.bound(ledger, arm, step, now))
        return self.bounds.best(ledger, self.reward)

    def bound(self, ledger: Ledger, arm: int, step: int, now: int) -> float:
        """The end of the arm's interval that speaks for it: LCB for cost, UCB for reward."""
        if ledger.plays[arm] == 0:
            return 1.0 if self.reward else 0.0
        widening = spread_factor(self.spread, ledger.seen[arm], ledger.missing(arm))
        base = widening * anytime_base(self.variables, step)
        if self.reward:
            return self.upper(ledger, arm, base, widening * GROWTH)
        return self.lower(ledger, arm, now, base, widening * GROWTH)

    def lower(self, ledger: Ledger, arm: int, now: int, base: float, growth: float) -> float:
        """The largest of the lower bounds from mu_minus, mu_F and the increments."""
        count = ledger.plays[arm]
        best = kl_lower(mean_minus(ledger, arm, now, self.max_delay), radius(base, growth, count))
        complete = ledger.complete[arm]
        if complete > 0:
            width = radius(base, growth, complete)
            best = max(best, kl_lower(mean_complete(ledger, arm, self.max_delay), width))
        return max(best, self.increments.envelope_lower(arm, count, base, growth))

    def upper(self, ledger: Ledger, arm: int, base: float, growth: float) -> float:
        """The least of the upper bounds from mu_plus, mu_F and the increments."""
        count = ledger.plays[arm]
        best = kl_upper(mean_plus(ledger, arm, self.max_delay), radius(base, growth, count))
        complete = ledger.complete[arm]
        if complete > 0:
            width = radius(base, growth, complete)
            best = min(best, kl_upper(mean_complete(ledger, arm, self.max_delay), width))
        return min(best, self.increments.envelope_upper(arm, base, growth))

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer: its last increment is known."""
        self.increments.add_answer(plays.arm[row], plays.delay[row])

    def outlived(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play still out: its increment up to this age is full."""
        self.increments.add_full(plays.arm[row], edge)

    def aged(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play, back or not, is old enough for this increment."""
        self.increments.add_old(plays.arm[row], edge)

    def withdrawn(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """An answer told late: the increment was not full."""
        self.increments.remove_full(plays.arm[row], edge)


def increment_edges(max_delay: int) -> IntArray:
    """x_1 .. x_G: geometric like 24 edges from 1 to D, but no piece longer than D / 16."""
    factor = max_delay ** (1.0 / 23.0)
    edges = [1.0]
    while edges[-1] < max_delay:
        edges.append(edges[-1] + max(min(edges[-1] * (factor - 1.0), max_delay / 16.0), 1.0))
    edges[-1] = max_delay
    return np.unique(np.rint(edges).astype(np.int64))


def means_bounded(grid: int, *, reward: bool) -> int:
    """P: the payoff and G increments; for reward also whether a play lasts to each inner edge.

    The first increment is the same as lasting to the first edge, age 1, and counts once.
    """
    return 2 * grid - 1 if reward else grid + 1


@dataclass(frozen=True)
class IncrementUCB:
    """Optimism on increments of the delay: no threshold, no restarts, no horizon, and a theorem.

    Cut 0..D at ages 0 = x_0 < 1 = x_1 < ... < x_G = D. What a play adds between two of them is
    known as soon as it is old enough, back or not, so each of these *increments* has a mean that is
    bounded at its own count of plays, and bounds of the increments add up to one of the mean delay
    (`tarry.policies.increments`). With kl_low and kl_up the ends of the intervals of
    `tarry.policies.coins`, w_b = (x_b - x_{b-1}) / D, and for a statistic of n plays the level

        l = log(2 P t (1 + log t)) + (log n) / 2,     P = G + 1 (cost), 2 G - 1 (reward)

    cost:    play argmin_i  max( kl_low(mu_minus, l/n), kl_low(mu_F, l/|F|), sum_b w_b Lhat_b )
    reward:  play argmax_i  min( kl_up(mu_plus, l/n), kl_up(mu_F, l/|F|), sum_b w_b Uhat_b )

    with Lhat and Uhat the envelopes of the bounds of the increments. Ties go to the arm with fewest
    plays, then to the lowest index. Bounds are renewed when the step or the plays of their arm have
    grown by a 64th (`tarry.policies.index.kept_bounds`).

    Guarantee: `docs/increment-ucb.md` proves that for cost the expected regret is at most about
    8 (mu_i / Delta_i) l + D Delta_i for each arm i that is nearly as good as the best one, and
    O(l + d*) for each that is much worse, d* = the mean delay of the *best* arm; for reward
    likewise. `tarry.theory.increment_ucb_bound` computes it.

    Args:
        spread: c from 0 on: the level of an arm is up to 1 + c times as high while few of its plays
            are out, so that arms take turns while they wait. None: 0 for cost, 0.5 for reward.
        unbounded: Use nothing that depends on D (cost only): bounds from E min(d, a) for the ages
            a = 1, 2, 4, ... reached so far. For delays without an end.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([50, 4000], max_delay=4000)
    >>> run = tarry.play(tarry.IncrementUCB(), problem, payoff="cost", horizon=10_000)
    >>> bool(run.regret[-1] < 100)
    True
    """

    spread: float | None = None
    unbounded: bool = False
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    counterpart: ClassVar[str] = "IncrementUCB"
    origin: ClassVar[str] = "ours"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True
    by_the_clock: ClassVar[bool] = True  # its bounds count the time since a play began

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        if self.spread is not None:
            check_number("spread", self.spread, 0.0)
        if check_truth("unbounded", self.unbounded):
            object.__setattr__(self, "payoffs", ("cost",))  # no bound from above without D

    def start(self, setting: Setting) -> Any:
        """Nothing is known of any arm."""
        spread = self.spread
        if spread is None:
            spread = 0.5 if setting.reward else 0.0
        if self.unbounded:
            return start_unbounded(setting, spread)
        edges = increment_edges(setting.max_delay)
        return IncrementUCBRule(
            reward=setting.reward,
            max_delay=setting.max_delay,
            variables=means_bounded(len(edges), reward=setting.reward),
            spread=float(spread),
            edges=edges,
            increments=no_increments(setting.arms, setting.max_delay, edges),
            bounds=no_bounds(setting.arms),
        )
