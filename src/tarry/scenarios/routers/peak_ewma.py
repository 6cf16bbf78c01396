"""Peak EWMA of Finagle and linkerd."""

import math
from dataclasses import dataclass
from typing import Any

from tarry.scenarios.routers.guards import FailureAccrual, Guard, NoGuard
from tarry.scenarios.routers.protocol import RouterSetting

PENALTY = float((2**63 - 1) >> 16) * 1e-9  # seconds: what a backend never heard of costs when busy


@dataclass(frozen=True)
class PeakEWMA:
    """The backend with the least cost * (requests out + 1), of two drawn at random or of all.

    The cost of a backend jumps up to a round trip above it, and else fades with `decay` seconds:

        w = exp(-(now - stamp)/decay);   cost = rtt if rtt > cost else w cost + (1 - w) rtt

    Looking at the cost counts as a round trip of 0 and moves the stamp as well, so that a backend
    left alone becomes attractive again. One never heard of costs nothing until a request is out
    there, and then more than any other.

    Source: Finagle's PeakEwma.scala, with its decay of 10 s, its choice of two, and its failure
    accrual (`accrual=True`), without which a backend that fails at once looks quick.
    """

    decay: float = 10.0
    pick_two: bool = True
    accrual: bool = True

    def start(self, setting: RouterSetting) -> Any:
        """A fresh router."""
        return _PeakEWMA(self, setting)


class _PeakEWMA:
    def __init__(self, settings: PeakEWMA, setting: RouterSetting) -> None:
        count = setting.backends
        self.decay = settings.decay
        self.pick_two = settings.pick_two
        self.rng = setting.rng
        self.cost = [0.0] * count
        self.stamp = [0.0] * count
        self.out = [0] * count
        self.guard: Guard = (
            FailureAccrual(count, setting.rng) if settings.accrual else NoGuard(count)
        )

    def observe(self, backend: int, rtt: float, now: float) -> None:
        """A round trip that took `rtt`, or with 0 a look."""
        cost = self.cost[backend]
        if rtt > cost:
            self.cost[backend] = rtt
        else:
            w = math.exp((self.stamp[backend] - now) / self.decay)
            self.cost[backend] = w * cost + (1.0 - w) * rtt
        self.stamp[backend] = now

    def load(self, backend: int, now: float) -> float:
        """What the next request there is taken to cost."""
        self.observe(backend, 0.0, now)
        cost, out = self.cost[backend], self.out[backend]
        return PENALTY + out if cost == 0.0 and out else cost * (out + 1)

    def choose(self, request: int, now: float) -> int:
        """See `RunningRouter`."""
        among = self.guard.available(now)
        if self.pick_two and len(among) > 2:  # of two
            among = self.rng.sample(among, 2)
        load = self.load
        best, least = -1, math.inf
        for k in among:
            here = load(k, now)
            if here < least:
                best, least = k, here
        self.out[best] += 1
        self.guard.sent(best)
        return best

    def answered(self, request: int, backend: int, latency: float, now: float) -> None:
        """See `RunningRouter`."""
        self.out[backend] -= 1
        self.observe(backend, latency, now)
        self.guard.good(backend)

    def failed(self, request: int, backend: int, latency: float, now: float) -> None:
        """See `RunningRouter`."""
        self.out[backend] -= 1
        self.observe(backend, latency, now)
        self.guard.bad(backend, now)
