"""SurvivalRegression: Thompson sampling on survival curves that depend on the request."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, Constant, Floats, Ints
from tarry.checks import check_whole
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.bins import bin_of, check_bins
from tarry.policies.contexts.common_curve import CommonCurve, no_common_curve
from tarry.policies.contexts.effects import LEAST_VARIANCE, Effects, clipped, no_effects
from tarry.policies.contexts.familiar import Familiar, not_familiar
from tarry.policies.contexts.kinds import MOST, Kinds, no_kinds
from tarry.policies.contexts.scaler import Scaler, new_scaler
from tarry.policies.protocol import Setting
from tarry.policies.survival.evidence import SurvivalEvidence, draw_beta, empty_evidence
from tarry.policies.survival.thompson import SurvivalThompson
from tarry.randomness import Random

MOST_BELIEF = 10.0  # log odds
COST_PRIOR, REWARD_PRIOR = (0.5, 0.8), (1.0, 0.97)  # of the odds: plays, share on "reaches D"
FADED_EVERY = 16  # plays
COST_SHARE, REWARD_SHARE = 1.0, 1.5  # of the variance of the weights, times 1 + sqrt(m)


class SurvivalRegressionRule(NamedTuple):
    """The running form of `SurvivalRegression`."""

    reward: bool
    keep: float  # what is left of evidence after FADED_EVERY plays
    edges: Constant[Ints]  # ages at which the rule hears of plays still out: the ends of the bins
    evidence: SurvivalEvidence  # as if requests were all the same
    back: ArmEvidence[Floats]  # events, arm * B + b, each weighted by how unexpected it was
    tilted: ArmEvidence[Floats]  # passes, likewise, and each weighted by the tilt of its request
    prior: Constant[Floats]  # a_b
    prior_beyond: Constant[Floats]  # r_b
    belief: ArmEvidence[Floats]  # L: log odds that contexts matter
    effects: Effects
    familiar: Familiar
    kinds: Kinds
    common: CommonCurve
    scaler: Scaler

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Decide for which arms contexts matter, draw all mean payoffs, play the best."""
        self.scaler.look(plays, row)
        self.common.gather(self.evidence, self.back, self.tilted)
        kind = self.kinds.find(plays, row)
        coin = rng.random()
        doubtful = self.hear_kind(kind, coin)
        best = 0
        least = 0.0
        for arm in range(len(ledger.plays)):
            if kind >= 0 and self.kinds.against[arm] > 0.0:
                value = self.draw_of_kind(arm * MOST + kind, rng)
            else:
                blind = self.is_blind(arm, coin)
                value = self.draw_distance(arm, blind, doubtful, ledger.missing(arm), rng)
            fewer = ledger.plays[arm] < ledger.plays[best]
            if arm == 0 or value < least or (value == least and fewer):
                best = arm
                least = value
        return best

    def is_blind(self, arm: int, coin: float) -> bool:
        """Whether contexts do not count for an arm in this decision."""
        return coin > 1.0 / (1.0 + math.exp(-self.belief[arm]))

    def hear_kind(self, kind: int, coin: float) -> int:
        """Ask the curves of a kind whether they contradict; the kind if any does, otherwise -1."""
        doubtful = -1
        for arm in range(len(self.belief)):
            self.kinds.against[arm] = 0.0
            if kind >= 0:
                expected = self.expected(arm, self.is_blind(arm, coin))
                if self.kinds.contradict(arm * MOST + kind, expected):
                    self.kinds.against[arm] = 1.0
                    doubtful = kind
        return doubtful

    def expected(self, arm: int, blind: bool) -> float:
        """The mean payoff that is expected of an arm, for the request looked at last."""
        if self.evidence.known(arm) <= 0.0:
            return 1.0 if self.reward else 0.0
        if blind:
            return self.evidence.moments_with_tail(arm, 1.0)[0]
        steady, change = self.effects.expected_tilt(arm, self.scaler.z)
        return self.tilted_moments(arm, steady, change)[0]

    def draw_of_kind(self, curve: int, rng: Random) -> float:
        """One draw of that distance by the plays for the very same request alone."""
        weight = self.draw_weight(self.kinds.evidence.known(curve), rng)
        mean, square = self.kinds.evidence.draw_moments(curve, 0.0, rng)
        return weight * self.better_distance(mean, draw_beta(mean, square, rng))

    def draw_distance(self, arm: int, blind: bool, kind: int, missing: int, rng: Random) -> float:
        """One draw of how far the arm's mean payoff is from the best one, 0 if nothing is known.

        At most `missing` answers of the arm are still to be expected. The kind is one of which the
        tilted odds are wrong for some arm, or -1.
        """
        known = self.evidence.known(arm)
        if known <= 0.0:
            return 0.0
        if blind:
            weight = self.draw_weight(known, rng)
            mean, square = self.evidence.draw_moments(arm, 0.0, rng)
            return weight * self.better_distance(mean, draw_beta(mean, square, rng))
        m = len(self.scaler.z)
        doubt = self.familiar.doubt(arm, self.scaler.z)
        alike = m / doubt if doubt * known > m else known
        weight = self.draw_weight(self.kinds.plays_to_go_by(arm, kind, alike), rng)
        heard = 1.0
        share = COST_SHARE / (1.0 + math.sqrt(m))
        if self.reward:  # what is on its way need not be explored again
            still = min(self.common.expected(self.evidence, arm), missing)
            heard = max(1.0 - still / known, 0.0)
            share = REWARD_SHARE * heard / (1.0 + math.sqrt(m))
        steady, change, one, other = self.effects.draw_tilt(arm, self.scaler.z, share, rng)
        expected, _ = self.tilted_moments(arm, steady, change)
        mean, square = self.tilted_moments(arm, one, other)
        drawn = draw_beta(mean, mean * mean + heard * (square - mean * mean), rng)
        return weight * self.better_distance(expected, drawn)

    def draw_weight(self, plays: float, rng: Random) -> float:
        """The weight 1 - rho of so many real plays beside one that is as good as can be."""
        return (1.0 - rng.random()) ** (1.0 / plays)

    def better_distance(self, expected: float, drawn: float) -> float:
        """How far the better of two mean payoffs is from the best one."""
        if self.reward:
            return 1.0 - max(drawn, expected)
        return min(drawn, expected)

    def passes(self, place: int) -> float:
        """Passes to go with the events of a bin, so that both give its odds without any tilt."""
        if self.back[place] <= 0.0:
            return self.tilted[place]
        return self.tilted[place] * self.evidence.events[place] / self.back[place]

    def tilted_moments(self, arm: int, steady: float, change: float) -> tuple[float, float]:
        """Mean and mean square of the mean payoff, the odds of bin b tilted by steady + l_b change.

        As in `SurvivalEvidence.refresh`, but the plays in each bin are those of the arm and those
        of the common curve, as it is now.
        """
        evidence = self.evidence
        mean = 1.0
        square = 1.0
        for b in range(len(self.edges) - 1, -1, -1):
            place = arm * len(self.edges) + b
            ended = evidence.events[place] + self.common.ended[b]
            if ended > 0.0:
                payoff = self.common.payoff[b]
                tilt = clipped(steady + change * self.effects.age[b])
                beyond = (self.passes(place) + self.common.beyond[b]) * math.exp(-tilt)
                first = evidence.event_sum[place] + self.common.ended[b] * payoff
                second = evidence.event_squares[place] + self.common.ended[b] * payoff * payoff
                total = ended + beyond
                again = beyond * (beyond + 1.0) * square
                square = second + first * (first + 2.0 * beyond * mean) + again
                square /= total * (total + 1.0)
                mean = (first + beyond * mean) / total
        return mean, square

    def started(self, plays: Plays, row: int) -> None:
        """The request of a play widens the scales, and is one its arm knows; old evidence fades."""
        self.kinds.meet(plays, row)
        self.scaler.see(plays, row)
        self.scaler.look(plays, row)
        self.familiar.take_in(plays.arm[row], self.scaler.z)
        if self.keep < 1.0 and plays.number[row] % FADED_EVERY == 0:
            for arm in range(len(self.evidence.reached)):
                self.belief[arm] *= self.keep
                self.evidence.fade_counts(arm, self.keep)
                self.effects.fade(arm, self.keep)
            self.kinds.fade(self.keep)
            for place in range(len(self.tilted)):
                self.back[place] *= self.keep
                self.tilted[place] *= self.keep

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer: an event in its bin. One with delay D has outlived all bins and told so."""
        delay = plays.delay[row]
        if delay < self.evidence.max_delay:
            self.learn_outcome(plays, row, bin_of(self.edges, delay), 1.0)
            self.evidence.book_event(plays.arm[row], delay)
            kind = self.kinds.find(plays, row)
            if kind >= 0:
                self.kinds.evidence.book_event(plays.arm[row] * MOST + kind, delay)

    def outlived(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play still out has crossed the end of a bin."""
        self.learn_outcome(plays, row, edge, 0.0)
        self.evidence.book_pass(plays.arm[row], edge)
        kind = self.kinds.find(plays, row)
        if kind >= 0:
            self.kinds.evidence.book_pass(plays.arm[row] * MOST + kind, edge)

    def withdrawn(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """An answer told late: the pass is taken back; what the effects learnt from it stays."""
        arm = plays.arm[row]
        place = arm * len(self.edges) + edge
        share = self.tilted[place] / max(self.evidence.passes[place], 1.0)
        self.tilted[place] = max(self.tilted[place] - share, 0.0)
        self.evidence.unbook_pass(arm, edge)
        kind = self.kinds.find(plays, row)
        if kind >= 0:
            self.kinds.evidence.unbook_pass(arm * MOST + kind, edge)

    def learn_outcome(self, plays: Plays, row: int, b: int, answered: float) -> None:
        """A play ended in bin b (1) or outlived it (0).

        Belief and effects learn from the odds as they were before, so that nothing predicts itself.
        """
        arm = plays.arm[row]
        place = arm * len(self.edges) + b
        self.scaler.look(plays, row)
        ended = self.prior[b] + self.evidence.events[place]
        beyond = self.prior_beyond[b] + self.passes(place)
        tilt = self.effects.tilt(arm, self.scaler.z, b)
        q = self.effects.uncertainty(arm)
        odds = ended / beyond * math.exp(tilt)
        chance = odds / (1.0 + odds)
        variance = chance * (1.0 - chance)
        if variance >= LEAST_VARIANCE:
            plain = ended / (self.prior_beyond[b] + self.evidence.passes[place])
            logit = (math.log(ended / beyond) + tilt) / math.sqrt(1.0 + 0.125 * math.pi * q)
            gain = math.log((1.0 + plain) / (1.0 + math.exp(logit)))
            gain += answered * (logit - math.log(plain))
            self.belief[arm] = min(max(self.belief[arm] + gain, -MOST_BELIEF), MOST_BELIEF)
            doubt = 1.0 / ended + 1.0 / beyond + q
            off = answered - chance
            told = variance + self.effects.known(q) * off * (1.0 - 2.0 * chance)
            step = off / (1.0 + variance * doubt)
            self.effects.learn(arm, step, told / (1.0 + told * doubt))
        if answered > 0.0:
            self.back[place] += 1.0 - chance
        else:
            self.tilted[place] += (1.0 - chance) * math.exp(tilt / (1.0 + q))


@dataclass(frozen=True)
class SurvivalRegression:
    """Thompson sampling on survival curves that depend on the request.

    The hazards of an arm, in bins of the delay as for `SurvivalThompson`, are tilted by the
    features of the request, by a part that is steady and one that changes with age:

        logit h_{i,b}(z) = log o_{i,b} + (w_i' + l_b w_i'') . z,     l_b = 2 b / (B - 1) - 1

    z are the p features, scaled as they come (`tarry.policies.contexts.scaler`), and a 1: m = p + 1
    numbers. Per arm the weights w = (w', w'') have a normal law N(w, P), at first with mean 0 and
    variances 1/p and 1/(2p). A play that ends in bin b (y = 1) or outlives it (y = 0) teaches, with
    u = (z, l_b z), A = a_b + events_b, R = r_b + events_b tilted_b / back_b, e = w . u cut to
    -5..5, g = P u and q = u . g:

        k = A e^e / (A e^e + R),   v = k (1 - k),   V = 1/A + 1/R
        w += g (y - k) / (1 + v (V + q)),       P -= g g' i / (1 + i (V + q))
        i = v + (1 - q / q0) (y - k) (1 - 2k),      q0 = u . P0 u, with P0 the first P
        y = 1: back_b += 1 - k           y = 0: tilted_b += (1 - k) e^(e / (1 + q))

    i is v on average. An outcome that moves the odds also changes what all earlier ones told: of a
    hundred passes at a hazard that turns out to be small little was to be learnt, and v alone would
    go on counting them as if it were large. Along one direction, and with small hazards, the sum of
    i is the information at the present w, and w the most likely one.
    a_b, r_b is half a play in advance, of which four fifths reach D (reward: one play, 97 %).
    back_b / tilted_b estimates the odds of the bin without any tilt, whatever requests the arm was
    played for; as long as nothing ended there, R = r_b + tilted_b.
    Each arm has a belief, the log odds L that contexts matter for it, which moves by the log
    likelihood of each outcome with contexts over that without (with its unweighted passes), within
    -10..10.

    In a decision, contexts count for the arms for which U < 1 / (1 + e^-L), with one U, uniform in
    0..1, for all of them; for the others the mean payoff is drawn as for `SurvivalThompson`, with c
    = 0, unless its mean m there is better. With contexts, to the events and to the R - r_b passes
    of every bin come two plays, or fewer, as they went in this bin for all arms together (see
    `tarry.policies.contexts.common_curve`): an arm that is hardly known goes at the pace of the
    others. Passes count e^-tilt each. So the tilts of a request give a mean payoff and, from the
    counts, its variance. One is by the tilts that are expected. Another is drawn: the tilts with
    the share s / (1 + sqrt(m)) of their variance, then the mean payoff from the Beta law with its
    mean and f times its variance. For costs s = f = 1. For rewards f is the share of the arm's
    plays of which no answer is to be expected any more, since what is on its way need not be
    explored again, and s = 1.5 f. Of both mean payoffs the better one counts, Y: a draw is to find
    out whether an arm is better than it seems, not worse (May et al. 2012). The pseudo-play is as
    there, X = (1 - rho) Y for cost and 1 - (1 - rho)(1 - Y) for reward, but among the plays for
    requests like this one, if they are fewer than usual:

        rho ~ Beta(1, min(n, m / z' Q z)),      Q = (I + sum of z z' over the arm's plays)^-1

    For most requests that is n, the plays of the arm that were heard of; for a kind of request that
    the arm was hardly played for it is little, and the arm is tried. All arms are drawn anew in
    each step; ties go to the arm with fewest plays, then to the lowest index.

    Requests that come again and again, up to 64 of them, each have a curve of their own for every
    arm, by its own plays alone. If these cannot have the mean payoff that is expected of them, the
    draw is theirs, as that of `SegmentThompson`, unless its mean is better: tilted odds cannot say
    that one kind is answered after 4 s and another after 9 s, sharp. Where they are wrong about one
    arm they are not to be believed of others, either: as long as an arm has j < 10 plays for this
    kind, which came at least 4 K times, and it is other kinds that speak for it, that is
    min(n, m / z' Q z) > 1.5 m (j + 1), it is rho ~ Beta(1, 2 (j + 1)) (see
    `tarry.policies.contexts.kinds`).

    Without features it is `SurvivalThompson`, and plays the same arms. An answer or an age costs
    O(p^2), a decision O(K (p^2 + B)). Needs no horizon. No bound is claimed: for contexts none that
    depends on the best arm's delay alone can hold (Schlisselberg, Zhang and Mansour 2026).
    `docs/contexts-measured.md` has measurements.

    Args:
        bins: Number of bins, from 2; fewer where D has not so many different whole numbers.
        half_life: None if the world does not change. Otherwise evidence, effects and belief lose
            half of their weight in so many plays, and drift towards the prior. Which kinds of
            request an arm was played for is not forgotten.

    >>> import tarry
    >>> problem = tarry.problems.log_linear(arms=3, features=2, max_delay=200, seed=2)
    >>> run = tarry.play(tarry.SurvivalRegression(), problem, payoff="cost", horizon=5000, seed=0)
    >>> bool(run.regret[-1] < 0.5 * 5000 * problem.fixed_gaps("cost").min())
    True
    """

    bins: int = 24
    half_life: int | None = None
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "ours"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        check_bins(self.bins)
        if self.half_life is not None:
            check_whole("half_life", self.half_life, 1)

    def start(self, setting: Setting) -> Any:
        """Nothing is known of any arm."""
        if setting.features == 0 and self.half_life is None:
            return SurvivalThompson(self.bins).start(setting)
        evidence = empty_evidence(setting.arms, setting.max_delay, self.bins)
        mass, end = REWARD_PRIOR if setting.reward else COST_PRIOR
        prior = empty_evidence(1, setting.max_delay, self.bins, mass, end)
        size = len(evidence.edges)
        return SurvivalRegressionRule(
            reward=setting.reward,
            keep=1.0 if self.half_life is None else 0.5 ** (FADED_EVERY / self.half_life),
            edges=evidence.edges,
            evidence=evidence,
            back=np.zeros(setting.arms * size),
            tilted=np.zeros(setting.arms * size),
            prior=prior.prior,
            prior_beyond=prior.prior_beyond,
            belief=np.zeros(setting.arms),
            effects=no_effects(setting.arms, setting.features, size),
            familiar=not_familiar(setting.arms, setting.features),
            kinds=no_kinds(setting.arms, setting.features, setting.max_delay, self.bins),
            common=no_common_curve(size),
            scaler=new_scaler(setting.features),
        )
