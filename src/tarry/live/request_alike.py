"""What plays of an arm for the very same request took, whatever the model says of such requests.

Tilted curves share their bins, and what they cannot say no number of plays makes up for: fixed
delays that differ from kind to kind were held in 53 to 92 % of cases, the fewer the more plays
there were. So an interval allows what plays for the very same request allow by themselves, too.

There are two ways to know them, and the one with more plays counts. The latest plays of an arm are
remembered one by one. But a kind of request that gave an arm up early has no play among them; the
rule keeps a curve of every arm for the kinds of request that it knows, in its own bins, from the
first play on (`tarry.policies.contexts.kinds`). In both there is one play in advance, so that few
plays which took the same time are no proof that all do.
"""

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tarry.arrays import FloatArray
from tarry.live.core import Core
from tarry.live.curve import MASS, DelayCurve
from tarry.live.plays import Arm
from tarry.live.register import CANCELLED, CLOSED, FAILED, NONE, OUT, RETURNED, VANISHED, Columns
from tarry.live.request_means import Curves, Estimate, moments, passed_since, still_out
from tarry.plays import empty_plays
from tarry.policies.contexts.kinds import MOST
from tarry.policies.survival.evidence import evidence_in_bins

FEWEST = 2  # plays for the very same request that say something by themselves
MOST_ALIKE = 1000  # latest plays of an arm that are looked at
MOST_KINDS, MOST_NUMBERS = 50, 2500  # different requests of theirs that are, and numbers of these
ENDED = (RETURNED, CLOSED, FAILED, VANISHED)


class Own(NamedTuple):
    """What plays for the very same request say by themselves."""

    plays: float
    estimate: Estimate


NOTHING = Own(0.0, Estimate(0.0, 0.0, 1.0))


def with_alike(
    core: Core, arm: Arm, now: int, numbers: Sequence[float], curves: Curves, e: Estimate
) -> Estimate:
    """An estimate that allows what plays for the very same request took, too, without any model.

    The mean is between both, weighted by how sure they are.
    """
    found = by_kind(core, arm, now, numbers, curves)
    if core.open.rule.keep == 1.0:  # else plays that are remembered may be of another time
        found = max(remembered(core, arm, now, numbers), found, key=lambda own: own.plays)
    return e if found.plays < FEWEST else allowing(e, found.estimate)


def allowing(e: Estimate, own: Estimate) -> Estimate:
    """An estimate that allows what another one does, too; its mean is nearer to the surer one."""
    one, other = (max(x.high - x.low, 1e-9) ** -2 for x in (e, own))
    mean = (one * e.mean + other * own.mean) / (one + other)
    return Estimate(mean, min(e.low, own.low, mean), max(e.high, own.high, mean))


def remembered(core: Core, arm: Arm, now: int, numbers: Sequence[float]) -> Own:
    """By the latest plays of the arm."""
    return by_themselves(core, latest(core, arm, numbers), now)


def by_themselves(core: Core, own: Columns, now: int) -> Own:
    """What these plays say, as in `tarry.live.curve`."""
    curve = DelayCurve(core.max_delay)
    curve.came_back(own.delay[np.isin(own.status, ENDED)])
    curve.cancelled(own.watched[own.status == CANCELLED])
    age = now - own.start if core.leases is None else own.watched
    age = age[(own.status == OUT) & (age != NONE)]
    plays = float(curve.events.sum() + curve.cut.sum() + len(age))
    found = curve.estimate(np.clip(age, 0, core.max_delay))
    return Own(plays, Estimate(*(x / core.max_delay for x in found)))


