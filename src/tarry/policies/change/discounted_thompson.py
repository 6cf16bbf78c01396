"""DiscountedThompson: Thompson sampling on answers that fade with time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, Floats, Ints
from tarry.checks import check_positive
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class DiscountedThompsonRule(NamedTuple):
    """The running form of `DiscountedThompson`."""

    max_delay: int
    reward: bool
    memory: float  # in ticks
    successes: ArmEvidence[Floats]  # faded to the time `heard`
    failures: ArmEvidence[Floats]
    heard: ArmEvidence[Ints]  # when the latest answer of the arm was seen

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """One draw of each arm's mean; play the best draw."""
        best = 0
        best_draw = -math.inf
        sign = 1.0 if self.reward else -1.0
        for arm in range(len(self.successes)):
            left = math.exp((self.heard[arm] - now) / self.memory)
            successes = 1.0 + left * self.successes[arm]
            draw = sign * rng.beta(successes, 1.0 + left * self.failures[arm])
            if draw > best_draw:
                best_draw = draw
                best = arm
        return best

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """Fade what is known of the arm; count the answer as in `DelayedThompson`."""
        arm = plays.arm[row]
        came = plays.start[row] + plays.delay[row] + 1  # seen at the earliest, whenever it is told
        heard = max(self.heard[arm], came)
        left = math.exp((self.heard[arm] - heard) / self.memory)
        self.successes[arm] *= left
        self.failures[arm] *= left
        self.heard[arm] = heard
        if rng.random() * self.max_delay < plays.delay[row]:
            self.successes[arm] += 1.0
        else:
            self.failures[arm] += 1.0


@dataclass(frozen=True)
class DiscountedThompson:
    """Thompson sampling that forgets: an answer counts less the longer ago it was seen.

    The discounted Thompson sampling of Raj and Kalyani (2017), told of an answer when it comes
    back. With e^{-age / memory} in the place of their discount per step, each step draws

        theta_i ~ Beta(1 + S_i, 1 + F_i),   S_i = sum over successes of e^{-(now - seen) / memory}

    and plays argmax theta_i (reward) or argmin theta_i (cost). An answer with payoff x = d / D is a
    success with probability x. Missing plays are ignored. A rival for worlds that change.

    Args:
        change_every: The memory, in steps, or live in seconds; by default 100 times the max_delay.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> policy = tarry.DiscountedThompson(change_every=200)
    >>> run = tarry.play(policy, problem, payoff="cost", horizon=1000, seed=0)
    >>> bool(run.arms[-200:].mean() < 0.3)
    True
    """

    change_every: float | None = None
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse a memory without a meaning."""
        if self.change_every is not None:
            check_positive("change_every", self.change_every)

    def start(self, setting: Setting) -> DiscountedThompsonRule:
        """Nothing is known of any arm."""
        return DiscountedThompsonRule(
            max_delay=setting.max_delay,
            reward=setting.reward,
            memory=ticks_of(self.change_every, setting),
            successes=np.zeros(setting.arms),
            failures=np.zeros(setting.arms),
            heard=np.zeros(setting.arms, np.int64),
        )


DELAYS = 100  # the time between changes, in delays D, if nothing is said


def ticks_of(change_every: float | None, setting: Setting) -> float:
    """A time that is given in steps or seconds, in ticks; 100 D if it is not given."""
    if change_every is None:
        return float(DELAYS * setting.max_delay)
    return float(change_every) * setting.unit
