"""The client in event loops, of asyncio and of trio."""

import asyncio
import contextlib
import gc
import threading
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from tests.service.serving import FRA, Running
from tests.service.ways import Held, Ports, comes

import tarry
from tarry.errors import LiveError
from tarry.live import Told
from tarry.service.client.connection import Connection

LOOPS = ["asyncio", "trio"]


@pytest.mark.parametrize("loop", LOOPS)
def test_a_task_does_not_wait_for_the_service(
    here: Running,
    connection: Connection,
    away: str,
    loop: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A cancelled task leaves its block at once, and one that fails soon."""
    agent = connection.agent("left", **FRA)

    async def failing() -> None:
        async with agent.play():
            connection.address = away
            raise ValueError("mine")

    async def main() -> None:
        with anyio.CancelScope() as scope:
            async with agent.play():
                connection.address = away
                begun = time.monotonic()
                scope.cancel()
                await anyio.sleep(20)
        assert time.monotonic() - begun < 1.5
        connection.address = here.address
        begun = time.monotonic()
        with pytest.raises(ValueError, match="mine"):
            await failing()
        assert time.monotonic() - begun < 4

    anyio.run(main, backend=loop)
    assert comes(lambda: caplog.text.count("was not taken by its service") == 2)
    assert comes(lambda: not any(each.name == "tarry-later" for each in threading.enumerate()))


@pytest.mark.parametrize("loop", LOOPS)
def test_a_cancelled_block_is_told(here: Running, loop: str) -> None:
    """Where the service is well, it hears of blocks that were cancelled, and of those that fail."""
    with tarry.connect(here.address) as connection:
        agent = connection.agent(f"cancelled on {loop}", **FRA)

        async def main() -> None:
            with anyio.CancelScope() as scope:
                async with agent.play():
                    scope.cancel()
                    await anyio.sleep(20)
            with anyio.CancelScope() as scope:
                async with agent.play() as play:
                    play.tell(0.1)
                    scope.cancel()
                    await anyio.sleep(20)
            with pytest.raises(KeyError):
                async with agent.play():
                    raise KeyError("mine")

        anyio.run(main, backend=loop)
        assert comes(lambda: agent.counts == (3, 2, 0, 0, 1, 0, 1))


@pytest.mark.parametrize("loop", LOOPS)
def test_a_block_that_is_cut_at_its_end(here: Running, loop: str) -> None:
    """What a block is about to tell is told, though its task is cancelled meanwhile."""
    way = Held(here.port)
    with tarry.connect(here.address) as straight, tarry.connect(here.address) as connection:
        agent = connection.agent(f"cut on {loop}", **FRA)
        shut = f"http://127.0.0.1:{way.port}"

        async def block() -> None:
            async with agent.play():
                connection.address = shut

        async def main() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(block)
                assert await anyio.to_thread.run_sync(way.arrived.wait, 10)
                group.cancel_scope.cancel()
            connection.address = here.address

        anyio.run(main, backend=loop)
        way.free.set()
        assert comes(lambda: straight.agent(agent.name).counts[:3] == (1, 1, 0))
    way.close()


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("key", [None, "mine"])
def test_a_cancelled_ask_leaves_no_play(here: Running, loop: str, key: str | None) -> None:
    """Its play is cancelled, unless it has a key with which it can be asked for again."""
    way = Held(here.port)
    name = f"given up on {loop}, {key}"
    with tarry.connect(here.address) as straight, tarry.connect(here.address) as connection:
        agent = connection.agent(name, **FRA)
        connection.address = f"http://127.0.0.1:{way.port}"

        async def main() -> None:
            async with anyio.create_task_group() as group:

                async def ask() -> None:
                    await agent.ask_async(key=key)

                group.start_soon(ask)
                assert await anyio.to_thread.run_sync(way.arrived.wait, 10)
                group.cancel_scope.cancel()
            way.free.set()

        anyio.run(main, backend=loop)
        expected = (1, 0, 0, 0, 1, 0, 0) if key is None else (1, 0, 1, 0, 0, 0, 0)
        there = straight.agent(name)
        assert comes(lambda: there.counts == expected)
    way.close()


def test_an_ask_that_was_not_sent_makes_no_play(here: Running) -> None:
    """Who is cancelled before there was a free connection has asked nothing."""
    way = Held(here.port)
    with tarry.connect(here.address) as straight, tarry.connect(here.address) as connection:
        agent = connection.agent("crowd", **FRA)
        connection.address = f"http://127.0.0.1:{way.port}"

        async def main() -> None:
            tasks = [asyncio.ensure_future(agent.ask_async()) for _ in range(100)]
            there = straight.agent("crowd")
            assert await asyncio.to_thread(comes, lambda: there.counts.asked == 64)
            for task in tasks:
                task.cancel()
            way.free.set()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run(main())
        there = straight.agent("crowd")
        assert comes(lambda: there.counts == (64, 0, 0, 0, 64, 0, 0))
    way.close()


@pytest.mark.parametrize("loop", LOOPS)
def test_many_tasks_share_some_connections(ports: Ports, loop: str) -> None:
    """Hundreds of calls at once wait for each other, not for as many connections."""
    connection = tarry.connect(ports.address)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(300):
                group.start_soon(connection.call_async, "GET", "/v1/agents")

    anyio.run(main, backend=loop)
    assert 1 < len(ports.seen) <= 64


@pytest.mark.parametrize("loop", LOOPS)
def test_event_loops_leave_no_sockets(connection: Connection, loop: str) -> None:
    """When a loop has ended, its connections are closed."""
    agent = connection.agent("loops", **FRA)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(agent.ask_async)

    def ours() -> int:
        found = 0
        for link in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(OSError):  # it is closed meanwhile
                found += str(link.readlink()).startswith("socket")
        return found

    anyio.run(main, backend=loop)
    before = ours()
    for _ in range(10):
        anyio.run(main, backend=loop)
    assert comes(lambda: ours() <= before + 3)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_loops_that_end_badly_are_forgotten(connection: Connection) -> None:
    """A loop that did not close its generators is let go of when the next one comes."""
    for _ in range(5):
        loop = asyncio.new_event_loop()
        loop.run_until_complete(connection.call_async("GET", "/v1/agents"))
        loop.close()
    assert len(connection._clients._lanes) == 1
    connection._clients._lanes.clear()
    gc.collect()  # here, where its warning is expected


@pytest.mark.parametrize("loop", LOOPS)
def test_all_verbs_on_either_loop(connection: Connection, loop: str) -> None:
    """Ask, tell, fail, cancel, alive and blocks work on asyncio and on trio."""
    agent = connection.agent(f"verbs on {loop}", **FRA)
    leased = connection.agent(f"leased on {loop}", **FRA, lease=1.0)

    async def main() -> None:
        async with connection:
            assert await agent.tell_async(await agent.ask_async()) is Told.RETURNED
            assert await agent.fail_async(await agent.ask_async()) is Told.RETURNED
            assert await agent.cancel_async(await agent.ask_async()) is True
            assert await leased.alive_async(await leased.ask_async(), 0.5) is True
            async with agent.play() as play:
                assert play in ("fra", "ams")

    anyio.run(main, backend=loop)
    assert agent.counts == (4, 3, 0, 0, 1, 0, 1)


def test_without_an_event_loop(connection: Connection) -> None:
    """A coroutine that no event loop runs is refused."""
    call: Awaitable[Any] = connection.call_async("GET", "/v1/agents")
    with pytest.raises(LiveError, match="No event loop of asyncio or trio runs here"):
        call.__await__().send(None)
