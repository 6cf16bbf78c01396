"""WindowThompson: Thompson sampling on the latest answers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, Floats, Ints, SharedEvidence
from tarry.checks import check_whole
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class WindowThompsonRule(NamedTuple):
    """The running form of `WindowThompson`."""

    max_delay: int
    reward: bool
    successes: ArmEvidence[Floats]
    failures: ArmEvidence[Floats]
    window: SharedEvidence[Ints]  # a ring of answers: 2 arm + (success), or -1
    place: SharedEvidence[Ints]  # of the oldest one

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """One draw of each arm's mean; play the best draw."""
        best = 0
        best_draw = -math.inf
        sign = 1.0 if self.reward else -1.0
        for arm in range(len(self.successes)):
            draw = sign * rng.beta(1.0 + self.successes[arm], 1.0 + self.failures[arm])
            if draw > best_draw:
                best_draw = draw
                best = arm
        return best

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """The answer takes the place of the oldest one in the window."""
        success = 1 if rng.random() * self.max_delay < plays.delay[row] else 0
        oldest = self.window[self.place[0]]
        if oldest >= 0:
            self.tally(oldest, -1.0)
        self.window[self.place[0]] = 2 * plays.arm[row] + success
        self.tally(2 * plays.arm[row] + success, 1.0)
        self.place[0] = self.place[0] + 1 if self.place[0] + 1 < len(self.window) else 0

    def tally(self, answer: int, change: float) -> None:
        """Add an answer of the window, or take it out."""
        if answer % 2 == 1:
            self.successes[answer // 2] += change
        else:
            self.failures[answer // 2] += change


@dataclass(frozen=True)
class WindowThompson:
    """Thompson sampling on a sliding window: only the latest answers count.

    The sliding-window Thompson sampling of Trovo, Paladino, Restelli and Gatti (2020), told of an
    answer when it comes back: with successes and failures among the latest `window` answers of all
    arms together, each step draws

        theta_i ~ Beta(1 + successes_i, 1 + failures_i)

    and plays argmax theta_i (reward) or argmin theta_i (cost). An answer with payoff x = d / D is a
    success with probability x. Missing plays are ignored. A rival for worlds that change; in
    simulation only, since the window does not follow arms that come and go.

    Args:
        window: How many answers count, from 1.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> run = tarry.play(tarry.WindowThompson(300), problem, payoff="cost", horizon=1000, seed=0)
    >>> bool(run.arms[-200:].mean() < 0.2)
    True
    """

    window: int = 1000
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True
    simulated_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse a window without a meaning."""
        check_whole("window", self.window, 1, 10**9)

    def start(self, setting: Setting) -> WindowThompsonRule:
        """An empty window."""
        return WindowThompsonRule(
            max_delay=setting.max_delay,
            reward=setting.reward,
            successes=np.zeros(setting.arms),
            failures=np.zeros(setting.arms),
            window=np.full(int(self.window), -1, np.int64),
            place=np.zeros(1, np.int64),
        )
