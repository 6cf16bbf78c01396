"""Which backends may be used at all: guards that take failing ones out for a while."""

from collections.abc import Sequence
from random import Random
from typing import Protocol

ALIVE, DEAD, PROBE_OPEN, PROBE_CLOSED = range(4)


class Guard(Protocol):
    """Hears of every request and says who may get the next."""

    def available(self, now: float) -> Sequence[int]:
        """The backends that may be chosen; all of them if none may."""

    def sent(self, backend: int) -> None:
        """A request goes there."""

    def good(self, backend: int) -> None:
        """It was answered."""

    def bad(self, backend: int, now: float) -> None:
        """It failed, or was not answered in time."""


class NoGuard:
    """Everybody may always be chosen."""

    def __init__(self, backends: int) -> None:
        self.everybody = range(backends)

    def available(self, now: float) -> Sequence[int]:
        """See `Guard`."""
        return self.everybody

    def sent(self, backend: int) -> None:
        """See `Guard`."""

    def good(self, backend: int) -> None:
        """See `Guard`."""

    def bad(self, backend: int, now: float) -> None:
        """See `Guard`."""


class FailureAccrual:
    """Finagle's and linkerd's circuit breaker.

    After `failures` failures in a row a backend is dead for a while: `first` seconds, and if the
    one request that then probes it fails as well, h + U h with h = first, 2 first, 4 first, ... and
    U uniform, at most `longest` (equal jitter). A probe that succeeds makes it alive, and the next
    time begins with `first` again.

    Source: Finagle's FailureAccrualFactory and FailureAccrualPolicy; the defaults are theirs.
    """

    def __init__(
        self,
        backends: int,
        rng: Random,
        failures: int = 5,
        first: float = 5.0,
        longest: float = 300.0,
    ) -> None:
        self.failures, self.first, self.longest = failures, first, longest
        self.rng = rng
        self.everybody = list(range(backends))
        self.state = [ALIVE] * backends
        self.in_a_row = [0] * backends
        self.deaths = [0] * backends
        self.until = [0.0] * backends
        self.all_alive = True

    def available(self, now: float) -> Sequence[int]:
        """See `Guard`."""
        if self.all_alive:
            return self.everybody
        for k, state in enumerate(self.state):
            if state == DEAD and now >= self.until[k]:
                self.state[k] = PROBE_OPEN
        found = [k for k, state in enumerate(self.state) if state in (ALIVE, PROBE_OPEN)]
        return found or self.everybody

    def sent(self, backend: int) -> None:
        """See `Guard`."""
        if self.state[backend] == PROBE_OPEN:
            self.state[backend] = PROBE_CLOSED

    def good(self, backend: int) -> None:
        """See `Guard`."""
        self.in_a_row[backend] = 0
        if self.state[backend] == PROBE_CLOSED:
            self.state[backend] = ALIVE
            self.deaths[backend] = 0
            self.all_alive = all(state == ALIVE for state in self.state)

    def bad(self, backend: int, now: float) -> None:
        """See `Guard`."""
        if self.state[backend] not in (ALIVE, PROBE_CLOSED):
            return
        self.in_a_row[backend] += 1
        if self.in_a_row[backend] >= self.failures:
            self.state[backend] = DEAD
            self.all_alive = False
            self.until[backend] = now + self.backoff(self.deaths[backend])
            self.deaths[backend] += 1

    def backoff(self, deaths: int) -> float:
        """How long a backend is dead that was dead `deaths` times since it was last alive."""
        if deaths == 0:
            return self.first
        half = self.first * 2 ** min(deaths - 1, 30)
        return min(half + self.rng.random() * half, self.longest)


class OutlierEjection:
    """Envoy's outlier detection by failures in a row.

    After `failures` failures in a row a backend is ejected, if less than `most` of all backends
    are (one always may be). Every `interval` seconds those are let in again that were out for
    base * (how often they were ejected), at most `longest`; that number falls by one in each
    interval in which a backend is in.

    Source: Envoy's documentation of outlier detection (config.cluster.v3.OutlierDetection); the
    defaults are Envoy's. Its detection by success rate needs five backends and sees failures only,
    which are in a row here; it is left out.
    """

    def __init__(
        self,
        backends: int,
        failures: int = 5,
        interval: float = 10.0,
        base: float = 30.0,
        most: float = 0.1,
        longest: float = 300.0,
    ) -> None:
        self.failures, self.interval, self.base = failures, interval, base
        self.limit = max(1, int(most * backends))
        self.longest = longest
        self.everybody = list(range(backends))
        self.in_a_row = [0] * backends
        self.times = [0] * backends  # the factor of the ejection time
        self.since: dict[int, float] = {}  # who is out, and since when
        self.next_sweep = interval
        self.inside = self.everybody

    def available(self, now: float) -> Sequence[int]:
        """See `Guard`."""
        while now >= self.next_sweep:
            self._sweep(self.next_sweep)
            self.next_sweep += self.interval
        return self.inside

    def _sweep(self, now: float) -> None:
        for k in self.everybody:
            if k not in self.since:
                self.times[k] = max(self.times[k] - 1, 0)
            elif now - self.since[k] >= min(self.base * self.times[k], self.longest):
                del self.since[k]
                self.in_a_row[k] = 0
        self._renew()

    def _renew(self) -> None:
        # Envoy panics, and uses everybody, when less than half are healthy.
        healthy = [k for k in self.everybody if k not in self.since]
        self.inside = healthy if 2 * len(healthy) >= len(self.everybody) else self.everybody

    def sent(self, backend: int) -> None:
        """See `Guard`."""

    def good(self, backend: int) -> None:
        """See `Guard`."""
        self.in_a_row[backend] = 0

    def bad(self, backend: int, now: float) -> None:
        """See `Guard`."""
        self.in_a_row[backend] += 1
        failed = self.in_a_row[backend] >= self.failures
        if failed and backend not in self.since and len(self.since) < self.limit:
            self.since[backend] = now
            self.times[backend] += 1
            self._renew()
