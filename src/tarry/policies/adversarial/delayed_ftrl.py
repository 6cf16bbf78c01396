"""DelayedFTRL: the regularised leader on the answers that are back (Zimmert and Seldin 2020)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, Floats, SharedState
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.adversarial.leader import Leader, new_leader
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class DelayedFTRLRule(NamedTuple):
    """The running form of `DelayedFTRL`."""

    max_delay: int
    reward: bool
    losses: ArmEvidence[Floats]  # L_obs
    waiting: SharedState[Floats]  # one number: the sum of m_u
    leader: Leader

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Draw an arm by the leader's probabilities."""
        arms = len(self.losses)
        for arm in range(arms):
            self.waiting[0] += ledger.missing(arm)
        number = plays.number[row]
        inverse_rate = math.sqrt(2.0 * self.waiting[0] / math.log(max(arms, 2)))
        self.leader.follow(self.losses, number, inverse_rate)
        return self.leader.draw_play(number, rng)

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer counts with its loss over the probability with which its arm was played."""
        loss = plays.delay[row] / self.max_delay
        if self.reward:
            loss = 1.0 - loss
        self.losses[plays.arm[row]] += loss * self.leader.weight(plays.number[row])


@dataclass(frozen=True)
class DelayedFTRL:
    """Follow the regularised leader, told of an answer when it comes back.

    For delays that follow no law (Zimmert and Seldin, An optimal algorithm for adversarial bandits
    with arbitrary delays, 2020). In step t arm i is played with probability x_t(i),

        x_t = argmin_x  <x, L_obs> - 2 sqrt(t) sum_i sqrt(x_i) + (1 / eta_t) sum_i x_i log x_i
        1 / eta_t = sqrt(2 sum_{u <= t} m_u / log K),     m_u = plays out in step u

    where L_obs(i) is the sum, over the answered plays s of arm i, of the loss over x_s(i); the loss
    is d / D for cost and 1 - d / D for reward.

    Guarantee of the source: regret against the best fixed arm of order sqrt(K T) + sqrt(S log K),
    S the sum of all delays, for losses and delays by step that an adversary wrote down before.
    Here the delay depends on the arm, since it is the loss, and that proof does not carry over.

    The probability of every play that may be out is remembered, so the smaller of D and the horizon
    must be below 2^20 = 1 048 576.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> run = tarry.play(tarry.DelayedFTRL(), problem, payoff="cost", horizon=4000)
    >>> bool(run.regret[-1] < 300)
    True
    """

    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = False  # an answer needs the probability with which it was drawn
    simulated_only: ClassVar[bool] = True  # its table of probabilities has a fixed size

    def start(self, setting: Setting) -> DelayedFTRLRule:
        """No losses yet."""
        return DelayedFTRLRule(
            max_delay=setting.max_delay,
            reward=setting.reward,
            losses=np.zeros(setting.arms),
            waiting=np.zeros(1),
            leader=new_leader(setting),
        )
