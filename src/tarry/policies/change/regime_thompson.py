"""RegimeThompson: Thompson sampling on survival curves of arms that change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tarry.arrays import ArmState, Constant, Floats, FreshState, Ints
from tarry.checks import check_positive
from tarry.errors import InputError
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.change.crowding import Crowding, no_crowding
from tarry.policies.change.discounted_thompson import ticks_of
from tarry.policies.change.pool import Pool, empty_pool
from tarry.policies.change.regimes import FRESH, Regimes, no_regimes
from tarry.policies.protocol import Setting
from tarry.policies.survival.thompson import distance_drawn
from tarry.randomness import Random

UNKNOWN = -1.0  # the level of an arm that was never drawn
KEEP = 0.9  # of a level, at each draw
SELDOM, THIN = 0.5, 0.35  # how rarely arms are probed, and the more so the worse they are
SPENT = 0.1  # of what all plays since the last probe have cost: so much may another one cost
BINS = 24  # or fewer, where D has not so many different whole numbers
MOST = 12  # M, how many hypotheses an arm may have
OTHERS = 2  # arms drawn anew in a step besides the one played last
LIVE_ODDS = 1.0  # that arms change at all: routes do,
SIMULATED_ODDS = 1e-4  # problems of the literature mostly do not
PLAYS = 1000.0  # an arm is not thought to change more often than once in so many plays, of any arm


class RegimeThompsonRule(NamedTuple):
    """The running form of `RegimeThompson`."""

    reward: bool
    max_delay: int
    edges: Constant[Ints]  # ages at which the rule hears of plays still out: the ends of the bins
    pool: Pool
    regimes: Regimes
    crowding: Crowding
    draws: ArmState[Floats]  # the latest draw of each arm: how far from the best payoff its mean is
    levels: ArmState[Floats]  # faded means of the draws of each arm, or UNKNOWN
    drawn: ArmState[Ints]  # how often each arm was drawn since it was played
    turn: FreshState[Ints]  # the arm played last, or -1, and the arm drawn anew before

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Draw the arm played last and two others anew; play the best of all draws."""
        self.draw_some(now, rng)
        best = 0
        least = 0.0
        for arm in range(len(self.draws)):
            score = self.draws[arm] * self.crowding.factor(arm, ledger.missing(arm))
            if (
                arm == 0
                or score < least
                or (score == least and ledger.plays[arm] < ledger.plays[best])
            ):
                least = score
                best = arm
        self.turn[0] = best
        self.drawn[best] = 0
        return best

    def draw_some(self, now: int, rng: Random) -> None:
        """Draw anew: the arm played last and two others in turn; all of them if there are few."""
        arms = len(self.draws)
        least = 0.0
        known = False
        for arm in range(arms):
            if self.levels[arm] >= 0.0 and (not known or self.levels[arm] < least):
                least = self.levels[arm]
                known = True
        played = self.turn[0]
        if played < 0 or arms <= OTHERS + 1:
            for arm in range(arms):
                self.draws[arm] = self.draw_loss(arm, least, now, rng)
            return
        self.draws[played] = self.draw_loss(played, least, now, rng)
        other = self.turn[1]
        for _ in range(OTHERS):
            other = other + 1 if other + 1 < arms else 0
            if other == played:
                other = other + 1 if other + 1 < arms else 0
            self.draws[other] = self.draw_loss(other, least, now, rng)
        self.turn[1] = other

    def draw_loss(self, arm: int, least: float, now: int, rng: Random) -> float:
        """One draw of how far the arm's mean payoff is from the best one.

        `least` is the least level of all arms.
        """
        regimes = self.regimes
        if rng.random() * (1.0 + regimes.odds[0]) >= regimes.odds[0]:
            return self.draw_unchanged(arm, rng)
        self.drawn[arm] += 1
        level = self.levels[arm]
        far = level > least
        slot, usual = regimes.draw_regime(arm, self.thinned(arm, least), self.drawn[arm], now, rng)
        mean = regimes.draw_payoff(arm, slot, self.pool, rng)
        loss = 1.0 - mean if self.reward else mean
        if slot != FRESH:
            self.levels[arm] = loss if level < 0.0 else KEEP * level + (1.0 - KEEP) * loss
        if far and not regimes.is_worth(usual, least - loss, level - least, now):
            return max(loss, self.levels[arm])
        return loss

    def thinned(self, arm: int, least: float) -> float:
        """By how much probing of an arm is slowed down, `least` being the least level of all."""
        level = self.levels[arm]
        if level <= least:
            return SELDOM
        affordable = SPENT * self.regimes.plays_since(arm) * least / (level - least)
        return SELDOM * (least / level) ** THIN * min(affordable, 1.0)

    def draw_unchanged(self, arm: int, rng: Random) -> float:
        """The same, if no arm ever changes: as `SurvivalThompson`, as wide as the posterior."""
        return distance_drawn(self.regimes.ever, arm, self.reward, 0.0, rng)

    def started(self, plays: Plays, row: int) -> None:
        """Another hypothesis opens."""
        self.pool.count_play()
        self.regimes.begin_play(plays.arm[row], plays.start[row])

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer; one with delay D has outlived all bins and was heard of as that.

        As a cost it says nothing about crowding either: plays pile up in an outage, and would look
        like its cause.
        """
        arm = plays.arm[row]
        delay = plays.delay[row]
        payoff = delay / self.max_delay
        if delay < self.max_delay:
            self.regimes.hear_answer(arm, delay, self.pool)
        if self.reward or delay < self.max_delay:
            self.crowding.hear_loss(arm, plays.ahead[row], 1.0 - payoff if self.reward else payoff)

    def outlived(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play still out has crossed the end of a bin."""
        self.regimes.hear_pass(plays.arm[row], edge, self.pool)

    def withdrawn(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """An answer told late shows that its play had not crossed the end of this bin."""
        when = plays.start[row] + self.edges[edge]
        self.regimes.unhear_pass(plays.arm[row], edge, when, self.pool)


@dataclass(frozen=True)
class RegimeThompson:
    """Thompson sampling for arms that change: routes that break, recover and drift.

    Each arm has several hypotheses "the present law began at time s_j", whose weights w_j follow
    how well each of them foretold what was heard since (see `tarry.policies.change.regimes`). An
    arm last played a time dt ago, and drawn n times since, is drawn as

        j ~ w_j, kept with probability exp(-n (thin dt / tau_j)^2); or else fresh: it has changed
            since, and nothing is known
        h_b ~ Beta(a_b + events_jb, r_b + passes_jb)              the hazard of each bin
        X = sum_b S_b h_b x_b + S_end,      S_b = prod_{i < b} (1 - h_i)

    with tau_j how long the regime is thought to go on, x_b the mean payoff of the answers in bin b
    and a, r what all arms together say (see `tarry.policies.change.pool`). The arm with the least X
    is played, for reward the largest; the rest is said for cost. Where plays may slow down each
    other, X is multiplied by how much slower the arm is with its present load (see
    `tarry.policies.change.crowding`).

    To draw a resting arm as fresh is to probe it. With n in the exponent probes come at nearly even
    times. An arm that draws far above the others is probed more rarely, and one for which a probe
    would cost more than a tenth of what all plays since its last one have cost more rarely still:

        thin = 0.5 q^0.35 min(1, 0.1 m q / (1 - q)),    q = least level / its level

    with m the plays of all arms since then, and the level of an arm a faded mean of its draws.

    An arm that changes all the time is not worth coming back to, unless there are many plays
    between its changes, or much is to be gained. Its regimes have lasted for u tau before (see that
    module), in which there are N plays of all arms. A draw X of an arm above the least level counts
    as it is if

        N (least level - X) > 30 (its level - least level)        or  N >= 3000

    and else as its level, if that is worse.

    Whether arms change at all is learnt, too: the odds of it grow by how much better the hypotheses
    foretold what was heard than all that was ever heard of the arm. With the complement an arm is
    drawn as by `SurvivalThompson`. In simulation the odds begin at 1 to 10 000, so that next to
    nothing is paid where nothing changes, and a resting arm that becomes the best unseen may not be
    found within 200 000 steps; with `change_every`, which says that arms change, and live they
    begin at 1 to 1. One drastic change that is seen is enough to settle it.

    Each step draws anew for the arm played last and for two others in turn.

    Forgetting, noticing that answers are overdue, probing of arms that rest, and return after an
    outage follow from this; no arm is ever out for good, and there is no alarm to configure.

    Needs no horizon. No proof of a regret bound is claimed.

    Args:
        change_every: tau, the time in which an arm is thought to change once, in steps, or live in
            seconds; by default 100 times the max_delay, or 1000 times the mean time between two
            plays if that is more.
        load: Whether to learn how much plays that are out slow down others of their arm; by default
            where that can be: live, and not in the simulator, where delays depend on nothing.
        odds: The odds, beforehand, that arms change at all; by default 1 live and where
            `change_every` is given, else 0.0001.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([50, 4000], max_delay=4000)
    >>> run = tarry.play(tarry.RegimeThompson(), problem, payoff="cost", horizon=10_000)
    >>> bool(run.regret[-1] < 60)
    True
    """

    change_every: float | None = None
    load: bool | None = None
    odds: float | None = None
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "ours"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        if self.change_every is not None:
            check_positive("change_every", self.change_every)
        if self.odds is not None:
            check_positive("odds", self.odds)
        if self.load is not None and not isinstance(self.load, bool):
            raise InputError(f"load is {self.load!r}; give True, False or None.")

    def start(self, setting: Setting) -> RegimeThompsonRule:
        """Nothing is known of any arm."""
        most = setting.max_delay
        ticks = ticks_of(self.change_every, setting)
        said = setting.crowding or self.change_every is not None  # that arms change
        odds = self.odds or (LIVE_ODDS if said else SIMULATED_ODDS)
        plays = PLAYS if self.change_every is None else 0.0
        regimes = no_regimes(setting.arms, most, BINS, MOST, ticks, plays, odds)
        edges = np.asarray(regimes.ever.edges)
        return RegimeThompsonRule(
            reward=setting.reward,
            max_delay=most,
            edges=edges,
            pool=empty_pool(edges),
            regimes=regimes,
            crowding=no_crowding(
                setting.arms, watched=setting.crowding if self.load is None else self.load
            ),
            draws=np.zeros(setting.arms),
            levels=np.full(setting.arms, UNKNOWN),
            drawn=np.zeros(setting.arms, np.int64),
            turn=np.array([-1, -1], np.int64),
        )
