"""LinUCB: ridge regression with confidence bounds on the answers seen so far (Li et al. 2010)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from tarry.checks import check_positive
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.contexts.ridge import Ridge, no_ridge
from tarry.policies.contexts.scaler import Scaler, new_scaler
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class LinUCBRule(NamedTuple):
    """The running form of `LinUCB`."""

    reward: bool
    alpha: float
    max_delay: int
    ridge: Ridge
    scaler: Scaler

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """The most promising bound for this request; of equals the arm with fewest plays."""
        self.scaler.look(plays, row)
        best = 0
        top = -math.inf
        for arm in range(len(ledger.plays)):
            radius = self.alpha * math.sqrt(self.ridge.doubt(arm, self.scaler.z))
            value = self.ridge.value(arm, self.scaler.z)
            index = radius + (value if self.reward else -value)
            if index > top or (index == top and ledger.plays[arm] < ledger.plays[best]):
                best = arm
                top = index
        return best

    def started(self, plays: Plays, row: int) -> None:
        """The request of a play widens the scales."""
        self.scaler.see(plays, row)

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer goes into the regression of its arm."""
        self.scaler.look(plays, row)
        self.ridge.enter(plays.arm[row], self.scaler.z, plays.delay[row] / self.max_delay)


@dataclass(frozen=True)
class LinUCB:
    """LinUCB with a model per arm, told of an answer when it comes back (Li et al. 2010).

    With z the features of the request, scaled as they come (`tarry.policies.contexts.scaler`),
    u = (1, z) and, over the seen plays of arm i, P = (I + sum u u')^-1 and w = P sum u d/D:

        reward:  play argmax_i  w . u + alpha sqrt(u' P u)
        cost:    play argmin_i  w . u - alpha sqrt(u' P u)

    Ties go to the arm with fewest plays, then to the lowest index. Missing plays are ignored, so
    the regression leans towards short delays until the long ones are back; no guarantee holds.
    Without contexts it is a UCB policy with a radius of alpha / sqrt(1 + n).

    Args:
        alpha: Width of the bound, at first that of an arm never played: below 1, a reward above it
            may keep an arm from ever being tried.

    >>> import tarry
    >>> problem = tarry.problems.linear(arms=3, features=2, max_delay=50, seed=1)
    >>> run = tarry.play(tarry.LinUCB(), problem, payoff="cost", horizon=5000, seed=0)
    >>> bool(run.regret[-1] < 5000 * problem.fixed_gaps("cost").min())
    True
    """

    alpha: float = 1.0
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        check_positive("alpha", self.alpha)

    def start(self, setting: Setting) -> LinUCBRule:
        """Nothing is known of any arm."""
        return LinUCBRule(
            reward=setting.reward,
            alpha=float(self.alpha),
            max_delay=setting.max_delay,
            ridge=no_ridge(setting.arms, setting.features),
            scaler=new_scaler(setting.features),
        )
