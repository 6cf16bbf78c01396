"""Rules that do what the paper prints where tarry does not, for `benchmarks.defects` only."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.elimination.sweep import Sweep, first_of_phases, full_sweep
from tarry.policies.elimination.widths import (
    mean_complete,
    mean_minus,
    mean_plus,
    missing_bound,
    width,
)
from tarry.policies.protocol import STOP, Setting
from tarry.randomness import Random


class PrintedRSERule(NamedTuple):
    """RSE and BHSE with n in place of |F| in U2, as in the appendix."""

    max_delay: int
    horizon: int
    halve: bool  # BHSE, else RSE
    phase: IntArray  # first play of this phase, failed phases so far
    threshold: FloatArray
    log_term: FloatArray
    sweep: Sweep

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """The next arm of the sweep; a failed phase stops RSE and restarts BHSE."""
        if self.sweep.finished():
            log_term = self.log_term[0]
            for k in range(self.sweep.position[0]):
                arm = self.sweep.active[k]
                mean = mean_complete(ledger, arm, self.max_delay)
                printed = width(log_term, ledger.plays[arm])
                upper1 = mean_plus(ledger, arm, self.max_delay) + printed
                self.sweep.upper[arm] = min(upper1, mean + printed)
                self.sweep.lower[arm] = mean - width(log_term, ledger.complete[arm])
            if self.sweep.eliminate(True, self.threshold[0]) == 0:
                if not self.halve:
                    return STOP
                self.threshold[0] /= 2.0
                number = plays.number[row]
                self.log_term[0] = math.log(max(self.horizon - number + 1, 2))
                self.sweep.forget()
                self.phase[0] = number
                self.phase[1] += 1
        return self.sweep.next_arm()


@dataclass(frozen=True)
class PrintedRSE:
    """RSE(threshold), or BHSE where no threshold is given, with the appendix's U2."""

    threshold: float = 0.0

    def start(self, setting: Setting) -> PrintedRSERule:
        """All arms active."""
        return PrintedRSERule(
            setting.max_delay,
            setting.horizon,
            self.threshold == 0,
            first_of_phases(),
            np.array([self.threshold or 1.0]),
            np.array([math.log(setting.horizon)]),
            full_sweep(setting.arms),
        )


class PrintedSEPKRule(NamedTuple):
    """SE-PK with t in place of n under the roots, as in the appendix."""

    max_delay: int
    reward: bool
    log_term: float
    sweep: Sweep

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """The next arm of the sweep; after a full sweep, first the elimination."""
        if self.sweep.finished():
            size = self.sweep.position[0]
            radius = width(self.log_term, now)
            for k in range(size):
                arm = self.sweep.active[k]
                missing = ledger.missing(arm)
                window = ledger.window(arm)
                few = (2 * missing + 8.0 * self.log_term + 1.0) / max(window, 1)
                self.sweep.lower[arm] = max(
                    mean_minus(ledger, arm, now, self.max_delay) - radius,
                    missing_bound(missing, size / self.max_delay, self.log_term),
                )
                self.sweep.upper[arm] = min(
                    mean_plus(ledger, arm, self.max_delay) + radius,
                    few if window > 0 else math.inf,
                )
            self.sweep.eliminate(self.reward, -math.inf if self.reward else math.inf)
        return self.sweep.next_arm()


@dataclass(frozen=True)
class PrintedSEPK:
    """SE-PK with the appendix's radius sqrt(2 log T / t)."""

    def start(self, setting: Setting) -> PrintedSEPKRule:
        """All arms active."""
        return PrintedSEPKRule(
            setting.max_delay, setting.reward, math.log(setting.horizon), full_sweep(setting.arms)
        )


