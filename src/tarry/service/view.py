"""What the dashboard shows of an agent, as plain data: times in seconds, unknown numbers None."""

from typing import Any

import numpy as np

from tarry.arrays import FloatArray
from tarry.live.agent import Agent
from tarry.live.clock import TICKS
from tarry.service import how_sure
from tarry.service.alarms import alarm_of, changed, store_state
from tarry.service.counted import ArmCount, Counted, copied, counted
from tarry.service.shares import Shares
from tarry.service.words import sentences

AGES = 8  # pieces of a histogram of ages


def view(agent: Agent, shares: Shares, name: str = "agent") -> dict[str, Any]:
    """All of it. `shares` is what was played when, and is brought up to date.

    Means and limits are of all plays, those still out included (`tarry.service.how_sure`); under a
    policy that follows change they are of the present regime of each arm, as in `explain`. Where
    the choice depends on the request there is no best arm, and none leads.
    """
    engine = agent._engine  # noqa: SLF001  # a view of the inside, for people to look at
    known = counted(engine.look(copied))
    c = known.copied
    shares.follow(agent)
    created = engine.ticker.created
    now = created + c.now / TICKS
    bins = how_sure.bins_of(c.edges, known.events, known.sums, known.cut)
    limits = means_of(known, bins)
    heard = bins.watched[:, 0] > 0 if len(known.arms) else np.zeros(0, bool)
    everyone = how_sure.chances(limits.likely, reward=c.reward)  # the unheard: anything is likely
    open_now = can_be_chosen(known)
    chances = chances_among(open_now, limits.likely, everyone, reward=c.reward)
    leader = leading(known, limits, chances, open_now)
    seconds = c.max_delay / TICKS
    told_best = heard & open_now & (not c.features)
    arms = [
        arm_row(row, k, limits, chances if told_best[k] else None, seconds, created, heard=h)
        for k, (row, h) in enumerate(zip(known.arms, heard.tolist(), strict=True))
    ]
    chosen = shares.choose(ranked(known, everyone))
    drawn = [arm for arm in arms if arm["name"] in chosen]
    add_curves(drawn, known, bins, seconds)
    for place, arm in enumerate(arms):
        arm["alarm"] = alarm_of(place, known)
        arm["changed"] = changed_at(known.arms[place], now)
        arm["since"] = shares.state_since(arm["name"], arm["state"], arm["last"], now)
    told = c.counts
    doc: dict[str, Any] = {
        "name": name,
        "payoff": "reward" if c.reward else "cost",
        "max_delay": seconds,
        "lease": agent.lease,
        "policy": c.policy,
        "features": c.features,
        "follows_change": c.present is not None,
        "began": created if told.asked else None,
        "now": now,
        "plays": told.asked,
        "ended": told.returned + told.closed,
        "out": told.pending,
        "failed": told.failed,
        "cancelled": told.cancelled,
        "vanished": told.vanished,
        "void": told.void,
        "removed": {"arms": c.removed[0], "plays": c.removed[1]},
        "leader": None if leader is None else known.arms[leader].own.name,
        "sure": None if leader is None else float(chances[leader]),
        "choices": int(open_now.sum()),
        "better_paused": None if leader is None else better_paused(known, everyone, open_now),
        "cost_of_learning": cost_of(known, limits, heard, seconds),
        "store": store_state(agent),
        "arms": arms,
        "shares": shares.picture(created, now, [arm["name"] for arm in drawn]),
    }
    doc["alarms"] = alarms_of(arms, c.warning)
    said = sentences(doc)
    return {**doc, "sentence": " ".join(said), "sentences": said}


def alarms_of(arms: list[dict[str, Any]], warning: str) -> list[dict[str, Any]]:
    """What needs a look: of no arm in particular first."""
    found = []
    if arms and all(arm["state"] == "paused" for arm in arms):
        found.append((None, "Arms", "All are paused: nothing can be chosen.", None))
    if warning:
        found.append((None, "Void plays", warning, None))
    found += [(a["name"], a["name"], a["alarm"], a["since"]) for a in arms if a["alarm"]]
    return [dict(zip(("arm", "what", "text", "since"), row, strict=True)) for row in found]


def means_of(known: Counted, bins: how_sure.Bins) -> how_sure.Limits:
    """The mean of each arm with its interval, as shares of D."""
    limits = how_sure.mean_limits(bins)
    if known.copied.present is None:
        return limits
    present = np.array(known.copied.present).reshape(-1, 3) / known.copied.max_delay
    mean, low, high = present.T
    return how_sure.Limits(mean, low, high, how_sure.Moments(mean, ((high - low) / 3.92) ** 2))


def can_be_chosen(known: Counted) -> FloatArray:
    """The arms that are not paused; all of them if nothing came back of those."""
    free = np.array([not row.own.paused for row in known.arms], bool)
    came = known.events.sum(axis=1) > 0
    return free if (free & came).any() else np.ones(len(free), bool)


def chances_among(
    those: FloatArray, likely: how_sure.Moments, everyone: FloatArray, *, reward: bool
) -> FloatArray:
    """The probability of each arm to be the best of `those`; 0 for the others."""
    if those.all():
        return everyone
    found = np.zeros(len(those))
    few = how_sure.Moments(likely.mean[those], likely.variance[those])
    found[those] = how_sure.chances(few, reward=reward)
    return found


