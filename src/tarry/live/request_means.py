"""The mean payoff of an arm for a request, by the curves of its rule and by a plain regression.

The rule of `SurvivalRegression` decides by survival curves in coarse bins, tilted by the features.
That is a model: it blurs what differs within a bin, or from bin to bin in a way that no tilt has.
Beside it the rule keeps a plain regression of what plays took that ended
(`tarry.policies.contexts.plain_regression`). That needs no model of delays, but takes means for
linear in the features, and must be told what plays still out will take. `joined` has what either
of them allows.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.live.core import Core
from tarry.live.plays import Arm
from tarry.live.register import NONE, OUT
from tarry.policies.contexts.effects import CLIP
from tarry.policies.contexts.scaler import CONSTANT, LARGEST, LIMIT

DRAWS = 400
WIDER = 1.0  # deviation of the log odds of a kind of request from what the features tell of it
REACH = 2.2  # deviations; with few plays they are not well known themselves
MOST_OUT = 200  # plays of an arm that are looked at while they are out; of more, some stand for all
LEAST = 1e-30  # a variance


class Estimate(NamedTuple):
    """A mean payoff, 0 to 1, and where it is with 95 %."""

    mean: float
    low: float
    high: float


class Fit(NamedTuple):
    """What a regression says of a mean payoff, and how far off it is, in the root mean square."""

    mean: float
    deviation: float
    off: float  # for one play of such a request


class Effects(NamedTuple):
    """Weights and covariances of an arm, both by part: the steady one, that which changes.

    And by bin the plays that are in it now: half of them have passed it, as far as can be told. The
    rule itself hears of a pass at the end of a bin, and would take all that is out for nothing.
    """

    weights: FloatArray
    spread: FloatArray
    within: FloatArray


class StillOut(NamedTuple):
    """Plays of an arm that are out, each of which stands for `times` many."""

    contexts: FloatArray
    age: FloatArray  # as a share of D
    times: float


def joined(curves: Estimate, fit: Fit) -> Estimate:
    """What the curves or the regression allow.

    A regression that is off by b for such requests has had errors of at least b, so the mean is no
    further from it than these were: where delays are nearly fixed it is trusted alone.
    """
    mean, reach = min(max(fit.mean, 0.0), 1.0), REACH * fit.deviation
    low = min(max(curves.low, mean - reach - fit.off), mean - reach)
    high = max(min(curves.high, mean + reach + fit.off), mean + reach)
    one, other = max(((curves.high - curves.low) / 4.0) ** 2, LEAST), max(fit.deviation**2, LEAST)
    middle = (curves.mean / one + mean / other) / (1.0 / one + 1.0 / other)
    return Estimate(min(max(middle, low, 0.0), high, 1.0), max(low, 0.0), min(high, 1.0))


def by_curves(rule: Any, arm: int, effects: Effects, alike: float, seed: int) -> Estimate:
    """By the curves of the rule, for the request it looked at; the range of 95 % of draws.

    The fewer plays were for requests alike, the more may these differ from what the features tell.
    """
    rng = np.random.default_rng(seed)
    z = np.asarray(rule.scaler.z)
    weights, spread, _ = effects
    (a, b), (_, d) = np.einsum("i,aibj,j->ab", z, spread, z, optimize=True)
    deviation = math.sqrt(max(a, 0.0))
    along = b / deviation if deviation > 0.0 else 0.0
    first, second, third = rng.normal(size=(3, DRAWS))
    steady = weights[0] @ z + deviation * first
    change = weights[1] @ z + along * first + math.sqrt(max(d - along * along, 0.0)) * second
    expected = drawn(rule, arm, effects, steady, change, rng)
    steady = steady + WIDER / math.sqrt(1.0 + alike) * third
    low, high = np.quantile(drawn(rule, arm, effects, steady, change, rng), [0.025, 0.975]).tolist()
    return Estimate(float(np.mean(expected)), low, high)


def effects_of(rule: Any, arm: int, out: StillOut) -> Effects:
    """The effects of an arm with these plays out."""
    size = len(rule.scaler.z)
    weights = np.asarray(rule.effects.weights[2 * size * arm : 2 * size * (arm + 1)])
    many = (2 * size) ** 2
    spread = np.asarray(rule.effects.spread[many * arm : many * (arm + 1)])
    weights = weights.reshape(2, size)
    steady, change = weights @ scaled(rule, out.contexts).T
    places = reached(rule, out)
    tilts = np.clip(steady + change * np.asarray(rule.effects.age)[places], -CLIP, CLIP)
    within = np.bincount(places, 0.5 * out.times * np.exp(tilts), len(rule.edges))
    return Effects(weights, spread.reshape(2, size, 2, size), within)


def reached(rule: Any, out: StillOut) -> IntArray:
    """The bins in which plays still out are."""
    ages = np.rint(out.age * rule.evidence.max_delay)
    return np.minimum(np.searchsorted(rule.edges, ages, side="right"), len(rule.edges) - 1)


def drawn(
    rule: Any,
    arm: int,
    effects: Effects,
    steady: FloatArray,
    change: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """For each tilt a mean payoff from the Beta law with the moments that it gives."""
    mean, square = moments(rule, arm, effects, steady, change)
    variance = square - mean * mean
    sure = (variance <= 1e-14 * mean * mean) | (mean >= 1.0)
    weight = np.maximum(mean * (1.0 - mean) / np.where(sure, 1.0, variance) - 1.0, 1e-3)
    shapes = [np.where(sure, 1.0, share * weight) for share in (mean, 1.0 - mean)]
    return np.where(sure, mean, rng.beta(*shapes))


def moments(
    rule: Any, arm: int, effects: Effects, steady: FloatArray, change: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """`tilted_moments` of the rule for many tilts, and with plays still out within the bins."""
    mean, square = np.ones(len(steady)), np.ones(len(steady))
    for _, ended, first, second, beyond in bins_of(rule, arm, effects, steady, change):
        total = ended + beyond
        square = second + first * (first + 2.0 * beyond * mean) + beyond * (beyond + 1.0) * square
        square /= total * (total + 1.0)
        mean = (first + beyond * mean) / total
    return mean, square


def bins_of(
    rule: Any, arm: int, effects: Effects, steady: FloatArray, change: FloatArray
) -> Iterator[tuple[int, float, float, float, FloatArray]]:
    """The bins in which plays end, the last one first, for many tilts.

    Its number, how many plays ended there, the sums of their payoffs and of the squares, and how
    many went beyond, by tilt.
    """
    evidence, common, size = rule.evidence, rule.common, len(rule.edges)
    for b in range(size - 1, -1, -1):
        place = arm * size + b
        ended = evidence.events[place] + common.ended[b]
        if ended > 0.0:
            tilt = np.clip(steady + change * rule.effects.age[b], -CLIP, CLIP)
            first = evidence.event_sum[place] + common.ended[b] * common.payoff[b]
            second = evidence.event_squares[place] + common.ended[b] * common.payoff[b] ** 2
            passes = rule.passes(place) + common.beyond[b] + effects.within[b]
            beyond = passes * np.exp(-tilt)
            yield b, ended, first, second, beyond


def by_regression(rule: Any, arm: int, effects: Effects, context: FloatArray, out: StillOut) -> Fit:
    """By the regression of the plays that ended, and of those still out as they are foretold."""
    u = in_units(rule, arm, context[None])[0]
    size, plain = len(u), rule.plain
    weights = np.asarray(plain.weights[arm * size : (arm + 1) * size])
    whole = slice(arm * size * size, (arm + 1) * size * size)
    inverse, errors = (
        np.asarray(part[whole]).reshape(size, size)
        for part in (plain.familiar.spread, plain.errors)
    )
    gain = inverse @ u
    if len(out.age):
        payoff = foretold(rule, arm, effects, out)
        rows = in_units(rule, arm, out.contexts)
        reach = inverse @ rows.T
        inner = np.eye(len(rows)) / out.times + rows @ reach
        wrong = np.column_stack([payoff - rows @ weights, -(rows @ gain)])
        step = reach @ np.linalg.solve(inner, wrong)
        weights, gain = weights + step[:, 0], gain + step[:, 1]
        doubt = out.times * (payoff - out.age) * (1.0 - payoff)
        errors = errors + (rows.T * doubt) @ rows
    variance = max(float(gain @ errors @ gain), 0.0)
    off = math.sqrt(variance / max(float(gain @ u), LEAST))
    return Fit(float(weights @ u), math.sqrt(variance), off)


def still_out(core: Core, arm: Arm, now: int) -> StillOut:
    """The plays of an arm that are out, have not reached D, and were heard of."""
    register, most = core.register, core.max_delay
    known = register.columns(core.ended, register.last + 1)
    age = now - known.start if core.leases is None else known.watched
    mine = np.flatnonzero(
        (known.status == OUT) & (known.slot == arm.slot) & (age != NONE) & (age < most)
    )
    some = mine[np.linspace(0, len(mine) - 1, min(len(mine), MOST_OUT)).astype(np.int64)]
    table = core.open.plays
    rows = (some + core.ended) & (len(table.number) - 1)
    contexts = np.asarray(table.context)[rows]
    return StillOut(contexts, np.maximum(age[some], 0) / most, len(mine) / max(len(some), 1))


def foretold(rule: Any, arm: int, effects: Effects, out: StillOut) -> FloatArray:
    """The payoffs that plays still out will have on average, by the curves."""
    steady, change = effects.weights @ scaled(rule, out.contexts).T
    places = reached(rule, out)
    mean = np.ones(len(places))
    for b, ended, first, _, beyond in bins_of(rule, arm, effects, steady, change):
        mean = np.where(places <= b, (first + beyond * mean) / (ended + beyond), mean)
    return np.maximum(mean, out.age)


def scaled(rule: Any, contexts: FloatArray) -> FloatArray:
    """`Scaler.look` for many requests."""
    seen, mean, square = (np.asarray(part) for part in rule.scaler[:3])
    deviation = np.sqrt(square / np.maximum(seen, 1.0))
    varies = deviation > CONSTANT * np.abs(mean)
    shrunk = np.sqrt(seen / (seen + 2.0)) / np.where(varies, deviation, 1.0)
    known = varies & (np.abs(contexts) <= LARGEST)
    return with_one(np.where(known, contexts - mean, 0.0) * shrunk)


def in_units(rule: Any, arm: int, contexts: FloatArray) -> FloatArray:
    """`PlainRegression.look` for many requests."""
    own = slice(arm * contexts.shape[1], (arm + 1) * contexts.shape[1])
    first, unit = (np.asarray(part[own]) for part in rule.plain[:2])
    values = np.where(np.abs(contexts) <= LARGEST, contexts, np.asarray(rule.scaler.mean))
    return with_one(np.where(unit > 0.0, values - first, 0.0) / np.where(unit > 0.0, unit, 1.0))


def with_one(numbers: FloatArray) -> FloatArray:
    """Features within their limits, and a 1."""
    return np.column_stack([np.clip(numbers, -LIMIT, LIMIT), np.ones(len(numbers))])
