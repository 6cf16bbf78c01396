"""`tarry demo routes --workers 4`: the same with several processes that share one agent.

The servers are in this process, and so is a PostgreSQL server's owner; the requests are sent by
processes of their own, each with a client of the agent. This process only looks on.
"""

import asyncio
import multiprocessing
import time
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from tarry.demo.database import QUICK, Database
from tarry.demo.routes import (
    BEST,
    MAX_DELAY,
    REFRESH,
    SLOWER,
    Demo,
    DemoResult,
    Stream,
    picture,
)
from tarry.demo.servers import Client, Server
from tarry.live.agent import Agent

NAME = "demo"


class SharedDemo(Demo):
    """One run with several processes."""

    def __init__(self, workers: int, *told: Any) -> None:
        super().__init__(*told)
        self.agent.close()
        self.rate = told[2]
        self.count = workers
        self.streams = [Stream() for _ in range(workers)]
        self.horizon = told[-1]

    async def run(self, show: bool) -> DemoResult:
        """All of it."""
        with Database(QUICK) as database:
            given = {
                "arms": self.names,
                "payoff": "cost",
                "max_delay": MAX_DELAY,
                "path": database.url,
                "name": NAME,
                "horizon": max(self.horizon, 2),
            }
            self.agent = Agent(self.agent.policy, **given)
            for server in self.servers:
                await server.start()
            try:
                await self._watch(given, show)
            finally:
                for server in self.servers:
                    await server.stop()
                self.agent.close()
            return self.result()

    def result(self) -> DemoResult:
        """What was measured so far, by whom."""
        found = super().result()
        return DemoResult(
            found.names,
            found.agent,
            found.round_robin,
            found.change_at,
            found.duration,
            found.explanation,
            tuple(self.streams),
        )

    async def _watch(self, given: dict[str, Any], show: bool) -> None:
        """Start the processes, and hear what they did."""
        spawn = multiprocessing.get_context("spawn")
        ports = [server.port for server in self.servers]
        pipes: list[Connection] = []
        processes = []
        for gaps in np.array_split(self.gaps * self.count, self.count):
            mine, theirs = spawn.Pipe()
            told = theirs, self.agent.policy, given, ports, gaps.tolist(), self.seconds
            process = spawn.Process(target=send_requests, args=told, daemon=True)
            process.start()
            pipes.append(mine)
            processes.append(process)
        for pipe in pipes:
            await asyncio.to_thread(pipe.recv)  # it is ready
        self.begin = time.monotonic()
        for pipe in pipes:
            pipe.send(self.begin)
        with picture(self, show) as draw:
            while any(process.is_alive() for process in processes):
                await asyncio.sleep(REFRESH)
                self._hear(pipes)
                if self.change and self.change_at is None and self._half():
                    self.slow[BEST] = SLOWER
                    self.change_at = time.monotonic() - self.begin
                draw()
            self._hear(pipes)
            draw()

    def _half(self) -> bool:
        return self.agent.counts.asked >= self.requests // 2

    def _hear(self, pipes: list[Connection]) -> None:
        """Take in what the processes have said so far."""
        for stream, pipe in zip(self.streams, pipes, strict=True):
            try:
                while pipe.poll():
                    by_agent, *what = pipe.recv()
                    (self.chosen if by_agent else self.turns).add(*what)
                    if by_agent:
                        stream.add(*what)
            except EOFError:
                continue


def send_requests(
    pipe: Connection,
    policy: Any,
    given: dict[str, Any],
    ports: list[int],
    gaps: list[float],
    seconds: float,
) -> None:
    """What a process does: requests at random times, by the agent and in turn."""
    with Agent(policy, **given) as agent:
        pipe.send("ready")
        asyncio.run(_send(pipe, agent, ports, gaps, seconds))
    pipe.close()


async def _send(
    pipe: Connection, agent: Agent, ports: list[int], gaps: list[float], seconds: float
) -> None:
    begin: float = pipe.recv()
    servers = [Server(str(port), float, port) for port in ports]
    names = list(agent.arms)

    async def by_agent(client: Client) -> None:
        now = time.monotonic()
        async with agent.play() as arm:
            place = names.index(arm)
            sent = time.monotonic()
            await client.get(servers[place])
            took = time.monotonic() - sent
        pipe.send((True, now - begin, place, took))

    async def in_turn(client: Client, place: int) -> None:
        now = time.monotonic()
        await client.get(servers[place])
        pipe.send((False, now - begin, place, time.monotonic() - now))

    tasks = []
    due = begin
    async with Client() as client:
        for number, gap in enumerate(gaps):
            due += gap
            await asyncio.sleep(max(due - time.monotonic(), 0.0))
            if time.monotonic() - begin > seconds:
                break
            tasks.append(asyncio.create_task(by_agent(client)))
            tasks.append(asyncio.create_task(in_turn(client, number % len(ports))))
        await asyncio.gather(*tasks)
