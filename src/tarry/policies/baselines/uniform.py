"""Uniform: an arm at random, every time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class UniformRule(NamedTuple):
    """The running form of `Uniform`."""

    arms: int

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Any arm, all equally likely."""
        return rng.integers(self.arms)


@dataclass(frozen=True)
class Uniform:
    """Play an arm drawn uniformly at random, whatever came back: the yardstick for learning.

    It learns nothing, so its regret is known:

        E[regret] = horizon * mean(gaps)

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> run = tarry.play(tarry.Uniform(), problem, payoff="cost", horizon=1000, seed=0)
    >>> bool(abs(run.regret[-1] / 375 - 1) < 0.2)
    True
    """

    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True

    def start(self, setting: Setting) -> UniformRule:
        """Nothing is learnt, so the number of arms is all there is."""
        return UniformRule(setting.arms)
