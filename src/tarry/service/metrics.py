"""Numbers for Prometheus: requests by operation and status, times, and the counts of each agent."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from tarry.service.agents import Agents

EDGES = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
STATES = ("asked", "returned", "pending", "closed", "cancelled", "late", "failed")
LEASED = ("vanished", "void")


class Times:
    """How long the requests of an operation took."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(EDGES) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        """One more."""
        place = 0
        for edge in EDGES:
            if seconds <= edge:
                break
            place += 1
        self.counts[place] += 1
        self.total += seconds


class Metrics:
    """Counted on the event loop, which needs no lock; put into words when somebody asks."""

    def __init__(self, agents: "Agents") -> None:
        self._agents = agents
        self._requests: dict[tuple[str, int], int] = {}
        self._times: dict[str, Times] = {}
        self._process = ProcessCollector(registry=None)

    def note(self, operation: str, status: int, seconds: float) -> None:
        """A request was answered."""
        place = operation, status
        self._requests[place] = self._requests.get(place, 0) + 1
        times = self._times.get(operation)
        if times is None:
            times = self._times[operation] = Times()
        times.add(seconds)

    def text(self, is_for: Callable[[str], bool] = lambda _: True) -> bytes:
        """All of it as Prometheus reads it, with those agents that `is_for` lets through."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(Collected(self, is_for))
        registry.register(self._process)
        return generate_latest(registry)

    def of_requests(self) -> Iterator[Metric]:
        """Of this process."""
        requests = CounterMetricFamily(
            "tarry_requests", "Requests answered.", labels=["operation", "status"]
        )
        for (operation, status), count in list(self._requests.items()):
            requests.add_metric([operation, str(status)], count)
        yield requests
        times = HistogramMetricFamily(
            "tarry_request_seconds", "Time until a request was answered.", labels=["operation"]
        )
        for operation, one in list(self._times.items()):
            so_far, buckets = 0, []
            for edge, count in zip([*map(str, EDGES), "+Inf"], one.counts, strict=True):
                so_far += count
                buckets.append((edge, so_far))
            times.add_metric([operation], buckets, one.total)
        yield times

    def of_agents(self, is_for: Callable[[str], bool]) -> Iterator[Metric]:
        """Of each agent."""
        plays = GaugeMetricFamily(
            "tarry_plays", "Plays by where they stand.", labels=["agent", "state"]
        )
        odd = GaugeMetricFamily(
            "tarry_odd", "What was not normal since the agent was opened.", labels=["agent", "what"]
        )
        away = GaugeMetricFamily(
            "tarry_store_away", "1 while the store of an agent cannot be written.", labels=["agent"]
        )
        for name, served in list(self._agents.open.items()):
            if not is_for(name):
                continue
            counts = served.agent.counts
            for state in (*STATES, *LEASED):
                plays.add_metric([name, state], getattr(counts, state))
            for what, count in counts.odd._asdict().items():
                odd.add_metric([name, what], count)
            away.add_metric([name], int(bool(served.agent.trouble)))
        yield plays
        yield odd
        yield away


class Collected(Collector):
    """What one caller may see."""

    def __init__(self, metrics: Metrics, is_for: Callable[[str], bool]) -> None:
        self._metrics = metrics
        self._is_for = is_for

    def collect(self) -> Iterable[Metric]:
        """What this process knows."""
        yield from self._metrics.of_requests()
        yield from self._metrics.of_agents(self._is_for)