def better_paused(
    known: Counted, everyone: FloatArray, open_now: FloatArray
) -> dict[str, Any] | None:
    """A paused arm that is likelier to be the best of all than not."""
    likely = np.flatnonzero(~open_now & (everyone > 0.5) & (known.events.sum(axis=1) > 0))
    if not len(likely):
        return None
    return {"name": known.arms[likely[0]].own.name, "sure": float(everyone[likely[0]])}


def leading(
    known: Counted, limits: how_sure.Limits, chances: FloatArray, open_now: FloatArray
) -> int | None:
    """The arm that is most likely the best, of those that can be chosen."""
    fit = open_now & (known.events.sum(axis=1) > 0)
    if known.copied.features or not fit.any():
        return None
    sign = 1.0 if known.copied.reward else -1.0
    score = chances + 1e-9 * sign * limits.mean  # of equal chances, the better mean
    return int(np.flatnonzero(fit)[score[fit].argmax()])


def arm_row(
    row: ArmCount,
    k: int,
    limits: how_sure.Limits,
    chances: FloatArray | None,
    seconds: float,
    created: float,
    *,
    heard: bool,
) -> dict[str, Any]:
    """One arm of the table; `last` is when it was last played."""
    state = "paused" if row.own.paused else "rested" if row.rested else "active"
    number = [short(x[k] * seconds) if heard else None for x in limits[:3]]
    return {
        "name": row.own.name,
        "state": state,
        "last": None if row.last_start is None else created + row.last_start / TICKS,
        "plays": row.own.plays,
        "share": row.share,
        "out": len(row.ages),
        "oldest": short(row.ages.max() / TICKS) if len(row.ages) else None,
        "ages": ages_of(row),
        "mean": number[0],
        "low": number[1],
        "high": number[2],
        "best": None if chances is None else round(float(chances[k]), 5),
        "ended": row.own.returned + row.closed + row.vanished - row.own.vanished,
        "failed": row.own.failed,
        "cancelled": row.own.cancelled,
        "vanished": row.vanished,
        "void": row.void,
        "changed": None,
        "curve": None,
    }


def changed_at(row: ArmCount, now: float) -> dict[str, Any] | None:
    """Since when the arm has been as it is, where the policy follows change.

    If that is `news`, the alarm of the arm says it.
    """
    if row.changed is None:
        return None
    ago, sure = row.changed
    return {"since": round(now - ago, 1), "sure": sure, "news": changed(row) is not None}


def ages_of(row: ArmCount) -> dict[str, list[Any]] | None:
    """How old the plays are that are out: counts by age, in pieces that cover the oldest."""
    if not len(row.ages):
        return None
    top = int(row.ages.max()) + 1
    found = np.bincount(row.ages * AGES // top, minlength=AGES)
    edges = [short(k * top / AGES / TICKS) for k in range(AGES + 1)]
    return {"edges": edges, "counts": found.tolist()}


def short(value: float) -> float:
    """Five digits: nobody reads more, and a thousand arms are sent every second."""
    return float(f"{value:.5g}")


def ranked(known: Counted, chances: FloatArray) -> list[str]:
    """The names of the arms, those first that are most likely the best, or most played."""
    plays = np.array([row.own.plays for row in known.arms], float)
    return [known.arms[k].own.name for k in np.lexsort((-plays, -chances)).tolist()]


def add_curves(
    arms: list[dict[str, Any]], known: Counted, bins: how_sure.Bins, seconds: float
) -> None:
    """The curves of these arms with their bands, up to the age at which anybody has looked."""
    place = {row.own.name: k for k, row in enumerate(known.arms)}
    chosen = [arm for arm in arms if known.events[place[arm["name"]]].sum() > 0]
    rows = [place[arm["name"]] for arm in chosen]
    if not rows:
        return
    band = how_sure.band(
        how_sure.Bins(bins.width, bins.watched[rows], bins.events[rows], bins.ahead[rows])
    )
    times = [short(x) for x in known.copied.edges / known.copied.max_delay * seconds]
    for k, arm in enumerate(chosen):
        last = int(np.flatnonzero(bins.watched[rows[k]] > 0)[-1]) + 1
        arm["curve"] = {
            "time": [0.0, *times[:last]],
            **{
                what: [1.0, *np.round(values[k][:last], 4).tolist()]
                for what, values in zip(("alive", "low", "high"), band, strict=True)
            },
        }


def cost_of(
    known: Counted, limits: how_sure.Limits, heard: FloatArray, seconds: float
) -> dict[str, float] | None:
    """What plays of other arms than the best have cost, in seconds; None before anything ended.

    None too where the best arm is another one at other times, or for other requests: the means of
    today say nothing about what was lost then.
    """
    c = known.copied
    if c.features or c.present is not None or heard.sum() < 2 or not known.events.sum():
        return None
    likely = how_sure.Moments(limits.likely.mean[heard], limits.likely.variance[heard])
    of = how_sure.Limits(limits.mean[heard], limits.low[heard], limits.high[heard], likely)
    plays = np.array([row.own.plays for row in known.arms])[heard]
    value, low, high = how_sure.cost(plays, of, reward=c.reward)
    return {
        what: round(x * seconds, 9)  # what is left of 0.3 - 0.3 is nothing
        for what, x in (("value", value), ("low", low), ("high", high))
    }
