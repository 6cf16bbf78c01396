"""What came of a scenario: where requests went, and how long they took."""

from dataclasses import dataclass

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.checks import check_positive
from tarry.errors import InputError
from tarry.scenarios.scenario import Scenario
from tarry.scenarios.timeline import Window

ANSWERED, FAILED, TIMED_OUT = range(3)
MOST_PIECES = 1_000_000  # of `shares`


@dataclass(frozen=True)
class Traffic:
    """All requests of a run, in the order in which they were sent; times in seconds.

    Attributes:
        scenario: What happened.
        label: Who chose.
        seed: Of the run.
        times: When each request was sent.
        backends: Where to.
        costs: Its latency; the timeout if it failed or was given up.
        outcomes: 0 answered, 1 failed, 2 timed out.
        best: The best backend when it was sent, if there were no queues.
        broken: When which backend was broken.
    """

    scenario: Scenario
    label: str
    seed: int
    times: FloatArray
    backends: IntArray
    costs: FloatArray
    outcomes: IntArray
    best: IntArray
    broken: tuple[Window, ...]

    def __repr__(self) -> str:
        """What it was, and the mean cost."""
        return (
            f"<Traffic of {self.label}, {self.scenario.name!r}, seed {self.seed}: "
            f"{len(self.times)} requests, {1e3 * self.mean:.1f} ms on average>"
        )

    @property
    def mean(self) -> float:
        """Mean cost of a request; not a number without requests."""
        return float(self.costs.mean()) if len(self.costs) else float("nan")

    def quantile(self, share: float) -> float:
        """The cost that this share of the requests stays below; not a number without requests."""
        return float(np.quantile(self.costs, share)) if len(self.costs) else float("nan")

    def shares(self, width: float) -> tuple[FloatArray, FloatArray]:
        """Middles of pieces of `width` seconds, and the share of each backend in each of them."""
        check_positive("width", width)
        if self.scenario.seconds / width > MOST_PIECES:
            raise InputError(
                f"The width is {width:g} s; {self.scenario.seconds:g} s have more than "
                f"{MOST_PIECES} such pieces."
            )
        count = max(int(np.ceil(self.scenario.seconds / width)), 1)
        piece = np.minimum((self.times / width).astype(int), count - 1)
        size = len(self.scenario.pieces)
        sent = np.bincount(piece * size + self.backends, minlength=count * size)
        table = sent.reshape(count, size).astype(float)
        total = table.sum(axis=1, keepdims=True)
        return (np.arange(count) + 0.5) * width, np.divide(
            table, total, out=np.full_like(table, np.nan), where=total > 0
        )
