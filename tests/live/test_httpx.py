"""The httpx transports against real servers on the loopback interface."""

import asyncio
import http.server
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

import tarry
from tarry.errors import InputError
from tarry.live.httpx import AsyncTransport, Transport


class _Handler(http.server.BaseHTTPRequestHandler):
    """Answers with its own name; how depends on the class attributes."""

    name = ""
    wait = 0.0
    status = 200
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together

    def do_GET(self) -> None:
        time.sleep(self.wait)
        body = f"{self.name} {self.path} {self.headers['Host']}".encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    do_POST = do_GET  # noqa: N815  # named by http.server

    def log_message(self, *_: Any) -> None:
        """Be quiet."""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # many connections at once


@pytest.fixture
def routes() -> Iterator[dict[str, str]]:
    """A quick server, a slow one, one that fails at once, and one that is not there."""
    kinds: dict[str, dict[str, Any]] = {
        "quick": {"wait": 0.005},
        "slow": {"wait": 0.06},
        "failing": {"status": 503},
    }
    servers = []
    urls = {}
    for name, kind in kinds.items():
        handler = type(name, (_Handler,), {"name": name, **kind})
        server = _Server(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        urls[name] = f"http://127.0.0.1:{server.server_port}/base"
    yield urls
    for server in servers:
        server.shutdown()
        server.server_close()


def test_requests_go_where_the_agent_says(routes: dict[str, str]) -> None:
    """The path is kept, the host is the route's, and the quick server gets nearly everything."""
    with httpx.Client(transport=Transport(routes, max_delay=1.0, seed=1)) as client:
        transport = client._transport
        assert isinstance(transport, Transport)
        names = []
        for k in range(60):
            answer = client.get(f"http://routed/items/{k}?q=1")
            name, path, host = answer.text.split()
            assert path == f"/base/items/{k}?q=1"
            assert host == routes[name].split("/")[2]
            names.append(name)
        assert names[20:].count("quick") > 30
        counts = transport.agent.counts
        assert counts.returned == 60
        assert counts.failed == names.count("failing") >= 1
        assert transport.agent.explain()["failing"].mean > 0.3


@pytest.mark.parametrize("until", ["headers", "body"])
def test_the_async_transport_overlaps_requests(routes: dict[str, str], until: str) -> None:
    """Many requests at once from one loop; every play is told when its time comes."""

    async def main() -> tarry.live.Counts:
        transport = AsyncTransport(routes, max_delay=1.0, seed=2, until=until)
        async with httpx.AsyncClient(transport=transport) as client:
            answers = await asyncio.gather(*(client.get("http://routed/") for _ in range(30)))
            assert all(answer.status_code in (200, 503) for answer in answers)
            stuck = asyncio.create_task(client.get("http://routed/"))
            await asyncio.sleep(0)
            stuck.cancel()
            with pytest.raises(asyncio.CancelledError):
                await stuck
            return transport.agent.counts

    counts = asyncio.run(main())
    assert counts.returned >= 30
    assert counts.pending == 0


def test_a_body_may_be_waited_for_or_given_up(routes: dict[str, str]) -> None:
    """With until="body" a play ends with the last byte; a body not read to its end is cancelled."""
    only = {"quick": routes["quick"]}
    with httpx.Client(transport=Transport(only, max_delay=1.0, until="body")) as client:
        transport = client._transport
        assert isinstance(transport, Transport)
        with client.stream("GET", "http://routed/") as answer:
            assert transport.agent.counts.pending == 1
            answer.read()
            assert transport.agent.counts.returned == 1
        with client.stream("POST", "http://routed/", content=b"hello"):
            pass
        assert transport.agent.counts.cancelled == 1


def test_a_route_that_is_not_there_fails() -> None:
    """No connection is the worst cost, and the exception reaches the caller."""
    nowhere = {"nowhere": "http://127.0.0.1:9"}
    with httpx.Client(transport=Transport(nowhere, max_delay=1.0)) as client:
        with pytest.raises(httpx.ConnectError):
            client.get("http://routed/")
        transport = client._transport
        assert isinstance(transport, Transport)
        assert transport.agent.counts.failed == 1

    async def main() -> int:
        transport = AsyncTransport(nowhere, max_delay=1.0)
        async with httpx.AsyncClient(transport=transport) as client:
            with pytest.raises(httpx.ConnectError):
                await client.get("http://routed/")
            return transport.agent.counts.failed

    assert asyncio.run(main()) == 1


def test_durable_routing(routes: dict[str, str], tmp_path: Any) -> None:
    """With a path, both transports keep their journal, and the second goes on after the first."""
    two = {name: routes[name] for name in ("quick", "slow")}
    path = tmp_path / "routes.db"
    with httpx.Client(transport=Transport(two, max_delay=1.0, path=path)) as client:
        for _ in range(5):
            client.get("http://routed/")

    async def main() -> int:
        transport = AsyncTransport(two, max_delay=1.0, path=path)
        async with httpx.AsyncClient(transport=transport) as client:
            await client.get("http://routed/")
            return transport.agent.counts.returned

    assert asyncio.run(main()) == 6


def test_an_agent_of_ones_own(routes: dict[str, str]) -> None:
    """A ready agent is used as it is; routes can be added; what does not fit is refused."""
    agent = tarry.Agent(tarry.DelayedUCB(), arms=["quick"], payoff="cost", max_delay=1.0)
    transport = Transport(routes, agent=agent)
    transport.add_route("again", routes["quick"])
    assert agent.arms == ("quick", "again")
    with pytest.raises(InputError, match="one or the other"):
        Transport(routes, agent=agent, max_delay=2.0)
    with pytest.raises(InputError, match="'again' of the agent has no URL"):
        Transport(routes, agent=agent)
    with pytest.raises(InputError, match="until"):
        Transport(routes, max_delay=1.0, until="soon")


class _Broken(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that breaks off."""

    def __iter__(self) -> Iterator[bytes]:
        yield b"begin"
        raise httpx.ReadError("cut")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"begin"
        raise httpx.ReadError("cut")


class _Sender(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Sends nothing: raises `error`, or answers with a body that breaks off."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.error is not None:
            raise self.error
        return httpx.Response(200, stream=_Broken())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self.handle_request(request)


def test_a_body_that_breaks_off_is_a_failure() -> None:
    """With until="body", an error while reading is booked as the worst cost."""
    one = {"a": "http://a.example.org"}
    transport = Transport(one, max_delay=1.0, until="body", transport=_Sender())
    with httpx.Client(transport=transport) as client:
        with pytest.raises(httpx.ReadError):
            client.get("http://routed/")
        assert transport.agent.counts.failed == 1

    async def main() -> int:
        transport = AsyncTransport(one, max_delay=1.0, until="body", transport=_Sender())
        async with httpx.AsyncClient(transport=transport) as client:
            with pytest.raises(httpx.ReadError):
                await client.get("http://routed/")
            async with client.stream("GET", "http://routed/"):
                pass
            assert transport.agent.counts.cancelled == 1
            return transport.agent.counts.failed

    assert asyncio.run(main()) == 1


def test_ctrl_c_says_nothing_about_a_route() -> None:
    """A request given up from outside is cancelled, not failed."""
    transport = Transport(
        {"a": "http://a.example.org"}, max_delay=1.0, transport=_Sender(KeyboardInterrupt())
    )
    with pytest.raises(KeyboardInterrupt):
        transport.handle_request(httpx.Request("GET", "http://routed/"))
    assert transport.agent.counts.cancelled == 1
