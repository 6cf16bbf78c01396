"""`tarry demo routes`: an agent chooses among real HTTP servers, next to a round robin.

Several servers on the loopback interface answer after random times with different means. Requests
arrive at random; for each, one request goes where the agent says, and one takes turns, so that
round robin and every single server are measured in the same run, at the same time.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.checks import check_whole
from tarry.demo.servers import Client, Server
from tarry.errors import InputError
from tarry.live.agent import Agent
from tarry.live.explain import Explanation
from tarry.policies.change.regime_thompson import RegimeThompson
from tarry.policies.protocol import Policy

MEANS = {"lon": 0.090, "nyc": 0.160, "fra": 0.040, "dub": 0.120, "ams": 0.065}  # seconds
BEST = "fra"
SHAPE = 4.0  # of the Gamma law of the latencies: standard deviation = half the mean
SLOWER = 5.0  # what the best server is multiplied by when it turns slow
MAX_DELAY = 1.0
LATEST = 50  # requests of a process
REFRESH = 0.25  # seconds between two pictures of the table


@dataclass
class Stream:
    """The requests of one way to choose, in the order in which they ended."""

    sent: list[float] = field(default_factory=list)  # seconds since the start
    server: list[int] = field(default_factory=list)
    latency: list[float] = field(default_factory=list)

    def add(self, sent: float, server: int, latency: float) -> None:
        """A request was answered."""
        self.sent.append(sent)
        self.server.append(server)
        self.latency.append(latency)

    @property
    def mean(self) -> float:
        """Mean latency, not a number while there is none."""
        return float(np.mean(self.latency)) if self.latency else float("nan")


@dataclass(frozen=True)
class DemoResult:
    """What a run of the demo measured; times in seconds."""

    names: tuple[str, ...]
    agent: Stream
    round_robin: Stream
    change_at: float | None  # when the best server turned slow
    duration: float
    explanation: Explanation
    workers: tuple[Stream, ...] = ()  # the agent's requests by process, if there are several

    @property
    def server_means(self) -> FloatArray:
        """Mean latency of each server over all requests to it, halves of the run weighted alike.

        The agent sends unevenly over time, so after a change a plain mean would compare servers
        at different times.
        """
        sent = np.concatenate([self.agent.sent, self.round_robin.sent])
        server = np.concatenate([self.agent.server, self.round_robin.server])
        latency = np.concatenate([self.agent.latency, self.round_robin.latency])
        half = sent >= (self.duration / 2 if self.change_at is None else self.change_at)
        means = np.full(len(self.names), np.nan)
        for k in range(len(self.names)):
            halves = [latency[(server == k) & (half == side)] for side in (False, True)]
            found = [times.mean() for times in halves if times.size]
            if found:
                means[k] = np.mean(found)
        return means

    @property
    def best(self) -> str:
        """The server that would have been the best single choice, in hindsight."""
        return self.names[int(np.nanargmin(self.server_means))]

    @property
    def over_best(self) -> float:
        """Mean latency of the agent over that of the best single server, minus 1."""
        return self.agent.mean / float(np.nanmin(self.server_means)) - 1.0

    @property
    def under_round_robin(self) -> float:
        """1 minus mean latency of the agent over that of round robin."""
        return 1.0 - self.agent.mean / self.round_robin.mean

    def rolling(self, stream: Stream, window: int = 50) -> tuple[FloatArray, FloatArray]:
        """Times and mean latencies of `window` requests at a time, in order of sending."""
        order: IntArray = np.argsort(stream.sent, kind="stable")
        size = min(window, len(order))
        total = np.cumsum(np.concatenate([[0.0], np.asarray(stream.latency)[order]]))
        return np.asarray(stream.sent)[order][size - 1 :], (total[size:] - total[:-size]) / size

    def for_figure(self) -> dict[str, Any]:
        """What `tarry.demo.figure.plot_routes` draws."""
        order = np.argsort(self.agent.sent, kind="stable")
        return {
            "lines": {
                "agent": self.rolling(self.agent),
                "round robin": self.rolling(self.round_robin),
            },
            "best": (self.best, float(np.nanmin(self.server_means))),
            "names": self.names,
            "sent": np.asarray(self.agent.sent)[order],
            "servers": np.asarray(self.agent.server)[order],
            "change_at": self.change_at,
        }

    def __str__(self) -> str:
        """What happened, in words."""
        best = np.nanmin(self.server_means) * 1e3
        lines = [f"agent         {self.agent.mean * 1e3:6.1f} ms, mean of {len(self.agent.sent)}"]
        for name, mean, against in (
            ("round robin", self.round_robin.mean * 1e3, -self.under_round_robin),
            (f"only {self.best}", best, self.over_best),
        ):
            lines.append(f"{name:12s}  {mean:6.1f} ms; the agent is at {against:+.0%}")
        if self.change_at is not None:
            lines.append(self.follows())
        lines += self.by_worker()
        return "\n".join(lines)

    def by_worker(self) -> list[str]:
        """What each process did, in words."""
        best = self.names.index(self.best)
        rows = []
        for number, stream in enumerate(self.workers, 1):
            late = stream.server[-LATEST:]
            share = late.count(best) / max(len(late), 1)
            rows.append(
                f"process {number}     {stream.mean * 1e3:6.1f} ms, mean of {len(stream.sent)} "
                f"that it sent itself; {share:.0%} of its last {len(late)} went to {self.best}"
            )
        return rows

    def follows(self) -> str:
        """What came of the change, in words."""
        change = self.change_at or 0.0
        later = [k for s, k in zip(self.agent.sent, self.agent.server, strict=True) if s > change]
        into = later.count(self.names.index(BEST))
        told = (
            f"After {change:.1f} s {BEST} turned {SLOWER:g} times slower; {into} of "
            f"{len(later)} later requests went there"
        )
        row = self.explanation[BEST]
        if row.since is None:
            return f"{told}. This policy assumes a world that stays as it is, so it follows slowly."
        return f"{told}. The agent says: {BEST} is {row.why}."


def demo_routes(
    *,
    change: bool = False,
    requests: int = 1500,
    rate: float = 100.0,
    seconds: float = 60.0,
    seed: int = 0,
    policy: Policy | None = None,
    horizon: int | None = None,
    show: bool = True,
    workers: int = 1,
) -> DemoResult:
    """Start the servers, send the requests, show a live table, and return what was measured.

    Args:
        change: The best server turns slow half-way.
        requests: How many requests go through the agent; as many take turns.
        rate: Requests per second through the agent, at random times.
        seconds: The run ends after this time at the latest.
        seed: For latencies, arrivals and the agent.
        policy: What decides; by default that of an agent, with `change` `tarry.RegimeThompson()`.
        horizon: For policies that need it; `requests` by default.
        show: Whether to show the table in the terminal.
        workers: Processes that send the requests and share one agent, in a PostgreSQL server of
            their own; 1 is this process, with an agent in memory.
    """
    workers = check_whole("number of workers", workers, 1, 64)
    requests = check_whole("number of requests", requests, 2, 1_000_000)
    seed = check_whole("seed", seed, 0)
    if not 0 < rate <= 10_000 or not 0 < seconds <= 86_400:
        raise InputError(
            f"rate is {rate!r} and seconds is {seconds!r}; give a rate up to 10000 per second and "
            f"at most 86400 seconds."
        )
    told = change, requests, rate, seconds, seed, policy, horizon or requests
    if workers > 1:
        from tarry.demo.workers import SharedDemo

        return asyncio.run(SharedDemo(workers, *told).run(show))
    return asyncio.run(Demo(*told).run(show))


class Demo:
    """One run."""

    def __init__(
        self,
        change: bool,
        requests: int,
        rate: float,
        seconds: float,
        seed: int,
        policy: Policy | None,
        horizon: int,
    ) -> None:
        self.change, self.requests, self.seconds = change, requests, seconds
        self.names = tuple(MEANS)
        streams = [
            np.random.default_rng(child)
            for child in np.random.SeedSequence(seed).spawn(len(MEANS) + 1)
        ]
        self.gaps = streams[-1].exponential(1.0 / rate, requests)
        self.slow = dict.fromkeys(self.names, 1.0)
        self.servers = [
            Server(name, self._latency(name, rng))
            for name, rng in zip(self.names, streams[:-1], strict=True)
        ]
        self.agent = Agent(
            RegimeThompson() if policy is None and change else policy,
            arms=self.names,
            payoff="cost",
            max_delay=MAX_DELAY,
            seed=seed,
            horizon=max(horizon, 2),
        )
        self.chosen, self.turns = Stream(), Stream()
        self.change_at: float | None = None
        self.begin = time.monotonic()

    def _latency(self, name: str, rng: np.random.Generator) -> Callable[[], float]:
        scale = MEANS[name] / SHAPE
        return lambda: min(float(rng.gamma(SHAPE, scale)) * self.slow[name], 5.0)

    async def run(self, show: bool) -> DemoResult:
        """All of it."""
        for server in self.servers:
            await server.start()
        self.begin = time.monotonic()
        try:
            async with Client() as client:
                with picture(self, show) as draw:
                    await self._send_all(client, draw)
        finally:
            for server in self.servers:
                await server.stop()
        return self.result()

    def result(self) -> DemoResult:
        """What was measured so far."""
        return DemoResult(
            self.names,
            self.chosen,
            self.turns,
            self.change_at,
            time.monotonic() - self.begin,
            self.agent.explain(),
        )

    async def _send_all(self, client: Client, draw: Callable[[], None]) -> None:
        """Send at random times, and wait for the answers."""
        tasks: set[asyncio.Task[None]] = set()
        try:
            await self._send(client, draw, tasks)
            if tasks:
                await asyncio.wait(tasks, timeout=10 * MAX_DELAY)
            draw()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _send(
        self, client: Client, draw: Callable[[], None], tasks: set[asyncio.Task[None]]
    ) -> None:
        due, drawn = self.begin, self.begin
        for number, gap in enumerate(self.gaps):
            due += gap
            await asyncio.sleep(max(due - time.monotonic(), 0.0))
            if time.monotonic() - self.begin > self.seconds:
                break
            if self.change and number == self.requests // 2:
                self.slow[BEST] = SLOWER
                self.change_at = time.monotonic() - self.begin
            for work in (self._by_agent(client), self._in_turn(client, number % len(self.names))):
                task = asyncio.create_task(work)
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            if time.monotonic() - drawn > REFRESH:
                drawn = time.monotonic()
                draw()

    async def _by_agent(self, client: Client) -> None:
        begin = time.monotonic()
        async with self.agent.play() as arm:
            place = self.names.index(arm)
            await client.get(self.servers[place])
        self.chosen.add(begin - self.begin, place, time.monotonic() - begin)

    async def _in_turn(self, client: Client, place: int) -> None:
        begin = time.monotonic()
        await client.get(self.servers[place])
        self.turns.add(begin - self.begin, place, time.monotonic() - begin)


@contextlib.contextmanager
def picture(demo: Demo, show: bool) -> Iterator[Callable[[], None]]:
    """A function that draws the table anew."""
    if not show:
        yield lambda: None
        return
    from rich.live import Live

    from tarry.demo.screen import demo_table

    with Live(auto_refresh=False) as live:
        yield lambda: live.update(demo_table(demo.result()), refresh=True)
