"""Room in the connection pool, waited for before a route is chosen.

A request that waits in the pool for a connection says nothing about the route, but its play would
grow old, and be closed at D at last. So it waits here first: the choice is made when there is
room, with the evidence of that moment, and the pool never lets anybody wait.
"""

from queue import Empty, SimpleQueue
from typing import Any

import anyio

ENDLESS = 100_000  # connections: more than a process can have


def room_in(transport: Any) -> int | None:
    """How many requests the pool of `transport` serves at once; None if that is not known.

    One connection of HTTP/2 serves many requests, so that there the number of connections says
    nothing. The packages have no public name for the limit; where it is not found, requests wait
    in the pool, and their time begins when they have a connection.
    """
    pool = getattr(transport, "_pool", None)
    room = getattr(pool, "_max_connections", None)
    if getattr(pool, "_http2", False) or not isinstance(room, int) or room >= ENDLESS:
        return None
    return room


def _patience(request: Any) -> float | None:
    """How long the client lets a request wait for the pool; None is for ever."""
    seconds: float | None = request.extensions.get("timeout", {}).get("pool")
    return seconds


class Gate:
    """For threads. A body may be given up inside the garbage collector, where no lock is safe."""

    def __init__(self, http: Any, room: int | None) -> None:
        self._http = http
        self._limited = room is not None
        self._places: SimpleQueue[None] = SimpleQueue()  # as many as are free
        for _ in range(room or 0):
            self._places.put(None)

    def enter(self, request: Any) -> None:
        """Wait for room, as long as the client's timeout for the pool allows."""
        if not self._limited:
            return
        try:
            self._places.get(timeout=_patience(request))
        except Empty:
            error = self._http.PoolTimeout("No connection of the pool was free.", request=request)
            raise error from None

    def leave(self) -> None:
        """There is room for another one."""
        if self._limited:
            self._places.put(None)


class AsyncGate:
    """For tasks."""

    def __init__(self, http: Any, room: int | None) -> None:
        self._http = http
        self._free = None if room is None else anyio.Semaphore(room, fast_acquire=True)

    async def enter(self, request: Any) -> None:
        """Wait for room, as long as the client's timeout for the pool allows."""
        if self._free is None:
            return
        try:
            with anyio.fail_after(_patience(request)):
                await self._free.acquire()
        except TimeoutError:
            error = self._http.PoolTimeout("No connection of the pool was free.", request=request)
            raise error from None

    def leave(self) -> None:
        """There is room for another one."""
        if self._free is not None:
            self._free.release()
