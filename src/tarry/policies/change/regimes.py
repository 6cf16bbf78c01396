"""Since when an arm is what it is: hypotheses about the beginning of its present regime.

Each arm holds up to M hypotheses "the present law began at time s_j", oldest first, with weights
w_j. Each play of the arm opens another one. A hypothesis counts what was heard since it opened,
events (answers) and passes (bins outlived), in the bins of `tarry.policies.survival.evidence`, and
its weight is moved by how well it foretold what was heard next:

    p_j = (a_b + events_jb) / (a_b + events_jb + r_b + passes_jb)      for an answer in bin b
    1 - p_j                                                            for a play that outlived it
    w_j <- w_j p_j, made to sum to 1

with a, r from the pool of all arms (`tarry.policies.change.pool`). An arm is taken to change at the
rate 1/tau: in a time dt the share 1 - e^{-dt/tau} of all weight moves to a hypothesis that opens
now. For a hypothesis of age A that opened after the first play, tau is 5 max(A, 2 D) if that is
less: what has changed a short time ago is likely to change again. So one rule forgets what no
longer foretells, notices that answers are overdue, and doubts an arm that has rested for long.
Where tau is not given, it is at least 1000 times the mean time between two plays (of any arms): who
plays once an hour cannot follow what changes every minute, and must not take every arm for changed.

How long regimes of an arm have lasted is remembered, as a share u_j of tau. It is 1 for the first
hypothesis of all; for one that opens it is the mean of sqrt(u_i min(max(A_i, 2 D) / tau, 1)) over
the hypotheses i that its weight comes from. An arm that has changed in quick succession has a low
one, and how good it looks at the moment counts only if the few plays that it is expected to stay so
are worth the risk. A regime that goes on speaks for itself: in a draw u_j counts as no less than
the time from s_j to the last play of the arm, over tau.

What counts for hypothesis j is what all plays of the arm brought less what they had brought when it
opened: that is all that is kept of it, so a fact is counted once and not once per hypothesis.

Whether arms change at all is a hypothesis, too. The odds that they do begin with what the world is
taken for, and are multiplied by how much better the hypotheses above foretold each fact than all
that was ever heard of the arm did. Where nothing changes they stay low, and nothing is paid for
following changes; where something did, they are high ever after.
"""

import math
from typing import NamedTuple

import numpy as np

from tarry.arrays import (
    ArmEvidence,
    Constant,
    FloatArray,
    Floats,
    IntArray,
    Ints,
    SharedEvidence,
)
from tarry.policies.bins import bin_of
from tarry.policies.change.pool import Pool
from tarry.policies.survival.evidence import SurvivalEvidence, empty_evidence
from tarry.randomness import Random

SMALL = 0.01  # a weight below which a hypothesis may be merged with the next one
GONE = 1e-6  # a weight below which the oldest one is dropped
MOST_ODDS = 1e6  # that arms change, lest a world that has calmed down be doubted for ever
MANY = 3000.0  # plays of all arms: a regime that lasts for so many of them is worth any try,
WORTH = 30.0  # and a shorter one if it brings so many times what a try may cost
YOUTH = 5.0  # a regime of age A is thought to go on for so many A, up to tau,
LEAST_AGE = 2.0  # A being at least so many D: a probe of what hangs costs D, and tells little
NOBODY_LEFT = 1e-9  # a share of plays that is not followed any further
FRESH = -1  # the hypothesis that the arm has changed since its last play: nothing is known


