"""What is told of a run: how much it cost, what went into broken backends, how soon it followed.

A run is looked at through the next second of requests (`LOOK`), and not less than ten of them.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import IntArray
from tarry.scenarios.scenario import Change
from tarry.scenarios.timeline import Timeline
from tarry.scenarios.traffic import Traffic

LOOK = 1.0  # seconds
FEWEST = 10  # requests
LEFT = 0.05  # a backend is left when it gets less than this part of what it got before
BACK = 0.5  # and it is back when it gets this part of what the best backend got at first
NEVER = float("inf")


class Measures(NamedTuple):
    """A run in numbers; not a number where there is nothing to tell."""

    mean: float  # cost of a request, in seconds
    p99: float
    into: float  # requests sent into a broken backend
    left: float  # seconds until a backend that broke was left, the slowest time
    back: float  # seconds until a backend that became the best was found, the slowest time
    elsewhere: float  # share of the requests that went not to the best backend of the moment


def measure(traffic: Traffic) -> Measures:
    """All of it."""
    queues = any(backend.servers for backend in traffic.scenario.pieces)
    return Measures(
        traffic.mean,
        traffic.quantile(0.99),
        into_broken(traffic),
        max(
            (left_after(traffic, w.backend, w.start, w.end) for w in traffic.broken), default=np.nan
        ),
        max((back_after(traffic, change) for change in improvements(traffic)), default=np.nan),
        np.nan if queues or not len(traffic.times) else float(_elsewhere(traffic)),
    )


def _elsewhere(traffic: Traffic) -> float:
    return float((traffic.backends != traffic.best).mean())


def into_broken(traffic: Traffic) -> float:
    """Requests sent into a backend while it was broken."""
    if not traffic.broken:
        return float("nan")
    return float(
        sum(
            (
                traffic.backends[slice(*np.searchsorted(traffic.times, (w.start, w.end)))]
                == w.backend
            ).sum()
            for w in traffic.broken
        )
    )


def improvements(traffic: Traffic) -> list[Change]:
    """Sudden changes by which a backend becomes the best."""
    lines = [Timeline(traffic.scenario, k) for k in range(len(traffic.scenario.pieces))]
    found = []
    for change in traffic.scenario.changes:
        before = [line.cost_at(np.nextafter(change.at, 0.0)) for line in lines]
        after = [line.cost_at(change.at) for line in lines]
        k = change.backend
        better = after[k] < before[k] and after[k] == min(after) and before[k] > min(before)
        if better and not change.over and after.count(after[k]) == 1:
            found.append(change)
    return found


def left_after(traffic: Traffic, backend: int, start: float, end: float) -> float:
    """Seconds from `start` until the backend gets (nearly) nothing any more."""
    first, last = np.searchsorted(traffic.times, (start, end))
    there = traffic.backends == backend
    look = looked_at(traffic)
    before = there[max(first - 10 * look, 0) : first]
    usual = float(before.mean()) if len(before) else 0.0
    if usual == 0.0:
        return 0.0
    counts = following(there[first:last], look)
    place = np.flatnonzero(counts <= LEFT * usual * look)
    return float(traffic.times[first + place[0]] - start) if len(place) else NEVER


def back_after(traffic: Traffic, change: Change) -> float:
    """Seconds until the backend that improved gets its part; until the next change at most."""
    later = [c.at for c in traffic.scenario.changes if c.at > change.at]
    end = min([*later, traffic.scenario.seconds])
    first, last = np.searchsorted(traffic.times, (change.at, end))
    look = looked_at(traffic)
    begin = min((c.at for c in traffic.scenario.changes if c.at > 0.0), default=0.0)
    calm = traffic.times < begin
    settled = calm & (traffic.times >= begin / 2)
    usual = (
        float((traffic.backends[settled] == traffic.best[settled]).mean()) if settled.any() else 1.0
    )
    counts = following(traffic.backends[first:last] == change.backend, look)
    place = np.flatnonzero(counts >= BACK * usual * look)
    return float(traffic.times[first + place[0]] - change.at) if len(place) else NEVER


def looked_at(traffic: Traffic) -> int:
    """How many requests are looked at together."""
    return max(round(LOOK * traffic.scenario.rate), FEWEST)


def following(there: IntArray, look: int) -> IntArray:
    """For each request how many of `look` requests from it on are there; where so many follow."""
    sums = np.concatenate([[0], np.cumsum(there)])
    return sums[look:] - sums[:-look] if len(sums) > look else np.zeros(0, int)
