"""Connections: closed if a request does not come to an end, and refused in words of ours.

The server closes connections that are idle between requests. It waits for ever for the first one,
and for the rest of one that has begun; and it takes heads of any size. Each would let a stranger
use up what the process has of memory and open files.
"""

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tarry.service.problems import MEDIA, problem

LATE = 30.0  # seconds in which a request must be here
LOOK = 5.0  # seconds between looks at who is late
MOST_HEAD = 64 * 1024  # bytes of the address and headers


class Connection(HttpToolsProtocol):
    """One connection; times are by the clock of the event loop."""

    since: float | None = None  # when the request that is not complete began
    in_head = True  # whether its head is not complete
    size = 0  # bytes that have come since its head began

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody is there, and is to say what they want."""
        self.since = self.loop.time()
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """More has come; heads that do not end are cut off before they fill the memory."""
        if self.in_head:
            self.size += len(data)
        super().data_received(data)
        if self.in_head and self.size > MOST_HEAD:
            self.send_400_response("")
        if self.since is None and self.is_idle() and self.timeout_keep_alive_task is None:
            self.since = self.loop.time()  # blank lines, say: nothing has begun with them

    def on_message_begin(self) -> None:
        """A request begins."""
        self.since = self.loop.time()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Its head is here; the size is looked at closely only if much has come."""
        if self.size > MOST_HEAD:
            size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
            if size > MOST_HEAD:
                raise ValueError("too large")  # `send_400_response` says so
        self.in_head, self.size = False, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """All of it is here."""
        self.since, self.in_head = None, True
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """What has come is no HTTP, or too much of it."""
        if self.in_head and self.size > MOST_HEAD:
            self.refuse("head", f"The address and headers have more than {MOST_HEAD} bytes.")
        else:
            self.refuse("input", "The request is no proper HTTP.")

    def refuse(self, kind: str, sentence: str) -> None:
        """Say why, unless an answer is on its way, and close."""
        if self.transport.is_closing():
            return
        if self.is_idle() or not (self.cycle.response_started or self.pipeline):
            status, body = problem(kind, sentence)
            head = (
                f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
                f"content-type: {MEDIA.decode()}\r\ncontent-length: {len(body)}\r\n"
                f"connection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
            if not self.is_idle():
                self.cycle.disconnected = True  # whoever works on it need not answer
        self.transport.close()

    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        cycle: Any = self.cycle  # None before the first
        return cycle is None or bool(cycle.response_complete)

    def close_if_late(self, now: float) -> None:
        """Give up on a request that is not complete."""
        if self.since is not None and now - self.since > LATE:
            if self.size or not self.in_head:
                self.refuse("late", f"The request was not complete within {LATE:g} seconds.")
            self.transport.close()

    def _unsupported_upgrade_warning(self) -> None:
        """Who asks for another protocol is answered in this one; no need to log it."""


async def keep_closing(connections: set[Any]) -> None:
    """Close connections whose requests are late, for ever."""
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(LOOK)
        for connection in list(connections):
            if isinstance(connection, Connection):
                connection.close_if_late(loop.time())
