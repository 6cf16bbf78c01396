"""What somebody should look at: failures, plays that do not come back, a change, a store away."""

import math
from typing import Any

import numpy as np

from tarry.live.agent import Agent
from tarry.live.clock import TICKS
from tarry.logs.answers import percent
from tarry.service.counted import ArmCount, Counted
from tarry.service.words import duration
from tarry.tables import counted

FEW = 5  # failures
FAILING = 0.2  # share of failures among the latest plays
SLOW = 0.01  # share of plays that take longer than what is called long
UNLIKELY = 1e-6  # chance below which a number of overdue plays is no accident
KNOWN = 100  # plays of an arm that must have come back before one can say what is long
NEW = 300.0  # seconds for which a change is news
SURE = 0.9


def alarm_of(place: int, known: Counted) -> str | None:
    """What is wrong with an arm, in words; None if nothing is."""
    row = known.arms[place]
    said = [failing(row), overdue(place, known), changed(row)]
    return "; ".join(text for text in said if text) or None


def failing(row: ArmCount) -> str | None:
    """Whether many of its latest plays failed."""
    ended, failed = row.recently
    if failed < FEW or failed < FAILING * ended:
        return None
    return f"{failed} of its last {counted(ended, 'answer')} failed"


def overdue(place: int, known: Counted) -> str | None:
    """Whether more plays than chance allows are out for longer than 99 % of the answers took.

    Only for costs, where a long delay is bad. Of the plays that began so long ago, one in a hundred
    may still be out; a number that has less than `UNLIKELY` chance is an alarm.
    """
    row, came = known.arms[place], known.events[place]
    if known.copied.reward or not len(row.ages) or came.sum() < KNOWN:
        return None
    past = np.cumsum(came[:-1]) / came.sum()
    edge = int(np.searchsorted(past, 1.0 - SLOW))
    if edge >= len(known.copied.edges):
        return None
    limit = int(known.copied.edges[edge])
    late = int((row.ages > limit).sum())
    owner, age = known.lately
    young = (age > limit) & (age < known.copied.max_delay)
    began = int(((owner == place) & young).sum())
    if not late or above(late, began, SLOW) > UNLIKELY:
        return None
    are = "play has" if late == 1 else "plays have"
    return f"{late} {are} been out for more than {duration(limit / TICKS)}, as 1 in 100 were before"


def above(count: int, of: int, chance: float) -> float:
    """A bound on the chance that at least `count` of `of` happen (Chernoff 1952)."""
    share = count / max(of, count)
    if share <= chance:
        return 1.0
    if share >= 1.0:
        return chance**count
    gap = share * math.log(share / chance) + (1 - share) * math.log((1 - share) / (1 - chance))
    return math.exp(-max(of, count) * gap)


def changed(row: ArmCount) -> str | None:
    """Whether the arm has changed a short while ago, where the policy follows change."""
    if row.changed is None or row.changed[0] > NEW or row.changed[1] < SURE:
        return None
    minutes = round(row.changed[0] / 60.0)  # not finer: who watches is sent every new text
    ago = f"about {minutes} min ago" if minutes else "less than a minute ago"
    return f"it changed {ago}, {percent(row.changed[1])} sure"


def store_state(agent: Agent) -> dict[str, Any]:
    """Where facts are kept, and whether that works."""
    where = "" if agent.path is None else str(agent.path)
    kind = "memory" if not where else "postgres" if "://" in where else "sqlite"
    store = agent._engine.store  # noqa: SLF001  # a view of the inside, for people to look at
    waiting = store.appended - store.durable if store.trouble else 0
    if store.trouble:
        facts = f"; {counted(waiting, 'fact')} in memory only" if waiting else ""
        return {"kind": kind, "state": "away", "text": f"The store cannot be written{facts}."}
    if store.dropped:
        text = f"{counted(store.dropped, 'fact')} never reached the store."
        return {"kind": kind, "state": "behind", "text": text}
    kept = {
        "memory": "in memory only",
        "sqlite": "safe in a file",
        "postgres": "safe in PostgreSQL",
    }
    return {"kind": kind, "state": "ok", "text": f"All facts are {kept[kind]}."}
