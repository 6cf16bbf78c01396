"""QPMD: a queue of answers per arm in front of UCB1 (QPM-D of Joulani et al. 2013)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, ArmState, Floats, Ints
from tarry.ledger import Ledger
from tarry.plays import OUT, Plays
from tarry.policies.protocol import Setting
from tarry.randomness import Random


class QPMDRule(NamedTuple):
    """The running form of `QPMD`: a ring of plays for each arm, oldest first, and UCB1 behind it.

    Play number `number[place]` took `delay[place]`, OUT while it is out. Of the plays that arm i
    has put into its ring so far, `put[i]`, the first `taken[i]` have left it.
    """

    arms: int
    max_delay: int
    reward: bool
    number: ArmEvidence[Ints]
    start: ArmEvidence[Ints]
    delay: ArmEvidence[Ints]
    put: ArmEvidence[Ints]
    taken: ArmState[Ints]
    fed: ArmState[Ints]  # answers that UCB1 was fed
    total: ArmState[Floats]  # of their payoffs

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Feed UCB1 from the queues until it asks for an arm whose queue has nothing for it."""
        while True:
            arm = self.wish()
            self.drop_lost(arm, now)
            if self.taken[arm] == self.put[arm]:
                return arm
            delay = self.delay[self.place(arm, self.taken[arm])]
            if delay == OUT:
                return arm
            payoff = delay / self.max_delay
            self.fed[arm] += 1
            self.total[arm] += payoff if self.reward else 1.0 - payoff
            self.taken[arm] += 1

    def wish(self) -> int:
        """The arm that UCB1 would play next: one without an answer, else the largest index."""
        every = 0
        for arm in range(self.arms):
            if self.fed[arm] == 0:
                return arm
            every += self.fed[arm]
        confidence = 2.0 * math.log(every)
        best = 0
        best_index = -math.inf
        for arm in range(self.arms):
            count = self.fed[arm]
            index = self.total[arm] / count + math.sqrt(confidence / count)
            if index > best_index:
                best_index = index
                best = arm
        return best

    def place(self, arm: int, turn: int) -> int:
        """Where the play stands that `arm` put into its ring after `turn` others."""
        size = self.max_delay + 1
        return arm * size + turn % size

    def drop_lost(self, arm: int, now: int) -> None:
        """Do not wait for plays that nobody will answer: cancelled ones, in live use."""
        while self.taken[arm] < self.put[arm]:
            place = self.place(arm, self.taken[arm])
            if self.delay[place] != OUT or self.start[place] + self.max_delay >= now:
                break
            self.taken[arm] += 1

    def started(self, plays: Plays, row: int) -> None:
        """Put the play at the end of its arm's ring, if there is room, as there always is at one
        play per unit of time.
        """
        arm = plays.arm[row]
        if self.put[arm] - self.taken[arm] <= self.max_delay:
            place = self.place(arm, self.put[arm])
            self.number[place] = plays.number[row]
            self.start[place] = plays.start[row]
            self.delay[place] = OUT
            self.put[arm] += 1

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """Find the play in its ring, whose numbers increase, and write down its delay."""
        arm = plays.arm[row]
        wanted = plays.number[row]
        low = self.taken[arm]
        high = self.put[arm]
        while low < high:
            middle = (low + high) // 2
            if self.number[self.place(arm, middle)] < wanted:
                low = middle + 1
            else:
                high = middle
        if low < self.put[arm]:
            place = self.place(arm, low)
            if self.number[place] == wanted:
                self.delay[place] = plays.delay[row]


@dataclass(frozen=True)
class QPMD:
    """QPM-D of Joulani, Gyorgy and Szepesvari (2013) around UCB1, its queues in play order.

    UCB1 runs as if answers came at once. Each arm has a queue of its plays in the order in which
    they were made. When UCB1 asks for an arm and the answer of the first play in its queue is back,
    UCB1 is fed that answer, and asks again; otherwise the arm is played. With n the answers that
    UCB1 was fed of arm i, `mean` their mean payoff (delay / D as reward, 1 - delay / D as cost) and
    t those of all arms, UCB1 asks for

        argmax_i  mean + sqrt(2 log t / n)

    and for arms without an answer first; ties go to the lowest index.

    Queues in play order are what makes it work here. The source feeds answers as they arrive, which
    is the same if delays say nothing of the payoff; where delay is payoff, short delays would come
    first. In play order UCB1 is fed independent draws from the law of the arm, and its own bound
    holds for the plays it asked for. Guarantee: that of the source, UCB1's regret and the plays
    made while waiting, at most D + 1 per arm: (D + 1) sum_i gap_i more.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> run = tarry.play(tarry.QPMD(), problem, payoff="cost", horizon=1000)
    >>> run.arms[:10].tolist()
    [0, 0, 1, 1, 1, 1, 1, 0, 0, 0]
    """

    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = False
    simulated_only: ClassVar[bool] = True  # its table of plays is sized by D in steps

    def start(self, setting: Setting) -> QPMDRule:
        """Empty queues, with room for all plays that can wait in one."""
        arms, size = setting.arms, setting.max_delay + 1
        return QPMDRule(
            arms=arms,
            max_delay=setting.max_delay,
            reward=setting.reward,
            number=np.zeros(arms * size, np.int64),
            start=np.zeros(arms * size, np.int64),
            delay=np.full(arms * size, OUT, np.int32),
            put=np.zeros(arms, np.int64),
            taken=np.zeros(arms, np.int64),
            fed=np.zeros(arms, np.int64),
            total=np.zeros(arms),
        )
