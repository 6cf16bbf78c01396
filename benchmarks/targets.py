"""What must be reached, and whether it was."""

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.speed import DRAWN, ELIMINATION, INDEX, REGIME, SAMPLING, SURVIVAL, Speeds
from benchmarks.starts import Long, Starts

MOST_TIMES_LIMIT = {
    ELIMINATION: 4.0,
    INDEX: 25.0,
    SAMPLING: 150.0,
    SURVIVAL: 60.0,
    REGIME: 200.0,
}
LEAST_TIMES_PLAIN = 50.0


class Target(NamedTuple):
    """A bound on a measured number."""

    what: str
    measured: float
    bound: float
    at_most: bool = True
    unit: str = ""

    @property
    def met(self) -> bool:
        """Whether the number keeps to its bound."""
        return self.measured <= self.bound if self.at_most else self.measured >= self.bound

    @property
    def wanted(self) -> str:
        """The bound in words."""
        return f"{'at most' if self.at_most else 'at least'} {self.bound:g}{self.unit}"


def targets(speeds: Sequence[Speeds], starts: Starts, long: Long) -> list[Target]:
    """Every target with the worst that was measured for it."""
    rows = [row for each in speeds for row in each.rows]
    found = [
        Target(
            f"{kind} policies, times the limit loop",
            max(row.to_limit for row in rows if row.kind == kind),
            most,
        )
        for kind, most in MOST_TIMES_LIMIT.items()
    ]
    return [
        *found,
        # Of the three kinds of plain Python the target means the one without a compiler anywhere,
        # of 100 000 to 250 000 steps a second; the page shows the ratios to all of them.
        Target(
            "elimination policies, times as fast as plain Python, delays drawn",
            min(row.over[DRAWN] for row in rows if row.over),
            LEAST_TIMES_PLAIN,
            at_most=False,
        ),
        Target("peak memory at T = 10^8 over that at T = 10^6", long.long / long.short, 1.02),
        Target("peak memory in T = 10^9 over that at T = 10^6", long.longest / long.short, 1.02),
        Target("a warm process simulates after", starts.warm, 1.5, unit=" s"),
        Target("import tarry", starts.imported, 0.3, unit=" s"),
    ]
