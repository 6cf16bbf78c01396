"""Whoever knows everything but luck."""

from dataclasses import dataclass
from typing import Any

from tarry.scenarios.routers.protocol import RouterSetting


@dataclass(frozen=True)
class Oracle:
    """The best backend of each moment: the least expected cost by its law at that moment.

    It knows the laws, when they change, and how long each queue will take, but not how long its
    own request will. Where backends queue, always choosing what is best for the next request is
    not quite the best for all.
    """

    def start(self, setting: RouterSetting) -> Any:
        """A fresh router."""
        return _Oracle(setting)


class _Oracle:
    def __init__(self, setting: RouterSetting) -> None:
        self.costs = setting.costs

    def choose(self, request: int, now: float) -> int:
        """See `RunningRouter`."""
        costs = self.costs(now)
        return costs.index(min(costs))

    def answered(self, request: int, backend: int, latency: float, now: float) -> None:
        """See `RunningRouter`."""

    def failed(self, request: int, backend: int, latency: float, now: float) -> None:
        """See `RunningRouter`."""
