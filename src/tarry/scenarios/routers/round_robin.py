"""Backends in turn."""

from dataclasses import dataclass
from typing import Any

from tarry.scenarios.routers.guards import Guard, NoGuard, OutlierEjection
from tarry.scenarios.routers.protocol import RouterSetting


@dataclass(frozen=True)
class RoundRobin:
    """Every backend in turn; with `ejection` those that Envoy's outlier detection lets in."""

    ejection: bool = False

    def start(self, setting: RouterSetting) -> Any:
        """A fresh router."""
        return _RoundRobin(self, setting)


class _RoundRobin:
    def __init__(self, settings: RoundRobin, setting: RouterSetting) -> None:
        count = setting.backends
        self.turn = setting.rng.randrange(count)  # so that clients do not march in step
        self.guard: Guard = OutlierEjection(count) if settings.ejection else NoGuard(count)

    def choose(self, request: int, now: float) -> int:
        """See `RunningRouter`."""
        among = self.guard.available(now)
        self.turn += 1
        return among[self.turn % len(among)]

    def answered(self, request: int, backend: int, latency: float, now: float) -> None:
        """See `RunningRouter`."""
        self.guard.good(backend)

    def failed(self, request: int, backend: int, latency: float, now: float) -> None:
        """See `RunningRouter`."""
        self.guard.bad(backend, now)
