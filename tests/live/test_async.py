"""The async verbs on asyncio and on trio: no thread per call, no waiting for disks on the loop."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.lowlevel
from tests.live.cases import store_of

import tarry
from tarry.errors import JournalError
from tarry.live import Agent, Told

RUN: dict[str, Callable[[Callable[[], Awaitable[Any]]], Any]] = {
    "asyncio": lambda main: asyncio.run(main()),  # type: ignore[arg-type]  # a coroutine
    "trio": trio.run,
}


def opened(path: Path | None, **more: Any) -> Agent:
    """An agent with D = 30 s."""
    return Agent(
        tarry.DelayedUCB(),
        arms=["a", "b"],
        payoff="cost",
        max_delay=30.0,
        path=path,
        durability="normal",
        **more,
    )


@pytest.mark.parametrize("library", RUN)
@pytest.mark.parametrize("durable", [False, True])
def test_all_verbs(library: str, durable: bool, tmp_path: Path) -> None:
    """Ask, tell, fail, cancel and blocks; all of it is there afterwards."""
    path = tmp_path / "a.db" if durable else None
    agent = opened(path)

    async def main() -> None:
        assert await agent.tell_async(await agent.ask_async()) is Told.RETURNED
        assert await agent.tell_async(await agent.ask_async(), 0.5) is Told.RETURNED
        assert await agent.fail_async(await agent.ask_async()) is Told.RETURNED
        assert await agent.cancel_async(await agent.ask_async()) is True
        async with agent.play() as play:
            assert play in ("a", "b")
        async with agent.play() as play:
            play.fail()
        async with agent.play() as play:
            play.cancel()

    RUN[library](main)
    assert agent.counts == (7, 5, 0, 0, 2, 0, 2)
    agent.close()
    if path is not None:
        again = Agent(tarry.DelayedUCB(), payoff="cost", max_delay=30.0, path=path)
        assert again.counts == (7, 5, 0, 0, 2, 0, 2)
        again.close()


@pytest.mark.parametrize("library", RUN)
def test_many_tasks_share_one_thread(library: str, tmp_path: Path) -> None:
    """Two hundred plays at once are durable with one more thread, and the loop never waits."""
    agent = opened(tmp_path / "a.db")
    store = store_of(agent)
    slow = store._write
    threads: set[str] = set()
    longest = 0.0

    def write() -> None:
        threads.add(threading.current_thread().name)
        time.sleep(0.02)
        slow()

    store._write = write  # type: ignore[method-assign]  # a slow disk

    async def request() -> None:
        await agent.tell_async(await agent.ask_async())

    async def main() -> None:
        nonlocal longest
        if library == "trio":
            async with trio.open_nursery() as nursery:
                for _ in range(200):
                    nursery.start_soon(request)
                for _ in range(20):
                    before = time.perf_counter()
                    await trio.lowlevel.checkpoint()
                    longest = max(longest, time.perf_counter() - before)
        else:
            tasks = [asyncio.create_task(request()) for _ in range(200)]
            for _ in range(20):
                before = time.perf_counter()
                await asyncio.sleep(0)
                longest = max(longest, time.perf_counter() - before)
            await asyncio.gather(*tasks)

    alive = threading.active_count()
    RUN[library](main)
    assert threads == {"tarry-keeper"}
    assert threading.active_count() <= alive + 1
    assert agent.counts[:3] == (200, 200, 0)
    assert store.durable == 400
    agent.close()


@pytest.mark.parametrize("library", RUN)
@pytest.mark.parametrize("block", [False, True])
def test_cancelled_while_asking(library: str, block: bool, tmp_path: Path) -> None:
    """If nobody waits for the choice any longer, its play is cancelled, not left to reach D."""
    agent = opened(tmp_path / "a.db")
    store = store_of(agent)
    slow = store._write

    def write() -> None:
        time.sleep(0.2)
        slow()

    store._write = write  # type: ignore[method-assign]  # a slow disk

    async def request() -> None:
        if block:
            async with agent.play():
                pass
        else:
            await agent.ask_async()

    async def main() -> None:
        if library == "trio":
            with trio.move_on_after(0.02):
                await request()
        else:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(request(), 0.02)

    RUN[library](main)
    assert agent.counts[:5] == (1, 0, 0, 0, 1)
    agent.close()


@pytest.mark.parametrize("library", RUN)
def test_a_store_that_fails_is_an_error(library: str, tmp_path: Path) -> None:
    """What cannot be made durable is not acknowledged; the play of a failed ask is cancelled."""
    agent = opened(tmp_path / "a.db")
    (tmp_path / "a.db").unlink()

    async def main() -> None:
        with pytest.raises(JournalError, match="cannot be written"):
            await agent.ask_async()

    RUN[library](main)
    assert agent.counts[:5] == (1, 0, 0, 0, 1)
    with pytest.raises(JournalError):
        agent.close()
