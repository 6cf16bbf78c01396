"""The mean payoff of an arm for a request, by the survival curves of its rule.

The rule of `SurvivalRegression` decides by survival curves in coarse bins, tilted by the features.
It hears of a play that is out at the end of a bin, and when somebody asks. For an explanation, what
is out counts as it is now, and what was cancelled as it was then; nothing of the rule is changed.
As in `tarry.live.curve`, there is one play in advance, and a play that is in a bin has passed it by
half. What nobody has lived to see is unknown: beyond the oldest age the interval allows everything.

That is a model, in which kinds of requests share their bins, and no number of plays makes up for
what it cannot say; `tarry.live.request_alike` adds what plays for the very same request took.
"""

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.live.core import Core
from tarry.live.curve import MASS
from tarry.live.plays import Arm
from tarry.live.register import NONE, OUT
from tarry.plays import FIRST_EDGE
from tarry.policies.contexts.effects import CLIP
from tarry.policies.contexts.scaler import CONSTANT, LARGEST, LIMIT
from tarry.policies.survival.evidence import evidence_in_bins

DRAWS = 400
WIDER = 2.0  # deviation of the log odds of a kind of request from what the features tell of it
# The ends of a bin are a factor of up to 2 apart, and what is blurred by that does not shrink with
# plays. So an interval reaches at least this share of the mean to both sides.
BLURRED = 0.05
MOST_LOOKED_AT, MOST_NUMBERS_LOOKED_AT = 200, 2000  # requests of an arm, and numbers of theirs
NEAR = 0.5  # deviations of a feature that make no difference
MOST_OUT = 200  # plays of an arm that are looked at while they are out; of more, some stand for all


class Estimate(NamedTuple):
    """A mean payoff, 0 to 1, and where it is with 95 %."""

    mean: float
    low: float
    high: float


class StillOut(NamedTuple):
    """Plays of an arm that are out, each of which stands for `times` many."""

    contexts: FloatArray
    age: IntArray
    heard: IntArray  # bins that the rule was told they have passed
    times: float
    oldest: int  # of all of them


class Curves(NamedTuple):
    """What is known of an arm now; weights and covariances by part: steady, changing with age."""

    weights: FloatArray
    spread: FloatArray
    lean: FloatArray  # by bin, how much the part counts that changes with age
    known: float  # plays that were heard of
    ended: FloatArray  # by bin: events
    first: FloatArray  # the sum of their payoffs
    second: FloatArray  # and of the squares
    passes: FloatArray  # as if no request were tilted
    ahead: FloatArray  # passes of the play in advance, which has no request
    last: int  # the last bin in which any play was
    oldest: float  # payoff beyond which nothing was heard


def by_curves(curves: Curves, z: FloatArray, alike: float, seed: int) -> Estimate:
    """For a request with features z: the mean and the range of 95 % of draws, and what is blurred.

    The fewer plays were for requests alike, the more may these differ from what the features tell.
    """
    rng = np.random.default_rng(seed)
    (a, b), (_, d) = np.einsum("i,aibj,j->ab", z, curves.spread, z, optimize=True)
    deviation = math.sqrt(max(a, 0.0))
    along = b / deviation if deviation > 0.0 else 0.0
    one, other, third = rng.normal(size=(3, DRAWS))
    steady = curves.weights[0] @ z + deviation * one
    change = curves.weights[1] @ z + along * one + math.sqrt(max(d - along * along, 0.0)) * other
    mean = float(np.mean(moments(curves, steady, change)[0]))
    steady = steady + WIDER / math.sqrt(1.0 + alike) * third
    low = np.quantile(drawn(*moments(curves, steady, change, curves.oldest), rng), 0.025)
    high = np.quantile(drawn(*moments(curves, steady, change, 1.0), rng), 0.975)
    reach = BLURRED * mean
    low, high = min(float(low), mean - reach), max(float(high), mean + reach)
    return Estimate(mean, max(low, 0.0), min(high, 1.0))


def drawn(mean: FloatArray, square: FloatArray, rng: np.random.Generator) -> FloatArray:
    """For each pair of moments a mean payoff from the Beta law that has them."""
    variance = square - mean * mean
    sure = (variance <= 1e-14 * mean * mean) | (mean >= 1.0)
    weight = np.maximum(mean * (1.0 - mean) / np.where(sure, 1.0, variance) - 1.0, 1e-3)
    shapes = [np.where(sure, 1.0, share * weight) for share in (mean, 1.0 - mean)]
    return np.where(sure, mean, rng.beta(*shapes))


