"""LiteLLM's latency-based routing."""

from collections import deque
from dataclasses import dataclass
from typing import Any

from tarry.scenarios.routers.protocol import RouterSetting

PENALTY = 1000.0  # seconds that a time-out counts for


@dataclass(frozen=True)
class LowestMean:
    """The backend whose last `window` latencies have the lowest mean; one never used first.

    A time-out counts as 1000 s. Other failures leave the latencies alone; a backend that failed
    more than `allowed` times within a minute is left alone for `cooldown` seconds. Equal means: at
    random.

    Source: LiteLLM's lowest_latency.py, and its router settings allowed_fails and cooldown_time as
    in its documentation. One thing is better here than there: once its list is full, that file
    replaces the latest of ten latencies only, and the other nine stay for ever.
    """

    window: int = 10
    allowed: int = 3
    cooldown: float = 30.0

    def start(self, setting: RouterSetting) -> Any:
        """A fresh router."""
        return _LowestMean(self, setting)


class _LowestMean:
    def __init__(self, settings: LowestMean, setting: RouterSetting) -> None:
        count = setting.backends
        self.allowed, self.cooldown = settings.allowed, settings.cooldown
        self.timeout, self.rng = setting.timeout, setting.rng
        self.latest: list[deque[float]] = [deque(maxlen=settings.window) for _ in range(count)]
        self.mean = [0.0] * count
        self.fails = [(0, 0)] * count  # the minute, and how many there were in it
        self.until = [0.0] * count
        self.cooling = False

    def choose(self, request: int, now: float) -> int:
        """See `RunningRouter`."""
        if self.cooling:
            among = [k for k, until in enumerate(self.until) if now >= until]
            self.cooling = len(among) < len(self.until)
            if among:
                return self._least(among)
        least = min(self.mean)
        if self.mean.count(least) == 1:
            return self.mean.index(least)
        return self._least(range(len(self.mean)))

    def _least(self, among: Any) -> int:
        least = min(self.mean[k] for k in among)
        best: int = self.rng.choice([k for k in among if self.mean[k] == least])
        return best

    def _heard(self, backend: int, latency: float) -> None:
        latest = self.latest[backend]
        latest.append(latency)
        self.mean[backend] = sum(latest) / len(latest)

    def answered(self, request: int, backend: int, latency: float, now: float) -> None:
        """See `RunningRouter`."""
        self._heard(backend, latency)

    def failed(self, request: int, backend: int, latency: float, now: float) -> None:
        """See `RunningRouter`."""
        if latency >= self.timeout:
            self._heard(backend, PENALTY)
        minute, fails = self.fails[backend]
        fails = fails + 1 if minute == int(now / 60.0) else 1
        self.fails[backend] = int(now / 60.0), fails
        if fails > self.allowed:
            self.until[backend] = now + self.cooldown
            self.cooling = True