def by_kind(core: Core, arm: Arm, now: int, numbers: Sequence[float], curves: Curves) -> Own:
    """By the curve that the rule keeps of an arm for a kind of request, if it knows this kind.

    As in `curves_of`, plays that are out count as they are now, and cancelled ones as they were.
    """
    rule, most = core.open.rule, core.max_delay
    table = empty_plays(1, features=len(numbers))
    table.context[0] = numbers
    kind = rule.kinds.find(table, 0)
    if kind < 0:
        return NOTHING
    edges, evidence = np.asarray(rule.edges), rule.kinds.evidence
    first = (arm.index * MOST + kind) * len(edges)
    events, sums, squares, heard = (
        np.asarray(part[first : first + len(edges)])
        for part in (evidence.events, evidence.event_sum, evidence.event_squares, evidence.passes)
    )
    out, given_up = still_out(core, arm, now), latest(core, arm, numbers, CANCELLED).watched
    same = same_numbers(out.contexts, numbers)
    passes = heard + out.times * passed_since(out, edges)[same].sum(axis=0)
    given_up = given_up[given_up < most]  # they have passed the bin they were in by half
    passes += np.bincount(np.searchsorted(edges, given_up, side="right"), minlength=len(edges)) / 2
    there = np.flatnonzero(events + passes > 0.0)
    if len(there) == 0:
        return NOTHING
    prior = evidence_in_bins(1, most, edges, MASS, 1.0 / (len(edges) + 1))
    last = int(there[-1])
    known = float(events[0] + passes[0])
    ages = [edges[heard > 0.0], given_up, out.age[same]]
    answered = sums[last] / events[last] if events[last] > 0.0 else 0.0
    own = curves._replace(
        known=known,
        ended=events + np.asarray(prior.prior),
        first=sums + np.asarray(prior.prior_sum),
        second=squares + np.asarray(prior.prior_squares),
        passes=passes,
        ahead=np.asarray(prior.prior_beyond),
        last=last,
        oldest=min(max(answered, np.concatenate(ages).max(initial=0) / most), 1.0),
    )
    return Own(known, untilted(own))


def untilted(own: Curves) -> Estimate:
    """Mean and 95 % interval by a curve itself; beyond what was seen everything is possible."""
    none = np.zeros(1)
    mean = float(moments(own, none, none)[0][0])
    ends = []
    for tail, side in ((own.oldest, -1.96), (1.0, 1.96)):
        centre, square = (float(x[0]) for x in moments(own, none, none, tail))
        ends.append(centre + side * math.sqrt(max(square - centre * centre, 0.0)))
    return Estimate(mean, min(max(ends[0], 0.0), mean), max(min(ends[1], 1.0), mean))


def latest(core: Core, arm: Arm, numbers: Sequence[float], status: int | None = None) -> Columns:
    """The latest plays of an arm that were for the very same request; those with a status only."""
    register, first = core.register, core.register.oldest
    known = register.look(first, register.last + 1)
    wanted = known.slot == arm.slot
    if status is not None:
        wanted &= known.status == status
    mine = np.flatnonzero(wanted)[-MOST_ALIKE:]
    same = same_request(core, numbers, (mine + first).tolist())
    return Columns(*(column[mine[same]] for column in known))


def same_request(core: Core, numbers: Sequence[float], plays: list[int]) -> list[bool]:
    """Which plays were for a request with the same numbers; of very many requests, the latest."""
    requests = core.requests
    most = min(MOST_KINDS, MOST_NUMBERS // len(numbers) + 1)
    same: dict[str, bool] = {}
    for text in (requests.texts.get(number, "") for number in reversed(plays)):
        if text not in same and len(same) < most and requests.features is not None:
            found = requests.features.numbers(json.loads(text) if text else {})[0]
            same[text] = bool(same_numbers(np.array([found], float), numbers)[0])
    return [same.get(requests.texts.get(number, ""), False) for number in plays]


def same_numbers(contexts: FloatArray, numbers: Sequence[float]) -> Any:
    """Which requests have these numbers; what is missing is alike."""
    wanted = np.array(numbers, float)
    contexts = contexts.reshape(len(contexts), len(wanted))
    return ((contexts == wanted) | (np.isnan(contexts) & np.isnan(wanted))).all(axis=1)