def moments(
    curves: Curves, steady: FloatArray, change: FloatArray, tail: float | None = None
) -> tuple[FloatArray, FloatArray]:
    """Mean and mean square of the mean payoff, for many tilts; see `SurvivalEvidence.refresh`.

    Beyond what any play has lived to see it is `tail`, or as the play in advance says.
    """
    size = len(curves.ended)
    mean, square = np.ones(len(steady)), np.ones(len(steady))
    for b in range(size - 1, -1, -1):
        if tail is not None and b >= curves.last:
            mean, square = np.full(len(steady), tail), np.full(len(steady), tail * tail)
        if tail is not None and b > curves.last:
            continue
        tilt = np.clip(steady + change * curves.lean[b], -CLIP, CLIP)
        beyond = curves.passes[b] * np.exp(-tilt) + curves.ahead[b]
        total, first = curves.ended[b] + beyond, curves.first[b]
        square = beyond * (beyond + 1.0) * square + first * (first + 2.0 * beyond * mean)
        square = (square + curves.second[b]) / (total * (total + 1.0))
        mean = (first + beyond * mean) / total
    return mean, square


def plays_alike(core: Core, arm: Arm, z: FloatArray) -> float:
    """How many plays an arm had for requests like z, as the rule scales its numbers.

    As many as a regression has to go by, 1 / z . P z without what P has in advance
    (`tarry.policies.contexts.familiar`), for with n plays for this very request that is n. But a
    line goes on where the arm was never tried. So no more than the plays in which every number was
    as far from the arm's usual one on the same side, give or take half a deviation.
    """
    rule, size = core.open.rule, len(z)
    first = arm.index * size * size
    spread = np.asarray(rule.familiar.spread[first : first + size * size]).reshape(size, size)
    alike = float(1.0 / max(z @ spread @ z, 1e-12) - 1.0 / (z @ z))
    contexts = some_requests(core, arm)
    if len(contexts) == 0:
        return max(alike, 0.0)
    numbers, others = z[:-1], scaled(rule, contexts)[:, :-1]
    side = np.where(numbers >= np.median(others, axis=0), 1.0, -1.0)
    as_far = (side * (others - numbers) >= -NEAR).sum(axis=0)
    return max(min(alike, float(as_far.min()) * max(arm.plays / len(others), 1.0)), 0.0)