class CommonFRule(NamedTuple):
    """CSE with F of all arms together, as the main text defines it (without i_s = i)."""

    max_delay: int
    threshold: float
    log_term: float
    sweep: Sweep

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """The next arm of the sweep; after a full sweep, first the elimination."""
        if self.sweep.finished():
            size = self.sweep.position[0]
            count = 0
            total = 0
            for arm in range(len(ledger.plays)):
                count += ledger.complete[arm]
                total += ledger.complete_sum[arm]
            mean = total / (self.max_delay * max(count, 1))
            radius = width(self.log_term, count)
            for k in range(size):
                arm = self.sweep.active[k]
                missing = ledger.missing(arm)
                first = mean_minus(ledger, arm, now, self.max_delay) - width(
                    self.log_term, ledger.plays[arm]
                )
                third = missing_bound(missing, size / self.max_delay, self.log_term)
                self.sweep.lower[arm] = max(first, mean - radius, third)
                self.sweep.upper[arm] = mean + radius
            if self.sweep.eliminate(False, self.threshold) == 0:
                return STOP
        return self.sweep.next_arm()


@dataclass(frozen=True)
class CommonF:
    """CSE(threshold) with one F for all arms."""

    threshold: float

    def start(self, setting: Setting) -> CommonFRule:
        """All arms active."""
        return CommonFRule(
            setting.max_delay,
            self.threshold,
            math.log(setting.horizon),
            full_sweep(setting.arms),
        )


class KeptRule(NamedTuple):
    """BDSE with kept history that counts how often L3 with |S| and with R exceeds the mean."""

    max_delay: int
    phase: IntArray
    threshold: FloatArray
    log_term: float
    means: FloatArray
    wrong: IntArray  # tests, L3 with |S| wrong, L3 with R wrong
    sweep: Sweep

    def kept_bounds(self, ledger: Ledger, now: int, spacing: int) -> None:
        """LCB and UCB of every active arm, as CSE has them."""
        for k in range(self.sweep.position[0]):
            arm = self.sweep.active[k]
            mean = mean_complete(ledger, arm, self.max_delay)
            radius = width(self.log_term, ledger.complete[arm])
            first = mean_minus(ledger, arm, now, self.max_delay) - width(
                self.log_term, ledger.plays[arm]
            )
            third = missing_bound(ledger.missing(arm), spacing / self.max_delay, self.log_term)
            self.sweep.lower[arm] = max(first, mean - radius, third)
            self.sweep.upper[arm] = mean + radius

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """The next arm of the sweep; after a full sweep, the test with as many B as it takes."""
        if self.sweep.finished():
            size = self.sweep.position[0]
            smallest = self.sweep.round_robin(now, self.max_delay)
            for k in range(size):
                arm = self.sweep.active[k]
                missing = ledger.missing(arm)
                self.wrong[0] += 1
                naive = missing_bound(missing, size / self.max_delay, self.log_term)
                valid = missing_bound(missing, smallest / self.max_delay, self.log_term)
                self.wrong[1] += 1 if naive > self.means[arm] else 0
                self.wrong[2] += 1 if valid > self.means[arm] else 0
            self.kept_bounds(ledger, now, smallest)
            if self.sweep.eliminate(False, self.threshold[0]) == 0:
                self.sweep.reopen()
                self.kept_bounds(ledger, now, smallest)
                self.sweep.relax(self.phase, False, self.threshold, 1.0)
        return self.sweep.next_arm()


class CountingBDSE:
    """BDSE(keep_history=True) that knows the true means and counts wrong bounds in `wrong`."""

    payoffs: ClassVar[Sequence[str]] = ("cost",)
    needs_horizon: ClassVar[bool] = True

    def __init__(self, means: FloatArray) -> None:
        self.means = means.copy()
        self.wrong: IntArray = np.zeros(3, np.int64)

    def start(self, setting: Setting) -> KeptRule:
        """B = 1 / D."""
        return KeptRule(
            setting.max_delay,
            first_of_phases(),
            np.array([1.0 / setting.max_delay]),
            math.log(setting.horizon),
            self.means,
            self.wrong,
            full_sweep(setting.arms),
        )
