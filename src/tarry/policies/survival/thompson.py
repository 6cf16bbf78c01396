"""SurvivalThompson: Thompson sampling on survival curves, pending plays included."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tarry.arrays import ArmState, Constant, Floats, FreshState, Ints
from tarry.checks import check_positive, check_whole
from tarry.errors import InputError
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.protocol import Setting
from tarry.policies.survival.evidence import SurvivalEvidence, empty_evidence
from tarry.randomness import Random

# Mass of the prior, its share on "reaches D" and arms drawn anew, by experiment: see the tables of
# docs/survival-measurements.md.
USUAL_MASS = {"cost": 0.5, "reward": 1.0}
USUAL_END = {"cost": 0.8, "reward": 0.97}
USUAL_REDRAWS = {"cost": 4, "reward": 1}


class SurvivalThompsonRule(NamedTuple):
    """The running form of `SurvivalThompson`."""

    reward: bool
    redraws: int
    edges: Constant[Ints]  # ages at which the rule hears of plays still out: the ends of the bins
    evidence: SurvivalEvidence
    draws: ArmState[Floats]  # the latest draw of each arm's mean payoff
    turn: FreshState[Ints]  # the arm played last, or -1, and the arm drawn anew before

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Draw the arm played last and `redraws` others anew; play the best of all draws."""
        arms = len(self.draws)
        if self.turn[0] < 0:
            for arm in range(arms):
                self.draws[arm] = self.evidence.draw_mean(arm, rng)
        else:
            self.draws[self.turn[0]] = self.evidence.draw_mean(self.turn[0], rng)
            for _ in range(self.redraws):
                self.turn[1] += 1
                if self.turn[1] >= arms:
                    self.turn[1] = 0
                self.draws[self.turn[1]] = self.evidence.draw_mean(self.turn[1], rng)
        best = 0
        for arm in range(1, arms):
            if self.reward:
                if self.draws[arm] > self.draws[best]:
                    best = arm
            elif self.draws[arm] < self.draws[best]:
                best = arm
        self.turn[0] = best
        return best

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer: an event in its bin."""
        self.evidence.book_event(plays.arm[row], plays.delay[row])

    def outlived(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play still out has crossed the end of a bin."""
        self.evidence.book_pass(plays.arm[row], edge)

    def withdrawn(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """An answer told late shows that its play had not crossed the end of this bin."""
        self.evidence.unbook_pass(plays.arm[row], edge)


@dataclass(frozen=True)
class SurvivalThompson:
    """Thompson sampling on survival curves: a play still out counts from its first step on.

    A pending play is a right-censored observation. Delays 0..D are cut into bins that grow
    geometrically; the hazard h_b of each bin (the chance to come back in it, having outlived the
    bins before) is learnt from the answers that fell into the bin and from the plays, back or
    still out, that are known to have outlived it (see `tarry.policies.survival.evidence`):

        h_b ~ Beta(a_b + events_b, r_b + passes_b)
        mean payoff = sum_b S_b h_b x_b + S_end,     S_b = prod_{j < b} (1 - h_j)

    with x_b the mean payoff of the answers in bin b. The prior is a Dirichlet process of total
    `mass`: the share `end` of it lies on "reaches D", the rest evenly on the bins, so that every
    order of magnitude is equally likely.

    Each step draws the mean payoff of the arm played last, and of the `redraws` arms whose turn it
    is, from their posteriors; the other arms keep their latest draw. The arm with the best draw
    is played. A step costs O(bins) plus one look at each arm, whatever the horizon.

    Needs no horizon. No proof of a regret bound is claimed; `docs/survival.md` has measurements.

    Args:
        bins: Number of bins, from 2; fewer where D has not so many different whole numbers.
        mass: Weight of the prior, in plays. By default 0.5 for cost and 1 for reward.
        end: Share of the prior on "reaches D": what is assumed of ages that no play has reached
            yet. By default 0.8 for cost and 0.97 for reward, where doubt should favour the arm.
        redraws: Arms drawn anew in each step besides the one played last, from 1. By default 4
            for cost, where an arm that began badly must be looked at again, and 1 for reward.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([50, 4000], max_delay=4000)
    >>> run = tarry.play(tarry.SurvivalThompson(), problem, payoff="cost", horizon=10_000)
    >>> bool(run.regret[-1] < 60)
    True
    """

    bins: int = 24
    mass: float | None = None
    end: float | None = None
    redraws: int | None = None
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "ours"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        check_whole("number of bins", self.bins, 2)
        if self.mass is not None:
            check_positive("mass", self.mass)
        if self.redraws is not None:
            check_whole("number of redraws", self.redraws, 1)
        if self.end is not None and check_positive("end", self.end) >= 1:
            raise InputError(f"The end is {self.end!r}; it must be a number between 0 and 1.")

    def start(self, setting: Setting) -> SurvivalThompsonRule:
        """The same prior for every arm."""
        payoff = "reward" if setting.reward else "cost"
        mass = USUAL_MASS[payoff] if self.mass is None else self.mass
        end = USUAL_END[payoff] if self.end is None else self.end
        evidence = empty_evidence(setting.arms, setting.max_delay, self.bins, mass, end)
        return SurvivalThompsonRule(
            reward=setting.reward,
            redraws=USUAL_REDRAWS[payoff] if self.redraws is None else self.redraws,
            edges=evidence.edges,
            evidence=evidence,
            draws=np.zeros(setting.arms),
            turn=np.array([-1, -1], np.int64),
        )