def some_requests(core: Core, arm: Arm) -> FloatArray:
    """The numbers of requests that an arm was played for: of many, some from first to last."""
    register, requests = core.register, core.requests
    if requests.features is None:
        return np.zeros((0, 0))
    known = register.look(register.oldest, register.last + 1)
    mine = np.flatnonzero(known.slot == arm.slot) + register.oldest
    most = min(MOST_LOOKED_AT, MOST_NUMBERS_LOOKED_AT // len(core.open.rule.scaler.mean) + 1)
    if core.open.rule.keep < 1.0:  # what was long ago has faded
        mine = mine[-most:]
    some = mine[np.linspace(0, len(mine) - 1, min(len(mine), most)).astype(np.int64)]
    texts = [requests.texts.get(number, "") for number in some.tolist()]
    return np.array(
        [requests.features.numbers(json.loads(text) if text else {})[0] for text in texts], float
    )


def curves_of(core: Core, arm: Arm, now: int) -> Curves:
    """What is known of an open arm at tick `now`."""
    rule, most = core.open.rule, core.max_delay
    edges, size = np.asarray(rule.edges), len(rule.scaler.mean) + 1
    bins, many = len(edges), (2 * size) ** 2
    own = slice(arm.index * bins, (arm.index + 1) * bins)
    weights = np.asarray(rule.effects.weights[2 * size * arm.index : 2 * size * (arm.index + 1)])
    spread = np.asarray(rule.effects.spread[many * arm.index : many * (arm.index + 1)])
    weights, lean = weights.reshape(2, size), np.asarray(rule.effects.age)
    evidence = rule.evidence
    events, sums, squares, heard, back, tilted = (
        np.asarray(part[own])
        for part in (evidence.events, evidence.event_sum, evidence.event_squares, evidence.passes,
                     rule.back, rule.tilted)
    )  # fmt: skip
    scale = np.where(back > 0.0, events / np.where(back > 0.0, back, 1.0), 1.0)
    out, (cut, oldest) = still_out(core, arm, now), cancelled(arm, edges)
    if rule.keep < 1.0:  # what was cancelled long ago has faded as all else
        cut = cut * min((events[0] + heard[0]) / max(arm.plays, 1), 1.0)
    passed = passed_since(out, edges)
    steady, change = weights @ scaled(rule, out.contexts).T
    tilts = np.clip(steady[:, None] + change[:, None] * lean, -CLIP, CLIP)
    # Those that were cancelled are like those that passed, on average.
    usual = np.where(heard > 0.0, tilted / np.where(heard > 0.0, heard, 1.0), 1.0)
    passes = scale * (tilted + usual * cut) + out.times * (passed * np.exp(tilts)).sum(axis=0)
    prior = evidence_in_bins(1, most, edges, MASS, 1.0 / (bins + 1))
    there = np.flatnonzero(events + heard + cut + passed.sum(axis=0) > 0.0)
    last = int(there[-1]) if len(there) else 0
    passed_by = edges[np.flatnonzero(heard > 0.0)[-1]] if heard.any() else 0
    answered = sums[last] / events[last] * most if events[last] > 0.0 else 0.0
    return Curves(
        weights,
        spread.reshape(2, size, 2, size),
        lean,
        float(events[0] + heard[0] + out.times * passed[:, 0].sum()),
        events + np.asarray(prior.prior),
        sums + np.asarray(prior.prior_sum),
        squares + np.asarray(prior.prior_squares),
        passes,
        np.asarray(prior.prior_beyond),
        last,
        min(max(passed_by, answered, oldest, out.oldest) / most, 1.0),
    )


def still_out(core: Core, arm: Arm, now: int) -> StillOut:
    """The plays of an arm that are out, as far as was noticed, and were heard of."""
    register, most, desk = core.register, core.max_delay, core.open
    known = register.look(core.ended, register.last + 1)
    mine = np.flatnonzero((known.status == OUT) & (known.slot == arm.slot))
    age = now - known.start[mine] if core.leases is None else known.watched[mine]
    mine, age = mine[age != NONE], np.clip(age[age != NONE], 0, most)
    some = np.linspace(0, len(mine) - 1, min(len(mine), MOST_OUT)).astype(np.int64)
    numbers = mine[some] + core.ended
    told = np.asarray(desk.ages.reached)[FIRST_EDGE:]
    if core.leases is None:
        heard = (numbers[:, None] < told).sum(axis=1)
    else:  # a report is heard at once
        heard = np.searchsorted(np.asarray(desk.rule.edges), age[some], side="right")
    contexts = contexts_of(desk.plays, numbers)
    times = len(mine) / max(len(some), 1)
    return StillOut(contexts, age[some], heard, times, int(age.max(initial=0)))


def contexts_of(plays: Any, numbers: IntArray) -> FloatArray:
    """The requests of plays that are in the table."""
    rows = (numbers & (len(plays.number) - 1)).tolist()
    return np.array([plays.context[row] for row in rows], float)


def passed_since(out: StillOut, edges: IntArray) -> FloatArray:
    """By play and bin: what it has passed, and the rule has not heard of; half of where it is."""
    reached = np.searchsorted(edges, out.age, side="right")[:, None]
    b = np.arange(len(edges))
    return np.where(b < reached, b >= out.heard[:, None], 0.5 * (b == reached))


def cancelled(arm: Arm, edges: IntArray) -> tuple[FloatArray, float]:
    """By bin the passes of plays cancelled in it, half of each, and how old they were at most."""
    cut, ends = arm.curve.cut, np.array([0, *arm.curve.edges])
    some = np.flatnonzero(cut[:-1])
    ages = (ends[some] + ends[some + 1]) / 2
    places = np.minimum(np.searchsorted(edges, ages, side="right"), len(edges) - 1)
    return np.bincount(places, 0.5 * cut[some], len(edges)), float(ages.max(initial=0.0))


def scaled(rule: Any, contexts: FloatArray) -> FloatArray:
    """`Scaler.look` for many requests."""
    seen, mean, deviation, varies = scales(rule)
    contexts = contexts.reshape(len(contexts), len(mean))
    shrunk = np.sqrt(seen / (seen + 2.0)) / np.where(varies, deviation, 1.0)
    known = varies & (np.abs(contexts) <= LARGEST)
    numbers = np.clip(np.where(known, contexts - mean, 0.0) * shrunk, -LIMIT, LIMIT)
    return np.column_stack([numbers, np.ones(len(numbers))])


def unheard_of(rule: Any, numbers: Sequence[float]) -> bool:
    """Whether a number differs from the only value that its feature has had, or had none."""
    seen, mean, _, varies = scales(rule)
    values = np.asarray(numbers, float)
    other = (seen == 0) | (np.abs(values - mean) > CONSTANT * np.abs(mean))
    return bool(np.any((np.abs(values) <= LARGEST) & ~varies & other))


def scales(rule: Any) -> tuple[FloatArray, FloatArray, FloatArray, Any]:
    """By feature: how many values there were, mean, deviation, and whether they differ."""
    seen, mean, square = (np.asarray(part) for part in rule.scaler[:3])
    deviation = np.sqrt(square / np.maximum(seen, 1.0))
    return seen, mean, deviation, deviation > CONSTANT * np.abs(mean)
