"""The time of an agent that many processes share, and how often they write that it goes on."""

from tarry.live.clock import TICKS
from tarry.live.core import Core
from tarry.live.store.postgres.line import Line

PARTS = 64  # of D, in which time goes on by itself while plays are out
SHORTEST = TICKS // 50
LEASE_PARTS = 8  # of a lease, likewise, so that it is known that somebody listens


class SharedTicker:
    """The time of the agent, which is the database's, as this process has last heard."""

    def __init__(self, line: Line, created: float) -> None:
        self.created = created
        self.line = line
        self._latest = 0

    def now(self) -> int:
        """The current tick; never less than at the last call."""
        line = self.line
        tick = round(line.local() * TICKS) + (line.low + line.high) // 2
        self._latest = max(self._latest, tick)
        return self._latest

    def utc(self, tick: int) -> float:
        """Seconds since the epoch at `tick`."""
        return self.created + tick / TICKS


def longest_silence(core: Core) -> int:
    """The ticks after which a process writes that they have passed, while plays are out."""
    longest = core.max_delay // PARTS
    if core.leases is not None:
        longest = min(longest, core.leases.lease.length // LEASE_PARTS)
    return max(longest, SHORTEST)
