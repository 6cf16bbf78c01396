"""Real servers on the loopback interface, and clients of either package, waiting or on a loop."""

import contextlib
import http.server
import importlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any, NamedTuple

import anyio.from_thread


class Handler(http.server.BaseHTTPRequestHandler):
    """Keeps what it was asked, and answers as its server says."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together, unless they are flushed
    server: "Server"
    body = b""

    def do_GET(self) -> None:
        """Every method is answered alike."""
        self.body = self._body()
        self.server.seen.append(
            Seen(self.command, self.path, dict(self.headers), self.body, self.client_address[1])
        )
        with contextlib.suppress(ConnectionError):
            self.server.answer(self)

    do_POST = do_PUT = do_DELETE = do_HEAD = do_GET  # noqa: N815  # named by http.server

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline() or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def reply(self, status: int = 200, body: bytes = b"", **headers: str) -> None:
        """A whole answer."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self._headers(headers)
        self.wfile.write(body)

    def chunks(self, *parts: bytes | float, end: bool = True, **headers: str) -> None:
        """An answer in chunks, each sent at once; a number is a pause."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self._headers(headers)
        self.wfile.flush()
        for part in parts:
            if isinstance(part, bytes):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                self.wfile.flush()
            else:
                time.sleep(part)
        if end:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def _headers(self, headers: dict[str, str]) -> None:
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Be quiet."""


class Seen(NamedTuple):
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    port: int  # of the client: one for each connection


class Server(http.server.ThreadingHTTPServer):
    """Answers by a function that gets the handler."""

    daemon_threads = True
    request_queue_size = 128  # many connections at once

    def __init__(self, answer: Callable[[Handler], None]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.seen: list[Seen] = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def handle_error(self, *_: Any) -> None:
        """A client that hangs up is no error here."""

    def stop(self) -> None:
        """Listen no longer."""
        self.shutdown()
        self.server_close()


@contextlib.contextmanager
def serving(*answers: Callable[[Handler], None]) -> Iterator[list[Server]]:
    """A server for each function."""
    servers = [Server(answer) for answer in answers]
    try:
        yield servers
    finally:
        for server in servers:
            server.stop()


def after(seconds: float, status: int = 200, body: bytes = b"ok", **headers: Any) -> Any:
    """An answer that is there after a while."""

    def answer(handler: Handler) -> None:
        time.sleep(seconds)
        handler.reply(status, body, **headers)

    return answer


class Way:
    """A package, and whether its clients wait or live on a loop: "httpx2", "httpx2-trio"."""

    def __init__(self, name: str) -> None:
        package, _, self.loop = name.partition("-")
        self.http = importlib.import_module(package)
        self.doors: Any = importlib.import_module(f"tarry.live.{package}")

    def sender(self, **settings: Any) -> Any:
        """The package's own transport."""
        kind = self.http.AsyncHTTPTransport if self.loop else self.http.HTTPTransport
        return kind(**settings)

    @contextlib.contextmanager
    def caller(self, routes: Any, *, client: Any = None, **settings: Any) -> Iterator["Caller"]:
        """A client whose requests are routed."""
        kind = self.doors.AsyncTransport if self.loop else self.doors.Transport
        transport = kind(routes, **settings)
        options = {"transport": transport, "timeout": 5.0, **(client or {})}
        if self.loop:
            with anyio.from_thread.start_blocking_portal(self.loop) as portal:
                caller = Caller(self.http.AsyncClient(**options), transport, portal)
                try:
                    yield caller
                finally:
                    portal.call(caller.client.aclose)
        else:
            with self.http.Client(**options) as plain:
                yield Caller(plain, transport, None)


class Caller:
    """A client of either kind, used from threads."""

    def __init__(self, client: Any, transport: Any, portal: Any) -> None:
        self.client = client
        self.transport = transport
        self.agent = transport.agent
        self.portal = portal

    def send(self, method: str, url: str, *, stream: bool = False, **more: Any) -> Any:
        """A request, and its answer."""
        if self.portal is not None and isinstance(more.get("content"), Iterator):
            more["content"] = _on_a_loop(more["content"])
        request = self.client.build_request(method, url, **more)
        if self.portal is None:
            return self.client.send(request, stream=stream)
        return self.portal.call(lambda: self.client.send(request, stream=stream))

    def get(self, url: str = "http://routed/", **more: Any) -> Any:
        """A GET."""
        return self.send("GET", url, **more)

    def parts(self, response: Any) -> Generator[bytes, None, None]:
        """The body of an answer as it comes."""
        if self.portal is None:
            yield from response.iter_raw()
            return
        reader = response.aiter_raw()
        try:
            while (part := self.portal.call(anext, reader, None)) is not None:
                yield part
        finally:
            self.portal.call(reader.aclose)

    def close(self, response: Any) -> None:
        """Read no further."""
        if self.portal is None:
            response.close()
        else:
            self.portal.call(response.aclose)


async def _on_a_loop(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
