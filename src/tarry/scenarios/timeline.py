"""What a backend does at which time: the changes of a scenario, put in order."""

from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tarry.arrays import FloatArray
from tarry.scenarios.laws import Fails, Hangs, LatencyLaw, State, expected_cost
from tarry.scenarios.scenario import Scenario

NEVER = float("inf")
BROKEN = 5.0  # a backend is broken while it costs this many times what it costs at first


@dataclass(frozen=True)
class OnTheWay:
    """A law that stopped between two others, at the share `way` of the way."""

    first: LatencyLaw
    last: LatencyLaw
    way: float

    def quantile(self, u: FloatArray) -> FloatArray:
        """As far as each quantile has come."""
        first, last = self.first.quantile(u), self.last.quantile(u)
        return first + self.way * (last - first)


class Piece(NamedTuple):
    """A backend from `start` to `end`: on its way from one state to another, or in one state."""

    start: float
    end: float
    before: State  # where it comes from; the same as `state` if it does not move
    state: State


class Window(NamedTuple):
    """A time in which a backend is broken."""

    backend: int
    start: float
    end: float


def pieces_of(scenario: Scenario, backend: int) -> list[Piece]:
    """What one backend does, from the beginning to the end of time."""
    changes = sorted((c for c in scenario.changes if c.backend == backend), key=lambda c: c.at)
    state: State = scenario.pieces[backend].law
    found, start = [], 0.0
    for place, change in enumerate(changes):
        if change.at > start:
            found.append(Piece(start, change.at, state, state))
        until = changes[place + 1].at if place + 1 < len(changes) else NEVER
        start = change.at
        reached = change.becomes
        # From what hangs or fails there is no way: the next law is there at once.
        if change.over and not isinstance(state, Hangs | Fails):
            start = min(change.at + change.over, until)
            if start < change.at + change.over and not isinstance(reached, Hangs | Fails):
                reached = OnTheWay(state, reached, (start - change.at) / change.over)
            found.append(Piece(change.at, start, state, reached))
        state = reached
    found.append(Piece(start, NEVER, state, state))
    return found


class Timeline:
    """One backend of a scenario over time."""

    def __init__(self, scenario: Scenario, backend: int) -> None:
        self.pieces = pieces_of(scenario, backend)
        self.starts = np.array([piece.start for piece in self.pieces])
        self.timeout = scenario.timeout
        self._begins = self.starts.tolist()
        self.ends = [  # expected cost at the beginning and at the end of each piece
            [expected_cost(state, self.timeout) for state in (piece.before, piece.state)]
            for piece in self.pieces
        ]

    def latencies(self, times: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How long requests sent at `times` take, infinite if they are never answered.

        The second array says which of the answers are failures. A request keeps the law of the
        moment at which it is sent, but one that is out when the backend begins to hang is lost.
        """
        latency = np.empty(len(times))
        fails = np.zeros(len(times), bool)
        place = np.searchsorted(self.starts, times, side="right") - 1
        for number in np.unique(place):
            here = place == number
            piece = self.pieces[number]
            if isinstance(piece.state, Hangs):
                latency[here] = NEVER
                continue
            luck = u[here]
            if isinstance(piece.state, Fails):
                latency[here] = piece.state.after.quantile(luck)
                fails[here] = True
            elif piece.before is piece.state or isinstance(piece.before, Hangs | Fails):
                latency[here] = piece.state.quantile(luck)
            else:
                way = (times[here] - piece.start) / (piece.end - piece.start)
                first, last = piece.before.quantile(luck), piece.state.quantile(luck)
                latency[here] = first + way * (last - first)
        return latency, fails

    def next_hang(self, times: FloatArray) -> FloatArray:
        """When the next hang after each of the `times` begins."""
        begins = [p.start for p in self.pieces if isinstance(p.state, Hangs)]
        after = np.array([*begins, NEVER])
        return after[np.searchsorted(after[:-1], times, side="right")]

    def cost(self, times: FloatArray) -> FloatArray:
        """The expected cost of a request sent at each of the `times`, if it need not queue."""
        place = np.searchsorted(self.starts, times, side="right") - 1
        costs = np.array(self.ends)[place]
        start = self.starts[place]
        end = np.array([p.end if p.end < NEVER else p.start + 1.0 for p in self.pieces])[place]
        way = np.clip((times - start) / (end - start), 0.0, 1.0)
        return costs[:, 0] + way * (costs[:, 1] - costs[:, 0])

    def cost_at(self, time: float) -> float:
        """`cost` at one time."""
        place = bisect_right(self._begins, time) - 1
        first, last = self.ends[place]
        if first == last:
            return first
        piece = self.pieces[place]
        return first + (time - piece.start) / (piece.end - piece.start) * (last - first)


def broken_windows(scenario: Scenario, timelines: list[Timeline]) -> list[Window]:
    """When which backend is broken: it hangs, fails, or costs `BROKEN` times as much as at first.

    Where all backends are broken at once, there is nowhere else to go, and nothing is counted.
    """
    found = []
    for backend, line in enumerate(timelines):
        first = line.cost_at(0.0)
        for piece, costs in zip(line.pieces, line.ends, strict=True):
            broken = min(costs) >= min(BROKEN * first, line.timeout)
            if broken and 0.0 < piece.start < scenario.seconds:
                found.append(Window(backend, piece.start, min(piece.end, scenario.seconds)))
    middles = [(w.start + w.end) / 2 for w in found]
    return [
        window
        for window, middle in zip(found, middles, strict=True)
        if not all(
            any(w.backend == k and w.start <= middle < w.end for w in found)
            for k in range(len(timelines))
        )
    ]
