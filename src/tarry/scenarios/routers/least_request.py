"""Envoy's least request balancer."""

from dataclasses import dataclass
from typing import Any

from tarry.scenarios.routers.guards import Guard, NoGuard, OutlierEjection
from tarry.scenarios.routers.protocol import RouterSetting


@dataclass(frozen=True)
class LeastRequest:
    """Of two backends drawn at random the one with fewer requests out, the first if equal.

    Source: Envoy's LEAST_REQUEST with equal weights and its default of two choices, with its
    outlier detection (`ejection=True`). Envoy may draw the same backend twice, and then sends even
    where everything hangs; two different ones (`distinct=True`) do better.
    """

    ejection: bool = True
    distinct: bool = True

    def start(self, setting: RouterSetting) -> Any:
        """A fresh router."""
        return _LeastRequest(self, setting)


class _LeastRequest:
    def __init__(self, settings: LeastRequest, setting: RouterSetting) -> None:
        count = setting.backends
        self.random = setting.rng.random
        self.distinct = settings.distinct
        self.out = [0] * count
        self.guard: Guard = OutlierEjection(count) if settings.ejection else NoGuard(count)

    def choose(self, request: int, now: float) -> int:
        """See `RunningRouter`."""
        among = self.guard.available(now)
        size = len(among)
        one, two = int(self.random() * size), int(self.random() * size)
        if self.distinct and size > 1:
            two = (one + 1 + int(self.random() * (size - 1))) % size
        first, second = among[one], among[two]
        best = second if self.out[second] < self.out[first] else first
        self.out[best] += 1
        return best

    def answered(self, request: int, backend: int, latency: float, now: float) -> None:
        """See `RunningRouter`."""
        self.out[backend] -= 1
        self.guard.good(backend)

    def failed(self, request: int, backend: int, latency: float, now: float) -> None:
        """See `RunningRouter`."""
        self.out[backend] -= 1
        self.guard.bad(backend, now)
