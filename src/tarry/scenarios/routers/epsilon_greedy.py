"""The least mean of recent answers, and now and then anybody."""

from collections import deque
from dataclasses import dataclass
from typing import Any

from tarry.scenarios.routers.protocol import RouterSetting


@dataclass(frozen=True)
class EpsilonGreedy:
    """With probability `epsilon` a backend at random, else the least mean of `window` answers.

    Failures and time-outs count as the timeout. A backend without answers comes first. Ties are
    broken at random, so that no backend is spared, or hit, for its number.

    Source: Sutton and Barto, *Reinforcement Learning*, section 2.2, on a window as for problems
    that change.
    """

    epsilon: float = 0.05
    window: int = 10

    def start(self, setting: RouterSetting) -> Any:
        """A fresh router."""
        return _EpsilonGreedy(self, setting)


class _EpsilonGreedy:
    def __init__(self, settings: EpsilonGreedy, setting: RouterSetting) -> None:
        self.epsilon = settings.epsilon
        self.random, self.timeout = setting.rng.random, setting.timeout
        self.latest: list[deque[float]] = [
            deque(maxlen=settings.window) for _ in range(setting.backends)
        ]
        self.mean = [0.0] * setting.backends

    def choose(self, request: int, now: float) -> int:
        """See `RunningRouter`."""
        if self.random() < self.epsilon:
            return int(self.random() * len(self.mean))
        least = min(self.mean)
        if self.mean.count(least) == 1:
            return self.mean.index(least)
        equal = [k for k, mean in enumerate(self.mean) if mean == least]
        return equal[int(self.random() * len(equal))]

    def answered(self, request: int, backend: int, latency: float, now: float) -> None:
        """See `RunningRouter`."""
        latest = self.latest[backend]
        latest.append(latency)
        self.mean[backend] = sum(latest) / len(latest)

    def failed(self, request: int, backend: int, latency: float, now: float) -> None:
        """See `RunningRouter`."""
        self.answered(request, backend, self.timeout, now)