class Regimes(NamedTuple):
    """The hypotheses of all arms, arm-major; those of an arm lie in slots, in any order.

    Entry arm * M + j of `order` is the slot of hypothesis j, entry arm * M + slot of the others
    belongs to that slot, and of those by bin, entry (arm * M + slot) * B + b to its bin b.
    """

    most: int  # M
    change_every: float  # tau, in ticks, or the least of it:
    least_plays: float  # tau is at least so many times the mean time between two plays
    least_odds: float  # that arms change: those of the beginning
    centre: Constant[Floats]  # the middle of each bin, as a payoff
    held: ArmEvidence[Ints]  # how many hypotheses an arm has
    order: ArmEvidence[Ints]
    opened: ArmEvidence[Ints]  # s_j
    weight: ArmEvidence[Floats]  # w_j
    played_before: ArmEvidence[Ints]  # plays of the arm before it opened, and by bin:
    events_before: ArmEvidence[Floats]
    passes_before: ArmEvidence[Floats]
    sum_before: ArmEvidence[Floats]
    usual: ArmEvidence[Floats]  # u_j, how long the regimes before it have lasted, over tau
    ever: SurvivalEvidence  # all that was heard of the arms
    played: ArmEvidence[Ints]  # plays of the arm in all
    last: ArmEvidence[Ints]  # when the arm was played last,
    last_of_all: ArmEvidence[Ints]  # and how many plays of all arms there were with that one
    odds: SharedEvidence[Floats]  # that arms change at all
    pace: SharedEvidence[Ints]  # when the first play of all was made, and how many there were

    def begin_play(self, arm: int, now: int) -> None:
        """The arm is played: some weight moves to a hypothesis that its law begins now."""
        first = arm * self.most
        held = self.held[arm]
        moved = 1.0
        usual = 1.0
        if held > 0:
            moved = 0.0
            usual = 0.0
            tau = self.tau(now)
            for j in range(held):
                place = first + self.order[first + j]
                kept = math.exp(-(now - self.last[arm]) / self.lasts(place, tau, now))
                leaves = self.weight[place] * (1.0 - kept)
                moved += leaves
                usual += leaves * self.usual_after(place, tau, now)
                self.weight[place] *= kept
            usual = usual / moved if moved > 0.0 else 1.0
        if held == self.most:
            self.merge(arm)
            held -= 1
        slot = self.order[first + held]
        self.opened[first + slot] = now
        self.weight[first + slot] = moved
        self.usual[first + slot] = usual
        self.played_before[first + slot] = self.played[arm]
        size = len(self.centre)
        place = (first + slot) * size
        for b in range(size):
            self.events_before[place + b] = self.ever.events[arm * size + b]
            self.passes_before[place + b] = self.ever.passes[arm * size + b]
            self.sum_before[place + b] = self.ever.event_sum[arm * size + b]
        self.held[arm] = held + 1
        self.played[arm] += 1
        self.last[arm] = now
        if self.pace[1] == 0:
            self.pace[0] = now
        self.pace[1] += 1
        self.last_of_all[arm] = self.pace[1]

    def tau(self, now: int) -> float:
        """The time in which an arm is thought to change once."""
        if self.pace[1] == 0:
            return self.change_every
        between = (now - self.pace[0]) / self.pace[1]
        return max(self.change_every, self.least_plays * between)

    def lasts(self, place: int, tau: float, now: int) -> float:
        """How long the regime of a hypothesis is thought to go on: tau, but less for a young one.

        What has changed a short time ago changes again soon: outages end. That an arm was first
        played a short time ago says nothing.
        """
        if self.played_before[place] == 0:
            return tau
        age = max(float(now - self.opened[place]), LEAST_AGE * self.ever.max_delay)
        return min(YOUTH * age, tau)

    def usual_after(self, place: int, tau: float, now: int) -> float:
        """How long regimes of the arm usually last, over tau, if that of a hypothesis ends now."""
        age = max(float(now - self.opened[place]), LEAST_AGE * self.ever.max_delay)
        return math.sqrt(self.usual[place] * min(age / tau, 1.0))

    def plays_since(self, arm: int) -> int:
        """Plays of all arms since the last one of this arm."""
        return self.pace[1] - self.last_of_all[arm]

    def is_worth(self, usual: float, gain: float, risk: float, now: int) -> bool:
        """Whether it pays to go to an arm whose regimes last so long, `usual`, over tau.

        It saves `gain` in each play until the regime ends, and costs `risk` if it has ended by now.
        """
        pace = self.pace[1] / max(now - self.pace[0], 1)  # plays of all arms per tick
        plays = usual * self.tau(now) * pace
        return plays >= MANY or plays * gain > WORTH * risk

    def merge(self, arm: int) -> None:
        """Make room: a hypothesis of little weight that is most like its neighbours joins one.

        That is the one between neighbours with the least ratio of plays; if all are of weight, the
        least of them. The oldest and the youngest stay.
        """
        first = arm * self.most
        chosen = 1
        ratio = math.inf
        for j in range(1, self.most - 1):
            if self.weight[first + self.order[first + j]] < SMALL:
                since = self.played[arm] - self.played_before[first + self.order[first + j + 1]]
                before = self.played[arm] - self.played_before[first + self.order[first + j - 1]]
                if before < ratio * since:
                    ratio = before / since
                    chosen = j
        if ratio == math.inf:
            for j in range(2, self.most - 1):
                here = self.weight[first + self.order[first + j]]
                if here < self.weight[first + self.order[first + chosen]]:
                    chosen = j
        slot = self.order[first + chosen]
        self.weight[first + self.order[first + chosen + 1]] += self.weight[first + slot]
        self.take_out(arm, chosen)

    def take_out(self, arm: int, j: int) -> None:
        """Drop hypothesis j; its slot is the next to be used."""
        first = arm * self.most
        slot = self.order[first + j]
        self.held[arm] -= 1
        for i in range(j, self.held[arm]):
            self.order[first + i] = self.order[first + i + 1]
        self.order[first + self.held[arm]] = slot

    def foretold(self, arm: int, slot: int, b: int, pool: Pool) -> float:
        """How likely this hypothesis held an answer in bin b, of a play that reached it."""
        size = len(self.centre)
        place = (arm * self.most + slot) * size + b
        ended = pool.prior[b] + self.ever.events[arm * size + b] - self.events_before[place]
        beyond = pool.beyond[b] + self.ever.passes[arm * size + b] - self.passes_before[place]
        return ended / (ended + beyond)

    def hear_answer(self, arm: int, delay: int, pool: Pool) -> None:
        """An answer."""
        b = bin_of(self.ever.edges, delay)
        self.weigh(arm, b, 0.0, 1.0, pool)
        self.ever.book_event(arm, delay)
        pool.all_events[b] += 1.0

    def hear_pass(self, arm: int, b: int, pool: Pool) -> None:
        """A play outlived bin b."""
        self.weigh(arm, b, 1.0, -1.0, pool)
        self.ever.book_pass(arm, b)
        pool.all_passes[b] += 1.0

    def weigh(self, arm: int, b: int, level: float, slope: float, pool: Pool) -> None:
        """Multiply each weight by level + slope p_j, and let them sum to 1."""
        first = arm * self.most
        total = 0.0
        for j in range(self.held[arm]):
            slot = self.order[first + j]
            weight = self.weight[first + slot]
            weight *= level + slope * self.foretold(arm, slot, b, pool)
            self.weight[first + slot] = weight
            total += weight
        for j in range(self.held[arm]):
            self.weight[first + self.order[first + j]] /= total
        while self.held[arm] > 1 and self.weight[first + self.order[first]] < GONE:
            self.take_out(arm, 0)
        place = arm * len(self.centre) + b
        ended = pool.prior[b] + self.ever.events[place]
        unchanged = ended / (ended + pool.beyond[b] + self.ever.passes[place])
        odds = self.odds[0] * total / (level + slope * unchanged)
        self.odds[0] = min(max(odds, self.least_odds), MOST_ODDS)

    def unhear_pass(self, arm: int, b: int, when: int, pool: Pool) -> None:
        """A pass at time `when` is taken back: its play had been back, but nobody had said so.

        Hypotheses that opened later had not counted it. What foretold it gives its credit back;
        the order in which facts were heard does not matter for that.
        """
        first = arm * self.most
        size = len(self.centre)
        self.ever.unbook_pass(arm, b)
        pool.all_passes[b] = max(pool.all_passes[b] - 1.0, 0.0)
        total = 0.0
        for j in range(self.held[arm]):
            slot = self.order[first + j]
            if self.opened[first + slot] >= when:
                self.passes_before[(first + slot) * size + b] -= 1.0
            else:
                self.weight[first + slot] /= 1.0 - self.foretold(arm, slot, b, pool)
            total += self.weight[first + slot]
        for j in range(self.held[arm]):
            self.weight[first + self.order[first + j]] /= total

    def present(self, arm: int) -> tuple[int, float]:
        """When the present regime of the arm most likely began, and how likely it did about then.

        Neighbours of the most likely hypothesis count for it: they tell the same change from
        slightly different plays. If no arm ever changes, it began with the first play.
        """
        first = arm * self.most
        held = self.held[arm]
        unchanged = 1.0 / (1.0 + self.odds[0])
        weights = [
            (1.0 - unchanged) * self.weight[first + self.order[first + j]] for j in range(held)
        ]
        weights[0] += unchanged
        best = max(range(held), key=lambda j: weights[j])
        near = sum(weights[max(best - 1, 0) : best + 2])
        return self.opened[first + self.order[first + best]], min(float(near), 1.0)

    def draw_regime(
        self, arm: int, thin: float, drawn: int, now: int, rng: Random
    ) -> tuple[int, float]:
        """The slot of a hypothesis, drawn by weight, and how long such regimes last, over tau.

        That is at least as long as this one has lasted up to the last play of the arm. The slot is
        FRESH if the arm is drawn to have changed. `thin` slows down the time that has gone by since
        it was played; `drawn` is how often it was drawn since then.
        """
        held = self.held[arm]
        if held == 0:
            return FRESH, 1.0
        first = arm * self.most
        tau = self.tau(now)
        left = rng.random()
        place = first
        for j in range(held):
            place = first + self.order[first + j]
            left -= self.weight[place]
            if left < 0.0:
                break
        away = thin * (now - self.last[arm]) / self.lasts(place, tau, now)
        if -left < self.weight[place] * math.exp(-drawn * away * away):
            lasted = (self.last[arm] - self.opened[place]) / tau
            return place - first, max(self.usual[place], min(lasted, 1.0))
        return FRESH, self.usual_after(place, tau, now)

    def draw_payoff(self, arm: int, slot: int, pool: Pool, rng: Random) -> float:
        """A draw of the mean payoff of the arm under a hypothesis, or FRESH: each hazard is drawn.

        A Beta law with the same two moments would not do: where a few answers are known and D is
        far above them, its draws are mostly far below all of them.
        """
        size = len(self.centre)
        alive = 1.0
        mean = 0.0
        for b in range(size):
            ended = pool.prior[b]
            beyond = pool.beyond[b]
            first = ended * self.centre[b]
            if slot != FRESH:
                here = arm * size + b
                place = (arm * self.most + slot) * size + b
                ended += self.ever.events[here] - self.events_before[place]
                beyond += self.ever.passes[here] - self.passes_before[place]
                first += self.ever.event_sum[here] - self.sum_before[place]
            hazard = rng.beta(ended, beyond)
            mean += alive * hazard * first / ended
            alive *= 1.0 - hazard
            if alive < NOBODY_LEFT:
                break
        return mean + alive


def no_regimes(
    arms: int,
    max_delay: int,
    bins: int,
    most: int,
    change_every: float,
    least_plays: float,
    odds: float,
) -> Regimes:
    """No arm has been played."""

    def zeros(each: int) -> FloatArray:
        return np.zeros(arms * each)

    def whole(each: int) -> IntArray:
        return np.zeros(arms * each, np.int64)

    ever = empty_evidence(arms, max_delay, bins)
    size = len(ever.edges)
    return Regimes(
        most=most,
        change_every=change_every,
        least_plays=least_plays,
        least_odds=odds,
        centre=(np.asarray(ever.floor)[:-1] + (np.asarray(ever.edges) - 1) / max_delay) / 2,
        held=whole(1),
        order=np.tile(np.arange(most), arms),
        opened=whole(most),
        weight=zeros(most),
        played_before=whole(most),
        events_before=zeros(most * size),
        passes_before=zeros(most * size),
        sum_before=zeros(most * size),
        usual=zeros(most),
        ever=ever,
        played=whole(1),
        last=whole(1),
        last_of_all=whole(1),
        odds=np.full(1, odds),
        pace=np.zeros(2, np.int64),
    )
