"""The simulator: requests in virtual time, one event after the other."""

import heapq
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

from tarry.arrays import FloatArray
from tarry.checks import as_whole, check_whole, shortened
from tarry.errors import InputError, PolicyError
from tarry.policies.label import policy_label
from tarry.policies.protocol import Policy
from tarry.scenarios.arrivals import arrival_times
from tarry.scenarios.by_agent import ByAgent
from tarry.scenarios.routers.protocol import RouterSetting, RouterSettings
from tarry.scenarios.scenario import Scenario
from tarry.scenarios.timeline import NEVER, Timeline, broken_windows
from tarry.scenarios.traffic import ANSWERED, FAILED, TIMED_OUT, Traffic

BLOCK = 1 << 15  # requests whose luck is drawn at a time


def simulate(scenario: Scenario, chooser: Any, seed: int = 0) -> Traffic:
    """Send the requests of a scenario where `chooser` says, and record what comes of them.

    Args:
        scenario: What happens.
        chooser: A policy of tarry or of your own, or a router (an object with `start`).
        seed: For arrivals, latencies and the chooser. With one seed all choosers meet the same
            arrivals, and the same latency of request n at backend k.
    """
    if not isinstance(scenario, Scenario):
        raise InputError(f"The scenario is {shortened(scenario)}; give tarry.scenarios.Scenario.")
    seed = check_whole("seed", seed, 0, 2**62)
    return _Run(scenario, seed).play(chooser)


class _Run:
    """A scenario with its luck."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario, self.seed = scenario, seed
        when, self.luck, whose = (
            np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(part,)))
            for part in range(3)
        )
        self.times = arrival_times(scenario, when)
        self.clients: list[int] = []
        if scenario.clients > 1:
            self.clients = whose.integers(scenario.clients, size=len(self.times)).tolist()
        self.lines = [Timeline(scenario, k) for k in range(len(scenario.pieces))]
        # When each server of a backend that queues is free again; shared by all clients.
        self.free = [[0.0] * (b.servers or 0) for b in scenario.pieces]
        self.hangs = [line.next_hang(np.zeros(1))[0] for line in self.lines]

    def play(self, chooser: Any) -> Traffic:
        """All requests."""
        routers = [self.router(chooser, client) for client in range(self.scenario.clients)]
        size = len(self.times)
        backends = np.zeros(size, np.int32)
        costs = np.zeros(size)
        outcomes = np.zeros(size, np.int8)
        best = np.zeros(size, np.int32)
        out: list[Any] = []  # what is to come back: time, request, backend, outcome
        for first in range(0, size, BLOCK):
            last = min(first + BLOCK, size)
            parts = self.block(routers, first, last, out)
            backends[first:last], costs[first:last], outcomes[first:last] = parts
            table = [line.cost(self.times[first:last]) for line in self.lines]
            best[first:last] = np.argmin(table, axis=0)
        costs[outcomes != ANSWERED] = self.scenario.timeout
        return Traffic(
            self.scenario,
            chooser if isinstance(chooser, str) else label_of(chooser),
            self.seed,
            self.times,
            backends,
            costs,
            outcomes,
            best,
            tuple(broken_windows(self.scenario, self.lines)),
        )

    def block(
        self, routers: Sequence[Any], first: int, last: int, out: list[Any]
    ) -> tuple[list[int], list[float], list[int]]:
        """Requests `first` to `last`, and what comes back between them; what came of each."""
        times = self.times[first:last]
        u = self.luck.random((len(self.lines), last - first))
        latencies, fails, hangs = self.drawn(times, u)
        free, timeout, clients = self.free, self.scenario.timeout, self.clients
        one = routers[0] if len(routers) == 1 else None
        size = len(self.lines)
        chosen, costs, outcomes = [], [], []
        pop, push = heapq.heappop, heapq.heappush
        for place, now in enumerate(times.tolist()):
            while out and out[0][0] <= now:
                then, request, backend, outcome, latency = pop(out)
                router = one or routers[clients[request]]
                if outcome == ANSWERED:
                    router.answered(request, backend, latency, then)
                else:
                    router.failed(request, backend, latency, then)
            request = first + place
            router = one or routers[clients[request]]
            backend = router.choose(request, now)
            if type(backend) is not int or not 0 <= backend < size:
                backend = chosen_backend(router, backend, size)
            latency = latencies[backend][place]
            outcome = FAILED if fails[backend][place] else ANSWERED
            if free[backend] and outcome == ANSWERED:
                latency = self.queued(backend, now, latency)
            if now + latency > hangs[backend][place] or latency >= timeout:
                latency, outcome = timeout, TIMED_OUT
            push(out, (now + latency, request, backend, outcome, latency))
            chosen.append(backend)
            costs.append(latency)
            outcomes.append(outcome)
        return chosen, costs, outcomes

    def drawn(self, times: FloatArray, u: FloatArray) -> tuple[list[Any], list[Any], list[Any]]:
        """By backend: latencies of these requests, which of them fail, and the next hang."""
        drawn = [line.latencies(times, row) for line, row in zip(self.lines, u, strict=True)]
        return (
            [latency.tolist() for latency, _ in drawn],
            [fails.tolist() for _, fails in drawn],
            [line.next_hang(times).tolist() for line in self.lines],
        )

    def queued(self, backend: int, now: float, service: float) -> float:
        """The latency of a request that has to wait until one of the servers is free."""
        free = self.free[backend]
        hang = self.hangs[backend]
        if now >= hang:  # what was queued then is gone, and the servers begin anew
            free[:] = [0.0] * len(free)
            self.hangs[backend] = self.lines[backend].next_hang(np.array([now]))[0]
        if service == NEVER:
            return NEVER
        begin = max(free[0], now)
        heapq.heapreplace(free, begin + service)
        return begin + service - now

    def router(self, chooser: Any, client: int) -> Any:
        """The chooser of one client, ready."""
        scenario = self.scenario
        if isinstance(chooser, Policy) and not isinstance(chooser, type):
            seed = int(
                np.random.SeedSequence(self.seed, spawn_key=(3, client)).generate_state(1)[0]
            )
            expected = max(len(self.times) // scenario.clients, 2)
            return ByAgent(chooser, len(self.lines), scenario.timeout, expected, seed)
        if not isinstance(chooser, RouterSettings) or isinstance(chooser, type):
            raise InputError(
                f"The chooser is {shortened(chooser)}; give a policy such as "
                f"tarry.SurvivalThompson(), or a router, an object with start(setting)."
            )
        rng = Random(f"{self.seed} {client}")  # no secret
        return chooser.start(RouterSetting(len(self.lines), scenario.timeout, rng, self.costs_at()))

    def costs_at(self) -> Callable[[float], list[float]]:
        """What a request would cost at a moment, by backend, queues included."""
        free, lines = self.free, self.lines

        def costs(now: float) -> list[float]:
            return [
                line.cost_at(now) + (max(servers[0] - now, 0.0) if servers else 0.0)
                for line, servers in zip(lines, free, strict=True)
            ]

        return costs


def chosen_backend(router: Any, choice: Any, size: int) -> int:
    """The choice as a number, if it is one."""
    backend = as_whole(choice)
    if backend is None or not 0 <= backend < size:
        raise PolicyError(
            f"{type(router).__name__} chose {shortened(choice)} among {size} backends; `choose` "
            f"returns the number of a backend, from 0 on."
        )
    return backend


def label_of(chooser: Any) -> str:
    """What a chooser is called."""
    return policy_label(chooser) if isinstance(chooser, Policy) else repr(chooser)
