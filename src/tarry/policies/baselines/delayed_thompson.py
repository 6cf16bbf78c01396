"""DelayedThompson: Thompson sampling on the answers seen so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, Floats
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class DelayedThompsonRule(NamedTuple):
    """The running form of `DelayedThompson`."""

    max_delay: int
    reward: bool
    successes: ArmEvidence[Floats]
    failures: ArmEvidence[Floats]

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
        """Count the answer as a success with probability delay / D, else as a failure."""
        arm = plays.arm[row]
        if rng.random() * self.max_delay < plays.delay[row]:
            self.successes[arm] += 1.0
        else:
            self.failures[arm] += 1.0


@dataclass(frozen=True)
class DelayedThompson:
    """Thompson sampling with Beta posteriors that is told of an answer when it comes back.

    An answer with payoff x = d / D counts as a success with probability x, else as a failure
    (Agrawal and Goyal 2012). Each step draws, for every arm,

        theta_i ~ Beta(1 + successes_i, 1 + failures_i)

    and plays argmax theta_i (reward) or argmin theta_i (cost). Missing plays are ignored, so the
    posterior leans towards short delays until the long ones are back; no guarantee holds.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> run = tarry.play(tarry.DelayedThompson(), problem, payoff="cost", horizon=1000, seed=0)
    >>> bool((run.arms[-500:] == 0).mean() > 0.95)
    True
    """

    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True

    def start(self, setting: Setting) -> DelayedThompsonRule:
        """A uniform prior for every arm."""
        return DelayedThompsonRule(
            max_delay=setting.max_delay,
            reward=setting.reward,
            successes=np.zeros(setting.arms),
            failures=np.zeros(setting.arms),
        )
