"""FadingThompson: SurvivalThompson with a half-life."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tarry.arrays import ArmState, Constant, Floats, FreshState, Ints, SharedEvidence
from tarry.checks import check_positive
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.change.discounted_thompson import ticks_of
from tarry.policies.protocol import Setting
from tarry.policies.survival.evidence import SurvivalEvidence, empty_evidence
from tarry.policies.survival.looks import best_draw
from tarry.policies.survival.thompson import distance_drawn
from tarry.randomness import Random

BINS = 24
EVERY = 16  # plays after which evidence fades
OTHERS = 2  # arms drawn anew in a step, besides the one played last


class FadingThompsonRule(NamedTuple):
    """The running form of `FadingThompson`."""

    reward: bool
    half_life: float  # in ticks
    edges: Constant[Ints]
    evidence: SurvivalEvidence
    clock: SharedEvidence[Ints]  # plays since evidence faded, and when it did
    draws: ArmState[Floats]  # as in SurvivalThompson
    turn: FreshState[Ints]

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Draw the arm played last and two others in turn anew; play the best of all draws."""
        return best_draw(self, OTHERS, 1.0, ledger, rng)

    def draw(self, arm: int, rng: Random) -> float:
        """As `SurvivalThompson`, on what is left."""
        return distance_drawn(self.evidence, arm, self.reward, 0.0, rng)

    def started(self, plays: Plays, row: int) -> None:
        """Let all evidence fade, every few plays."""
        self.clock[0] += 1
        if self.clock[0] < EVERY:
            return
        left = 0.5 ** ((plays.start[row] - self.clock[1]) / self.half_life)
        self.clock[0] = 0
        self.clock[1] = plays.start[row]
        evidence = self.evidence
        for place in range(len(evidence.events)):
            evidence.events[place] *= left
            evidence.event_sum[place] *= left
            evidence.event_squares[place] *= left
            evidence.passes[place] *= left
        for arm in range(len(evidence.stale)):
            evidence.stale[arm] = 1

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer: an event in its bin."""
        self.evidence.book_event(plays.arm[row], plays.delay[row])

    def outlived(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play still out has crossed the end of a bin."""
        self.evidence.book_pass(plays.arm[row], edge)


@dataclass(frozen=True)
class FadingThompson:
    """`SurvivalThompson` with a half-life: all counts halve in that time.

    Every 16 plays the events and passes of all arms are multiplied by

        left = 2^(-(time since then) / half_life),     half_life = log(2) change_every

    Draws are as wide as the posterior, and far arms have their turn like others: in a world that
    changes they may be the best. The simplest way to let evidence about survival curves be
    forgotten, and a rival of `RegimeThompson`; in simulation only, where no answer is told late.

    Args:
        change_every: The time in which counts fall to 1/e, in steps; by default 100 times the
            max_delay.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([50, 4000], max_delay=4000)
    >>> run = tarry.play(tarry.FadingThompson(), problem, payoff="cost", horizon=10_000)
    >>> bool(run.regret[-1] < 60)
    True
    """

    change_every: float | None = None
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True
    simulated_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        if self.change_every is not None:
            check_positive("change_every", self.change_every)

    def start(self, setting: Setting) -> FadingThompsonRule:
        """Nothing is known of any arm."""
        evidence = empty_evidence(setting.arms, setting.max_delay, BINS)
        return FadingThompsonRule(
            reward=setting.reward,
            half_life=float(np.log(2.0)) * ticks_of(self.change_every, setting),
            edges=evidence.edges,
            evidence=evidence,
            clock=np.zeros(2, np.int64),
            draws=np.zeros(setting.arms),
            turn=np.array([-1, -1], np.int64),
        )
