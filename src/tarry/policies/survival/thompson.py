"""SurvivalThompson: Thompson sampling on survival curves, pending plays included."""

from collections.abc import Sequence
from dataclasses import InitVar, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tarry.arrays import ArmState, Constant, Floats, FreshState, Ints
from tarry.errors import InputError
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.bins import check_bins
from tarry.policies.protocol import Setting
from tarry.policies.survival.evidence import SurvivalEvidence, empty_evidence
from tarry.policies.survival.looks import OTHERS, best_draw
from tarry.randomness import Random

SELDOM = 1 / 4  # of its turns an arm is looked at, however far its latest draw was
WIDER = 1 / 7  # c in the variance of a draw


class SurvivalThompsonRule(NamedTuple):
    """The running form of `SurvivalThompson`."""

    reward: bool
    edges: Constant[Ints]  # ages at which the rule hears of plays still out: the ends of the bins
    evidence: SurvivalEvidence
    draws: ArmState[Floats]  # the latest draw of each arm: how far from the best payoff its mean is
    turn: FreshState[Ints]  # the arm played last, or -1, and the other whose turn came last

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Draw the arm played last and up to four others anew; play the best of all draws."""
        return best_draw(self, OTHERS, SELDOM, ledger, rng)

    def draw(self, arm: int, rng: Random) -> float:
        """One draw of how far the arm's mean payoff is from the best one, 0 if nothing is known."""
        return distance_drawn(self.evidence, arm, self.reward, WIDER, rng)

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer: an event in its bin."""
        self.evidence.book_event(plays.arm[row], plays.delay[row])

    def outlived(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play still out has crossed the end of a bin."""
        self.evidence.book_pass(plays.arm[row], edge)

    def withdrawn(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """An answer told late shows that its play had not crossed the end of this bin."""
        self.evidence.unbook_pass(plays.arm[row], edge)


def distance_drawn(
    evidence: SurvivalEvidence, arm: int, reward: bool, wider: float, rng: Random
) -> float:
    """One draw of how far the arm's mean payoff is from the best one, 0 if nothing is known."""
    known = evidence.known(arm)
    if known <= 0.0:
        return 0.0
    weight = (1.0 - rng.random()) ** (1.0 / known)  # of the real plays: 1 - rho
    mean = evidence.draw_mean(arm, wider, rng)
    return weight * (1.0 - mean if reward else mean)


@dataclass(frozen=True)
class SurvivalThompson:
    """Thompson sampling on survival curves: a play still out counts from its first step on.

    A pending play is a right-censored observation. Delays 0..D are cut into bins that grow
    geometrically; the hazard h_b of each bin (the chance to come back in it, having outlived the
    bins before) is learnt from the answers that fell into the bin and from the plays, back or
    still out, that are known to have outlived it (see `tarry.policies.survival.evidence`):

        h_b ~ Beta(events_b, passes_b)
        Y = sum_b S_b h_b x_b + S_end,     S_b = prod_{j < b} (1 - h_j)

    with x_b the mean payoff of the answers in bin b, which is the less certain the more they
    differ, and D where no play has been yet. Y is the mean payoff of an arm as its plays show it.
    With m and V its mean and variance and n the plays heard of, it is drawn from a Beta law with
    mean m and variance

        V' = V (1 + c V / W) up to W,     W = m (1 - m) / (n + 1),     c = 1/7

    W being the variance if all payoffs were 0 and D: laws that are nearly so are drawn as if they
    were, and others hardly wider than V. To the plays comes one pseudo-play with the best payoff
    there is, whose weight among them is drawn first:

        rho ~ Beta(1, n)
        X = (1 - rho) Y                  for cost: play the smallest
        X = 1 - (1 - rho) (1 - Y)        for reward: play the largest

    so that every arm, however badly it began, is played again sooner or later, as in the
    non-parametric Thompson sampling of Riou and Honda (2020). An arm of which nothing was heard has
    the best payoff; ties go to the arm with fewest plays, then to the lowest index.

    Each step draws anew for the arm played last, and looks at four others in turn. Such an arm is
    drawn anew if something was heard of it since its latest draw, and else, with x the distance of
    a latest draw from the best payoff, X or 1 - X, with chance

        max(1/4, min(1, x_played / x_arm))

    All other arms keep their latest draw. With five arms or fewer all are drawn. A step costs
    O(bins) plus one number for each arm, whatever the horizon.

    Needs no horizon. No proof of a regret bound is claimed; `docs/survival.md` says why it is made
    like this, `docs/tails.md` how bad its worst runs are.

    Args:
        bins: Number of bins, from 2; fewer where D has not so many different whole numbers.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([50, 4000], max_delay=4000)
    >>> run = tarry.play(tarry.SurvivalThompson(), problem, payoff="cost", horizon=10_000)
    >>> bool(run.regret[-1] < 60)
    True
    """

    bins: int = 24
    mass: InitVar[Any] = None  # these three were settings once, and are refused in a sentence
    end: InitVar[Any] = None
    redraws: InitVar[Any] = None
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "ours"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True

    def __post_init__(self, mass: Any, end: Any, redraws: Any) -> None:
        """Refuse settings without a meaning."""
        check_bins(self.bins)
        for name, value in (("mass", mass), ("end", end), ("redraws", redraws)):
            if value is not None:
                raise InputError(
                    f"{name} is {value!r}, but SurvivalThompson has no such setting any more: it "
                    f"is now settled by its definition, so leave it out; only bins can be set."
                )

    def start(self, setting: Setting) -> SurvivalThompsonRule:
        """Nothing is known of any arm."""
        evidence = empty_evidence(setting.arms, setting.max_delay, self.bins)
        return SurvivalThompsonRule(
            reward=setting.reward,
            edges=evidence.edges,
            evidence=evidence,
            draws=np.zeros(setting.arms),
            turn=np.array([-1, -1], np.int64),
        )
