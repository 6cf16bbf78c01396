"""Waiting for a store without a thread, on asyncio and on trio."""

import asyncio
import contextlib
from typing import Any


async def durable(store: Any, number: int) -> None:
    """Return when fact `number` is durable, or cannot be made so; the event loop goes on."""
    if store.durable >= number:
        return
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        await _durable_on_trio(store, number)
        return
    future: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not future.done():
            future.set_result(None)

    def call() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(wake)

    store.keeper.when_durable(number, call)
    await future


async def _durable_on_trio(store: Any, number: int) -> None:
    import trio

    token = trio.lowlevel.current_trio_token()
    event = trio.Event()

    def call() -> None:
        with contextlib.suppress(trio.RunFinishedError):
            token.run_sync_soon(event.set)

    store.keeper.when_durable(number, call)
    await event.wait()
