"""Three levels for IncrementUCB: the one it has, a smaller one, and one by peeling.

mixture    log(2 P t (1 + log t)) + (log n) / 2, the policy's own
sooner     the same with t in place of t (1 + log t)
peeling    the least l >= 1 with P e ceil(l log t) exp(-l) <= 1 / t (Garivier and Cappe 2011)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

import tarry
from tarry.arrays import Constant, Floats, Ints, SharedState
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.elimination.tight_bounds import uniform_level
from tarry.policies.index.increment_ucb import IncrementUCBRule
from tarry.policies.index.levels import GROWTH, spread_factor
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class OtherLevelRule(NamedTuple):
    """IncrementUCB with another level."""

    peeling: bool
    share: float  # of the level; below 1 nothing is proven
    edges: Constant[Ints]
    level: SharedState[Floats]  # of the step below
    level_step: SharedState[Ints]  # compute it anew from here on
    inner: IncrementUCBRule

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """As IncrementUCB."""
        step = plays.number[row]
        if step >= self.level_step[0]:
            self.level_step[0] = step + 1 + step // 128
            means = self.inner.variables
            if self.peeling:
                self.level[0] = uniform_level(step, 1.0 / (means * step))
            else:
                self.level[0] = math.log(2.0 * means * step)
        bounds = self.inner.bounds
        for arm in range(len(ledger.plays)):
            count = ledger.plays[arm]
            if bounds.is_due(arm, step, count):
                bounds.renew(arm, step, count, self.other_bound(ledger, arm, now))
        return bounds.best(ledger, self.inner.reward)

    def other_bound(self, ledger: Ledger, arm: int, now: int) -> float:
        """The bound of an arm at the level of now."""
        if ledger.plays[arm] == 0:
            return 1.0 if self.inner.reward else 0.0
        factor = self.share * spread_factor(
            self.inner.spread, ledger.seen[arm], ledger.missing(arm)
        )
        growth = 0.0 if self.peeling else factor * GROWTH
        if self.inner.reward:
            return self.inner.upper(ledger, arm, factor * self.level[0], growth)
        return self.inner.lower(ledger, arm, now, factor * self.level[0], growth)

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """As IncrementUCB, and so below."""
        self.inner.returned(plays, row, now, rng)

    def outlived(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """As IncrementUCB."""
        self.inner.outlived(plays, row, edge, now)

    def aged(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """As IncrementUCB."""
        self.inner.aged(plays, row, edge, now)


@dataclass(frozen=True)
class OtherLevel:
    """Settings of `OtherLevelRule`."""

    level: Literal["sooner", "peeling"]
    spread: float | None = None
    share: float = 1.0
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    needs_horizon: ClassVar[bool] = False

    def start(self, setting: Setting) -> Any:
        """Nothing is known."""
        inner = tarry.IncrementUCB(spread=self.spread).start(setting)
        return OtherLevelRule(
            peeling=self.level == "peeling",
            share=self.share,
            edges=inner.edges,
            level=np.ones(1),
            level_step=np.zeros(1, np.int64),
            inner=inner,
        )


LEVELS = {
    "mixture": tarry.IncrementUCB(),
    "sooner": OtherLevel("sooner"),
    "peeling": OtherLevel("peeling"),
}
