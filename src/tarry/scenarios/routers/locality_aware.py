"""Locality-aware load balancing (LALB) of brpc."""

from collections import deque
from dataclasses import dataclass
from typing import Any

from tarry.scenarios.routers.protocol import RouterSetting

QUEUE = 128  # answers that count
SCALE = (2**63 - 1) // 72_000_000 // 127  # of a weight, per answer a second and microsecond
LEAST = 1000.0  # weight


@dataclass(frozen=True)
class LocalityAware:
    """Backends at random, weighted by throughput over latency.

    Of the last 128 answers of a backend, from the one at time t_1 to the latest at t_n,

        qps = (n - 1)/(t_n - t_1), 1 if less, and 1 until there are 128 or a second has passed
        weight = SCALE qps / (mean latency of the last n - 1, in microseconds)

    When the requests out are old on average, the weight is less, at the moment of choosing and of
    an answer: if delay = now - mean start >= ratio * latency, it is multiplied by
    ratio * latency / delay. If that makes it too small for the number that was drawn, another one
    is drawn. A failure adds the timeout to the latest latency and moves its time to now, so that
    it makes latency larger and throughput smaller. No weight is below LEAST.

    Source: brpc's locality_aware_load_balancer.cpp and .h with their flags
    (punish_inflight_ratio = `ratio` = 1.5, min_weight = 1000), without retries, for which a failure
    counts with the timeout.
    """

    ratio: float = 1.5

    def start(self, setting: RouterSetting) -> Any:
        """A fresh router."""
        return _LocalityAware(self, setting)


class Node:
    """What is known of one backend; times in seconds, sums of latencies as they add up."""

    def __init__(self, ratio: float) -> None:
        self.ratio = ratio
        self.base = self.weight = float(SCALE)
        self.begin_sum = 0.0
        self.begin_count = 0
        self.latency = 0.0
        self.answers: deque[list[float]] = deque(maxlen=QUEUE)  # sum of latencies so far, time

    def renew(self, now: float) -> None:
        """The weight, less if what is out is old."""
        weight = self.base
        if self.begin_count > 0:
            delay = now - self.begin_sum / self.begin_count
            limit = self.latency * self.ratio
            if delay >= limit and self.latency > 0.0:
                weight = weight * limit / delay
        self.weight = max(weight, LEAST)

    def returned(self, started: float, now: float, timeout: float | None) -> None:
        """An answer; with `timeout`, a failure that counts so much."""
        self.begin_sum -= started
        self.begin_count -= 1
        answers = self.answers
        latency = now - started if timeout is None else timeout
        if timeout is not None and answers:
            answers[-1][0] += latency
            answers[-1][1] = now
        else:
            answers.append([latency + (answers[-1][0] if answers else 0.0), now])
        (first_sum, first), (last_sum, _) = answers[0], answers[-1]
        count = len(answers)
        qps = 1.0
        if now > first and count > 1:
            if count == QUEUE or now >= first + 1.0:
                qps = max((count - 1) / (now - first), 1.0)
            self.latency = (last_sum - first_sum) / (count - 1)
        elif count == 1:
            self.latency = last_sum
        else:
            return
        if self.latency > 0.0:
            self.base = SCALE * qps / (self.latency * 1e6)
            self.renew(now)


class _LocalityAware:
    def __init__(self, settings: LocalityAware, setting: RouterSetting) -> None:
        self.nodes = [Node(settings.ratio) for _ in range(setting.backends)]
        self.random = setting.rng.random
        self.timeout = setting.timeout

    def choose(self, request: int, now: float) -> int:
        """See `RunningRouter`."""
        nodes = self.nodes
        place = 0
        for _ in range(len(nodes)):
            dice = self.random() * sum([node.weight for node in nodes])
            place = 0
            while place < len(nodes) - 1 and dice >= nodes[place].weight:
                dice -= nodes[place].weight
                place += 1
            node = nodes[place]
            node.renew(now)
            if node.weight >= dice:
                break
        node = nodes[place]
        node.begin_sum += now
        node.begin_count += 1
        return place

    def answered(self, request: int, backend: int, latency: float, now: float) -> None:
        """See `RunningRouter`."""
        self.nodes[backend].returned(now - latency, now, None)

    def failed(self, request: int, backend: int, latency: float, now: float) -> None:
        """See `RunningRouter`."""
        self.nodes[backend].returned(now - latency, now, self.timeout)
