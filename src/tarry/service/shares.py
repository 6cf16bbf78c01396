"""How the choices of an agent were shared among its arms, over all of its life, in little memory.

Time is cut into at most `MOST` pieces of equal length. When they are used up, two neighbours become
one, and pieces are twice as long from then on: the picture goes back to the first play for ever.

The plays are pulled from the register of the agent, which knows the latest ten thousand at least;
so a process that shares the agent with others, or that was started just now, sees them all.
"""

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tarry.live.clock import TICKS

if TYPE_CHECKING:
    from tarry.arrays import IntArray
    from tarry.live.agent import Agent
    from tarry.live.core import Core

MOST = 120  # pieces
SHOWN = 8  # arms with a curve of their own
ENOUGH = 20  # plays, below which a share says little
OTHERS = " others"  # no arm can have this name


class Shares:
    """Choices by arm in pieces of time, for one agent."""

    def __init__(self, piece: float = 1.0) -> None:
        """`piece` is the length of a piece in seconds, at first."""
        self.piece = piece
        self.first = 0  # when the first piece begins, in seconds since the agent was made
        self.counts: list[Counter[str]] = []
        self.total: Counter[str] = Counter()
        self._seen: int | None = None  # the number of the last play that was counted
        self._drawn: list[str] = []
        self._states: dict[str, tuple[str, float | None]] = {}  # of arms, and since when

    def follow(self, agent: "Agent") -> None:
        """Count what was played since the last call."""
        engine = agent._engine  # noqa: SLF001  # a view of the inside, for people to look at
        names, slots, starts = engine.look(lambda core, _: self._new_plays(core))
        self.add(names, slots, starts / TICKS)

    def _new_plays(self, core: "Core") -> "tuple[list[str], IntArray, IntArray]":
        register = core.register
        begin = register.oldest
        if self._seen is not None and register.last >= self._seen:
            begin = max(begin, self._seen + 1)
        self._seen = register.last
        rows = register.look(begin, register.last + 1)
        return [arm.name for arm in core.slots], rows.slot.copy(), rows.start.copy()

    def add(self, names: list[str], slots: "IntArray", times: Any) -> None:
        """Plays of the arms with these numbers, at these times in seconds."""
        if not len(slots):
            return
        if not self.counts:
            self.first = int(times.min() // self.piece * self.piece)
        self._make_room(float(times.max()))
        place = np.clip(((times - self.first) // self.piece).astype(np.int64), 0, MOST - 1)
        while len(self.counts) <= place.max():
            self.counts.append(Counter())
        both, many = np.unique(place * len(names) + slots, return_counts=True)
        for code, count in zip(both.tolist(), many.tolist(), strict=True):
            name = names[code % len(names)]
            self.counts[code // len(names)][name] += count
            self.total[name] += count

    def _make_room(self, latest: float) -> None:
        while latest - self.first >= MOST * self.piece:
            pairs = range(0, len(self.counts), 2)
            self.counts = [sum(self.counts[k : k + 2], Counter()) for k in pairs]
            self.piece *= 2

    def state_since(self, arm: str, state: str, last: float | None, now: float) -> float | None:
        """Since when an arm is in this state; None if it was so when one first looked.

        An arm rests since its `last` play.
        """
        before = self._states.get(arm)
        if before is None or before[0] != state:
            first = None if before is None else now
            before = self._states[arm] = (state, first)
        return last if state == "rested" else before[1]

    def _pooled(self) -> tuple[list[float], list[Counter[str]]]:
        """Pieces joined until each has enough plays to speak of shares, and where they begin."""
        begins: list[float] = []
        pieces: list[Counter[str]] = []
        for k, piece in enumerate(self.counts):
            if pieces and pieces[-1].total() < ENOUGH:
                pieces[-1] = pieces[-1] + piece
            else:
                begins.append(self.first + k * self.piece)
                pieces.append(piece)
        if len(pieces) > 1 and pieces[-1].total() < ENOUGH:
            last = pieces.pop()
            pieces[-1] = pieces[-1] + last
            begins.pop()
        return begins, pieces

    def choose(self, ranked: list[str]) -> list[str]:
        """The arms that are drawn: the first `SHOWN`, but who was drawn stays while it is near."""
        stay = [name for name in self._drawn if name in ranked[: 2 * SHOWN]]
        fresh = [name for name in ranked if name not in stay]
        self._drawn = (stay + fresh)[:SHOWN]
        return self._drawn

    def picture(self, created: float, now: float, shown: list[str]) -> dict[str, Any]:
        """Shares by piece of the arms `shown`, and of all others together.

        `time` is the middle of each piece, as seconds since the epoch.
        """
        begins, pieces = self._pooled()
        whole = [sum(piece.values()) for piece in pieces]
        ends = [*begins[1:], max(now - created, begins[-1])] if begins else []
        times = [created + (a + b) / 2 for a, b in zip(begins, ends, strict=True)]
        lines = {name: [piece.get(name, 0) for piece in pieces] for name in shown}
        if any(name not in lines for name in self.total):
            mine = [sum(piece.get(name, 0) for name in shown) for piece in pieces]
            lines[OTHERS] = [n - own for n, own in zip(whole, mine, strict=True)]
        return {
            "began": created + begins[0] if begins else None,
            "time": [round(at, 1) for at in times],
            "arms": {
                name: [round(c / n, 4) for c, n in zip(counts, whole, strict=True)]
                for name, counts in lines.items()
            },
        }
