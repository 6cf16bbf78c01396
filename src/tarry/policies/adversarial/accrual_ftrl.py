"""AccrualFTRL: the regularised leader, with losses that accrue while a play is out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, ArmState, Floats, SharedState
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.adversarial.leader import Leader, new_leader
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class AccrualFTRLRule(NamedTuple):
    """The running form of `AccrualFTRL`."""

    max_delay: int
    back: ArmEvidence[Floats]  # the sum of d / (D x) over the answered plays
    out: ArmEvidence[Floats]  # the sum of 1 / (D x) over the plays that are out
    out_starts: ArmEvidence[Floats]  # the sum of start / (D x) over them
    losses: ArmState[Floats]  # L_t
    waiting: SharedState[Floats]  # one number: the sum of m_u
    leader: Leader

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Draw an arm by the leader's probabilities."""
        arms = len(self.losses)
        for arm in range(arms):
            grown = now * self.out[arm] - self.out_starts[arm]
            self.losses[arm] = self.back[arm] + max(grown, 0.0)
        number = plays.number[row]
        young = min(number - 1, self.max_delay)
        self.waiting[0] += young - young * (young + 1.0) / (2.0 * self.max_delay)
        inverse_rate = math.sqrt(2.0 * self.waiting[0] / math.log(max(arms, 2)))
        self.leader.follow(self.losses, number, inverse_rate)
        return self.leader.draw_play(number, rng)

    def started(self, plays: Plays, row: int) -> None:
        """A play begins to cost."""
        share = self.leader.weight(plays.number[row]) / self.max_delay
        self.out[plays.arm[row]] += share
        self.out_starts[plays.arm[row]] += share * plays.start[row]

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """And has cost its delay."""
        share = self.leader.weight(plays.number[row]) / self.max_delay
        arm = plays.arm[row]
        self.back[arm] += share * plays.delay[row]
        self.out[arm] -= share
        self.out_starts[arm] -= share * plays.start[row]


@dataclass(frozen=True)
class AccrualFTRL:
    """`DelayedFTRL` that lets the loss of a play grow while it is out.

    A play that is out at age a has cost at least a / D, whoever wrote down the delays: no law is
    needed for that. So the estimate need not wait for answers,

        L_t(i) = sum_{plays s of i} min(d_s, t - s) / (D x_s(i))
        m_u = sum_{a = 1}^{min(u - 1, D)} (1 - a / D)

    in place of L_obs and m_u of `DelayedFTRL`: the part of a loss that lies beyond age a is not
    known before, and that is what m_u counts, for all plays alike. Only for cost: the loss of a
    reward, 1 - d / D, is not known before the answer, and then all of it, as `DelayedFTRL` has it.

    No proof of a regret bound is claimed; `docs/open-questions.md` has measurements. The smaller of
    D and the horizon must be below 2^20, as for `DelayedFTRL`.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> run = tarry.play(tarry.AccrualFTRL(), problem, payoff="cost", horizon=4000)
    >>> bool(run.regret[-1] < 300)
    True
    """

    payoffs: ClassVar[Sequence[str]] = ("cost",)
    counterpart: ClassVar[str] = "DelayedFTRL"
    origin: ClassVar[str] = "ours"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = False  # an answer needs the probability with which it was drawn
    simulated_only: ClassVar[bool] = True  # its table of probabilities has a fixed size

    def start(self, setting: Setting) -> AccrualFTRLRule:
        """No losses yet."""
        arms = setting.arms
        return AccrualFTRLRule(
            max_delay=setting.max_delay,
            back=np.zeros(arms),
            out=np.zeros(arms),
            out_starts=np.zeros(arms),
            losses=np.zeros(arms),
            waiting=np.zeros(1),
            leader=new_leader(setting),
        )
