"""EpsilonGreedy: a policy to copy. Replace the idea, keep the shape."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, Floats
from tarry.errors import InputError
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies import Setting
from tarry.randomness import Random


class EpsilonGreedyRule(NamedTuple):
    """The running form of `EpsilonGreedy`: numbers, arrays and plain methods, nothing else."""

    max_delay: int
    reward: bool
    epsilon: float
    total: ArmEvidence[Floats]  # payoffs seen, by arm; what changes lives in arrays

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Decide on the play in `row`: plain loops over arms, no arrays made, nothing learnt."""
        arms = len(ledger.plays)
        if rng.random() < self.epsilon:
            return rng.integers(arms)
        best = 0
        best_value = -math.inf
        sign = 1.0 if self.reward else -1.0
        for arm in range(arms):
            # A play still out has lasted `age` already: as evidence, that is what it is worth.
            known = self.total[arm] + ledger.missing_age(arm, now) / self.max_delay
            value = sign * known / max(ledger.plays[arm], 1)
            if ledger.plays[arm] == 0:
                value = math.inf
            if value > best_value:
                best_value = value
                best = arm
        return best

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """Optional: the answer of the play in `row` is seen; this is where a rule learns."""
        self.total[plays.arm[row]] += plays.delay[row] / self.max_delay


@dataclass(frozen=True)
class EpsilonGreedy:
    """Play the best mean so far, and any arm with probability `epsilon`.

    With O the seen plays of arm i, M those still out and n = |O| + |M|:

        value(i) = (sum_{O} d / D + sum_{M} age / D) / n

    Args:
        epsilon: How often any arm is played instead, 0 to 1.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> run = tarry.play(EpsilonGreedy(), problem, payoff="cost", horizon=1000, seed=0)
    >>> bool((run.arms == 0).mean() > 0.9), run.mode
    (True, 'compiled')
    """

    epsilon: float = 0.1

    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")  # those that it serves
    origin: ClassVar[str] = "baseline"  # "paper", "baseline", or "ours"
    needs_horizon: ClassVar[bool] = False  # True if `start` uses setting.horizon
    shareable: ClassVar[bool] = True  # True if decisions need only evidence, no state of their own

    def __post_init__(self) -> None:
        """Refuse bad settings here, in one sentence: what was wrong, the value, what is allowed."""
        if not 0.0 <= self.epsilon <= 1.0:
            raise InputError(f"epsilon is {self.epsilon!r}; give a probability from 0 to 1.")

    def start(self, setting: Setting) -> EpsilonGreedyRule:
        """A fresh rule; all arrays are made here."""
        return EpsilonGreedyRule(
            max_delay=setting.max_delay,
            reward=setting.reward,
            epsilon=self.epsilon,
            total=np.zeros(setting.arms),
        )
