"""The clients of a connection in one process: one for its threads, one for each event loop."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import httpx

from tarry.errors import LiveError

MOST = 64  # requests of one event loop that are on their way at once


class Lane:
    """What one event loop has: clients of one connection each, used in turn.

    A thousand connections begun at once would all be given up, and what a request costs in one
    client grows with the square of its connections.
    """

    def __init__(self, told: dict[str, Any]) -> None:
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
        self._told = {**told, "limits": limits}
        self._gate = anyio.Semaphore(MOST, fast_acquire=True)
        self._free: list[httpx.AsyncClient] = []  # the latest used is used next
        self.keeper = self._keep()  # closes them, at the latest when the loop ends
        self.is_closed = False

    @asynccontextmanager
    async def client(self) -> AsyncIterator[httpx.AsyncClient]:
        """One that nobody else uses in the block."""
        async with self._gate:
            client = self._free.pop() if self._free else httpx.AsyncClient(**self._told)
            try:
                yield client
            finally:
                if self.is_closed:
                    await client.aclose()
                else:
                    self._free.append(client)

    async def _keep(self) -> AsyncGenerator[None, None]:
        """Generators are what event loops close before they end, clients are not."""
        try:
            yield
        finally:
            self.is_closed = True
            while self._free:
                await self._free.pop().aclose()


class Counted:
    """A client that is closed when it is to be closed and nobody uses it."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.users = 0
        self.is_over = False


class Clients:
    """All clients of one process; after a fork, the child needs others.

    Two processes with one socket get each other's answers.
    """

    def __init__(self, told: dict[str, Any]) -> None:
        self.process = os.getpid()
        self._told = {**told, "verify": httpx.create_ssl_context()}  # which takes a while
        self._lock = threading.Lock()
        self._shared: Counted | None = None
        self._lanes: dict[Any, Lane] = {}

    @contextmanager
    def of_threads(self) -> Iterator[httpx.Client]:
        """The client of all threads, which lasts as long as the block."""
        with self._lock:
            shared = self._shared = self._shared or Counted(self.another())
            shared.users += 1
        try:
            yield shared.client
        finally:
            with self._lock:
                shared.users -= 1
                is_last = shared.is_over and not shared.users
            if is_last:
                shared.client.close()

    def another(self) -> httpx.Client:
        """A client of its own, for who closes it."""
        return httpx.Client(**self._told)

    async def of_loop(self) -> Lane:
        """What the running event loop has."""
        loop = running_loop()
        lane = self._lanes.get(loop)
        if lane is None or lane.is_closed:
            for other, its in list(self._lanes.items()):
                if its.is_closed or (is_asyncio(other) and other.is_closed()):
                    self._lanes.pop(other, None)
            lane = self._lanes[loop] = Lane(self._told)
            await anext(lane.keeper)
        return lane

    def close(self) -> None:
        """Let go of what threads have; those that wait for an answer get it."""
        with self._lock:
            shared, self._shared = self._shared, None
            if shared is None:
                return
            shared.is_over = True
            is_last = not shared.users
        if is_last:
            shared.client.close()

    async def close_async(self) -> None:
        """Let go of what the running event loop has."""
        lane = self._lanes.pop(running_loop(), None)
        if lane is not None:
            await lane.keeper.aclose()


def is_asyncio(loop: Any) -> bool:
    """Whether it is one of asyncio, which may be closed without closing its generators."""
    return isinstance(loop, asyncio.AbstractEventLoop)


def running_loop() -> Any:
    """What stands for the event loop that runs, of asyncio or trio."""
    trio = sys.modules.get("trio")
    if trio is not None:
        try:
            return trio.lowlevel.current_trio_token()
        except RuntimeError:
            pass  # it is loaded, and does not run here
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise LiveError(
            "No event loop of asyncio or trio runs here, which the async verbs need; use the verbs "
            "without _async."
        ) from None
