"""Real HTTP servers on the loopback interface that take their time, and a client for them."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

Latency = Callable[[], float]  # seconds that the next request takes

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
_REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
_Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass
class Server:
    """An HTTP server that answers each request after `latency()` seconds."""

    name: str
    latency: Latency
    port: int = 0
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        """Where it is to be found."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Listen on a free port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and drop what is still being served."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n")
                await asyncio.sleep(self.latency())
                writer.write(_ANSWER)
                await writer.drain()
        except (asyncio.CancelledError, asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


class Client:
    """Sends requests over connections that it keeps open and uses again."""

    def __init__(self) -> None:
        self._idle: dict[int, list[_Connection]] = {}
        self._all: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> Self:
        """Nothing is opened yet."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close all connections."""
        for writer in self._all:
            writer.close()
        closing = (writer.wait_closed() for writer in self._all)
        await asyncio.gather(*closing, return_exceptions=True)

    async def get(self, server: Server) -> bytes:
        """The body of the answer of `server`."""
        idle = self._idle.setdefault(server.port, [])
        if idle:
            reader, writer = idle.pop()
        else:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            self._all.append(writer)
        writer.write(_REQUEST)
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        body = await reader.readexactly(size)
        idle.append((reader, writer))
        return body
