"""How each outcome of a request is booked."""

import asyncio
import logging
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import anyio
import anyio.to_thread
import httpx
import pytest
from tests.live.http_servers import Handler, Way, after, serving
from tests.live.test_httpx import WAYS

import tarry
from tarry.errors import InputError
from tarry.live import ManualClock
from tarry.live.httpx import AsyncTransport, Route, Transport
from tarry.live.routing.answers import retry_after
from tarry.live.routing.book import Book


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    """Both packages, with clients that wait and clients on a loop."""
    return Way(request.param)


def test_statuses(way: Way) -> None:
    """408, 429 and 5xx are failures however fast they come; so is a key that is refused."""

    def answer(handler: Handler) -> None:
        handler.reply(int(handler.path[1:]), b"ok")

    failures = [408, 429, 500, 502, 503, 504, 529]
    with serving(answer) as [server]:
        with way.caller({"a": server.url}, max_delay=2.0) as caller:
            for status in [200, 201, 400, 401, 403, 404, 422, *failures]:
                served = caller.get(f"http://routed/{status}").extensions["tarry"]
                assert served.outcome == ("failed" if status in failures else "told")
            assert caller.agent.counts.failed == len(failures)
        keyed = {"a": Route(server.url, headers={"api-key": "old"})}
        with way.caller(keyed, max_delay=2.0) as caller:
            for status in (401, 403):
                assert caller.get(f"http://routed/{status}").extensions["tarry"].outcome == "failed"
        only_teapots = {"failed": lambda response: response.status_code == 418, "max_delay": 2.0}
        with way.caller({"a": server.url}, **only_teapots) as caller:
            outcomes = [
                caller.get(f"http://routed/{status}").extensions["tarry"].outcome
                for status in (418, 503)
            ]
            assert outcomes == ["failed", "told"]


def test_errors_of_the_route_are_failures(way: Way) -> None:
    """No connection, no answer in time, a head or a body that breaks off."""

    def cut(handler: Handler) -> None:
        if handler.path == "/head":
            handler.close_connection = True
        elif handler.path == "/body":
            handler.chunks(b"begin", end=False)
        else:
            time.sleep(0.3)

    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with way.caller({"a": nowhere}, max_delay=1.0) as caller:
            with pytest.raises(way.http.ConnectError):
                caller.get()
            assert caller.agent.counts.failed == 1
    until: dict[str, Any] = {"until": "body", "max_delay": 1.0}
    with serving(cut) as [server], way.caller({"a": server.url}, **until) as caller:
        for number, path in enumerate(("head", "body"), 1):
            with pytest.raises(way.http.RemoteProtocolError):
                caller.get(f"http://routed/{path}")
            assert caller.agent.counts.failed == number
        with pytest.raises(way.http.ReadTimeout):
            caller.get("http://routed/slow", timeout=0.05)
        assert caller.agent.counts.failed == 3
        assert caller.agent.counts.pending == 0


def test_errors_of_the_caller_are_not_held_against_the_route(way: Way) -> None:
    """A body that cannot be made, a header that cannot be sent: the play is cancelled."""

    def broken() -> Iterator[bytes]:
        yield b"begin"
        raise ZeroDivisionError

    with serving(after(0)) as [server], way.caller({"a": server.url}, max_delay=1.0) as caller:
        with pytest.raises(ZeroDivisionError):
            caller.send("POST", "http://routed/", content=broken())
        with pytest.raises(way.http.LocalProtocolError):
            caller.get(headers={"bad": "a\nb"})
        assert caller.agent.counts.cancelled == 2
        assert caller.agent.counts.failed == 0
        caller.send("POST", "http://routed/", content=iter([b"whole ", b"body"]))
        assert b"whole body" in [seen.body for seen in server.seen]  # the broken one may end later
        assert caller.agent.counts.returned == 1


@pytest.mark.parametrize("way", WAYS[:3], indirect=True)  # httpx2 leaves generators to trio
def test_a_body_that_is_given_up_is_a_cancelled_play(way: Way) -> None:
    """With until="body", a caller who closes early says nothing about the rest."""

    def answer(handler: Handler) -> None:
        handler.chunks(b"one", 0.02, b"two")

    until: dict[str, Any] = {"until": "body", "max_delay": 1.0}
    with serving(answer) as [server], way.caller({"a": server.url}, **until) as caller:
        response = caller.get(stream=True)
        served = response.extensions["tarry"]
        assert served.outcome == "out"
        parts = caller.parts(response)
        assert next(parts) == b"one"
        parts.close()
        caller.close(response)
        assert served.outcome == "cancelled"
        assert caller.agent.counts.cancelled == 1
        assert caller.get().text == "onetwo"
        assert caller.agent.counts.returned == 1


def test_retry_after_pauses_the_arm_until_then(way: Way) -> None:
    """Seconds and dates; the arm comes back by itself, and one arm always stays open."""

    def dated(handler: Handler) -> None:
        now = int(time.time())
        handler.reply(503, Retry_After=handler.date_time_string(now + 60))

    def paused() -> list[str]:
        return [row.arm for row in caller.agent.explain().arms if row.paused]

    clock = ManualClock()
    with serving(after(0, 429, Retry_After="30"), dated, after(0)) as [a, b, c]:
        routes = {"a": a.url, "b": b.url, "c": c.url}
        with way.caller(routes, max_delay=1.0, clock=clock, seed=1) as caller:
            while len(caller.transport.resting) < 2:
                caller.get()
            assert paused() == ["a", "b"]
            calls = len(a.seen), len(b.seen)
            assert calls == (1, 1)
            for _ in range(20):
                assert caller.get().status_code == 200
            assert (len(a.seen), len(b.seen)) == calls
            clock.advance(31)
            caller.get()
            assert caller.transport.resting in [("b",), ("b", "a")]
            caller.agent.pause_arm("c")
            clock.advance(62)
            for _ in range(6):
                assert caller.get().status_code in (429, 503)
            assert len(paused()) == 2  # c by us; of a and b one goes on
            assert caller.transport.counts.rested >= 3
        assert caller.transport.resting == ()


def test_how_long_a_server_asks_for() -> None:
    """Seconds, dates by the server's own clock, and everything else is no wish."""
    assert retry_after({}) == retry_after({"Retry-After": "soon"}) == 0
    assert retry_after({"Retry-After": "-5"}) == retry_after({"Retry-After": "nan"}) == 0
    assert retry_after({"Retry-After": "1.5"}) == 1.5
    assert retry_after({"Retry-After": "Tue, 17 Nov 2015 10:01:30 GMT"}) == 0
    assert retry_after({"Retry-After": "Tue, 17 Nov 2099 10:01:30 GMT"}) > 1e9


def test_a_rest_has_an_end(way: Way) -> None:
    """No server rests longer than `longest_pause`, whatever it asks for."""
    clock = ManualClock()
    with serving(after(0, 503, Retry_After="1e9"), after(0)) as [a, b]:
        settings: dict[str, Any] = {"max_delay": 1.0, "clock": clock, "longest_pause": 5.0}
        with way.caller({"a": a.url, "b": b.url}, **settings) as caller:
            while not caller.transport.resting:
                caller.get()
            clock.advance(5.1)
            caller.get()
            assert not any(row.paused for row in caller.agent.explain().arms) or len(a.seen) == 2


def test_a_failure_may_be_retried_on_another_arm(way: Way) -> None:
    """Requests that can be sent twice get another arm; others get the failure."""
    with serving(after(0, 500), after(0, 503), after(0)) as [a, b, c]:
        routes = {"a": a.url, "b": b.url, "c": c.url}
        with way.caller(routes, max_delay=1.0, retry=2) as caller:
            answers = [caller.get() for _ in range(8)]
            assert {answer.status_code for answer in answers} == {200}
            for answer in answers:
                served = answer.extensions["tarry"]
                assert served.arm == "c"
                assert len(set(served.tried)) == len(served.tried)
            counts = caller.agent.counts
            assert caller.transport.counts.retried == counts.asked - 8 == counts.failed
            assert counts.returned == counts.asked
            assert not any(row.paused for row in caller.agent.explain().arms)
        for method, content in (("POST", b"x"), ("PUT", iter([b"streamed"]))):
            with way.caller({"a": a.url, "b": b.url}, max_delay=1.0, retry=1) as caller:
                answer = caller.send(method, "http://routed/", content=content)
                assert answer.status_code in (500, 503)
                assert caller.agent.counts.asked == 1
        everything = {"idempotent": lambda request: True, "max_delay": 1.0}
        with way.caller({"a": a.url, "b": b.url}, retry=5, **everything) as caller:
            served = caller.send("POST", "http://routed/", content=b"x").extensions["tarry"]
            assert caller.agent.counts.failed == 2
            assert {served.arm, *served.tried} == {"a", "b"}
            assert served.why.endswith(f"; tried after {served.tried[0]}")


def test_an_error_may_be_retried_too(way: Way) -> None:
    """A server that cannot be reached fails; another one serves, or the error is raised."""
    with serving(after(0)) as [good]:
        routes = {"nowhere": "http://127.0.0.1:9", "good": good.url}
        with way.caller(routes, max_delay=1.0, retry=1) as caller:
            assert {caller.get().status_code for _ in range(6)} == {200}
            caller.agent.remove_arm("good")
            with pytest.raises(way.http.ConnectError):
                caller.get()


def test_a_full_disk_costs_no_answer(
    way: Way, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """If the store fails after the answer came, the caller has it and the connection is free."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(handler: Handler) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))  # no file can grow
        handler.reply(body=b"precious")

    agent = tarry.Agent(arms=["a"], payoff="cost", max_delay=5.0, path=tmp_path / "a.db")
    with serving(fill) as [server]:
        sender = way.sender(limits=way.http.Limits(max_connections=1))
        with way.caller({"a": server.url}, agent=agent, transport=sender) as caller:
            try:
                with caplog.at_level(logging.ERROR, "tarry"):
                    answer = caller.get()
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            assert answer.text == "precious"
            assert caller.transport.counts.unbooked == 1
            assert {record.name for record in caplog.records} == {"tarry"}
            assert caplog.text.count("could not note it") == 1
            assert caller.get(server.url + "/free").text == "precious"
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    agent.close()


def test_code_of_the_user_that_fails_leaks_nothing(way: Way) -> None:
    """What `failed=` or `idempotent=` raises reaches the caller; connection and play are freed."""

    def broken(_: Any) -> bool:
        raise ZeroDivisionError

    limits = way.http.Limits(max_connections=1)
    with serving(after(0, 500)) as [server]:
        settings: dict[str, Any]
        for settings in ({"failed": broken}, {"idempotent": broken, "retry": 1}):
            settings |= {"max_delay": 1.0, "transport": way.sender(limits=limits)}
            with way.caller({"a": server.url}, **settings) as caller:
                for _ in range(3):
                    with pytest.raises(ZeroDivisionError):
                        caller.get()
                assert caller.agent.counts.pending == 0
                assert caller.get(server.url).status_code == 500


def test_the_end_of_an_incident_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """One line when notes are lost, and one, with their number, when they are taken again."""
    book = Book(tarry.Agent(arms=["a"], payoff="cost", max_delay=1.0))
    for _ in range(3):
        with book.minding():
            raise OSError("No space left on device")
    for _ in range(2):
        with book.minding():
            pass
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
    assert "could not note 3" in caplog.text
    assert book.unbooked == 3


def test_incidents_are_logged_once(way: Way, caplog: pytest.LogCaptureFixture) -> None:
    """An agent that was closed takes no notes; that is one line, however many answers there are."""
    gate = threading.Barrier(3)

    def close(handler: Handler) -> None:
        gate.wait()
        caller.agent.close()
        handler.reply()

    with serving(close) as [server], way.caller({"a": server.url}, max_delay=1.0) as caller:
        threads = [threading.Thread(target=caller.get) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert caller.transport.counts.unbooked == 3
        assert len(caplog.records) == 1


class Turns:
    """A rule that is no NamedTuple, so that nobody can move its arms."""

    def select(self, ledger: Any, plays: Any, row: int, now: int, rng: Any) -> int:
        """The arms in turn."""
        return row % 2


@dataclass(frozen=True)
class Unmovable:
    """Its policy."""

    payoffs: ClassVar[Sequence[str]] = ("cost",)
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = False

    def start(self, setting: Any) -> Any:
        """A rule."""
        return Turns()


DECIDING = threading.Event()


class SlowRule(NamedTuple):
    """A rule that takes long to decide."""

    seconds: float

    def select(self, ledger: Any, plays: Any, row: int, now: int, rng: Any) -> int:
        """The first arm, after a while."""
        DECIDING.set()
        time.sleep(self.seconds)
        return 0


class Slow(Unmovable):
    """Its policy."""

    def start(self, setting: Any) -> Any:
        """A rule."""
        return SlowRule(0.1)


def test_what_the_agent_refuses_is_gone_without(caplog: pytest.LogCaptureFixture) -> None:
    """A rule whose arms cannot move cannot be paused: one line says so, and answers go on."""
    with serving(after(0, 429, Retry_After="5"), after(0, 503, Retry_After="5")) as [a, b]:
        agent = tarry.Agent(Unmovable(), arms=["a", "b"], payoff="cost", max_delay=1.0)
        with Way("httpx").caller({"a": a.url, "b": b.url}, agent=agent, retry=1) as caller:
            assert {caller.get().status_code for _ in range(4)} <= {429, 503}
    assert len(caplog.records) == 2
    assert "go on without pausing arms" in caplog.text
    assert "go on without trying other arms" in caplog.text


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("until", ["headers", "body"])
@pytest.mark.parametrize("durable", [False, True])
def test_a_cancelled_task_cancels_its_play(
    backend: str, until: str, durable: bool, tmp_path: Path
) -> None:
    """Before the head and within the body, with a file and without one."""

    def slow(handler: Handler) -> None:
        time.sleep(0.2 if until == "headers" else 0)
        handler.chunks(b"begin", 0.2, b"end")

    async def main() -> None:
        path = tmp_path / "a.db" if durable else None
        transport = AsyncTransport({"a": server.url}, max_delay=1.0, until=until, path=path)
        async with httpx.AsyncClient(transport=transport) as client:
            with anyio.move_on_after(0.1):
                await client.get("http://routed/")
            assert transport.agent.counts.cancelled == 1
            assert transport.agent.counts.pending == 0

    with serving(slow) as [server]:
        anyio.run(main, backend=backend)


async def soon(condition: Callable[[], bool]) -> None:
    """Wait until it is so, five seconds at most, and see that it is."""

    def look() -> bool:
        end = time.monotonic() + 5
        while not condition() and time.monotonic() < end:
            time.sleep(0.005)
        return condition()

    assert await anyio.to_thread.run_sync(look)


@pytest.fixture
def slow_agent(tmp_path: Path) -> Iterator[tarry.Agent]:
    """An agent that takes long to decide, and has a file."""
    DECIDING.clear()
    path = tmp_path / "slow.db"
    with tarry.Agent(Slow(), arms=["a"], payoff="cost", max_delay=9.0, path=path) as agent:
        yield agent


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_task_cancelled_while_it_asks_leaves_no_play(
    backend: str, slow_agent: tarry.Agent
) -> None:
    """The play that comes when nobody waits for it any longer is cancelled."""

    async def main() -> None:
        transport = AsyncTransport({"a": server.url}, agent=slow_agent)
        async with httpx.AsyncClient(transport=transport) as client, anyio.create_task_group() as g:
            g.start_soon(client.get, "http://routed/")
            await soon(DECIDING.is_set)
            g.cancel_scope.cancel()
        await soon(lambda: slow_agent.counts.cancelled == 1)
        assert slow_agent.counts.asked == 1

    with serving(after(0.5)) as [server]:
        anyio.run(main, backend=backend)


def test_a_task_cancelled_by_asyncio_itself_leaves_no_play(slow_agent: tarry.Agent) -> None:
    """The same where the task does not wait for the thread that asks."""

    async def main() -> None:
        transport = AsyncTransport({"a": server.url}, agent=slow_agent)
        async with httpx.AsyncClient(transport=transport) as client:
            task = asyncio.create_task(client.get("http://routed/"))
            await soon(DECIDING.is_set)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await soon(lambda: slow_agent.counts.cancelled == 1)
            assert slow_agent.counts.asked == 1

    with serving(after(0.5)) as [server]:
        asyncio.run(main())


def test_a_body_that_is_dropped_gives_its_connection_back() -> None:
    """A reader who takes one chunk and goes away, without closing anything, blocks nobody."""
    limits = httpx.Limits(max_connections=2)
    timeout = httpx.Timeout(5.0, pool=0.5)

    def chunks(handler: Handler) -> None:
        handler.reply(body=b"x" * 300_000)

    for until in ("headers", "body"):
        with serving(chunks) as [one]:
            sender = httpx.HTTPTransport(limits=limits)
            transport = Transport({"one": one.url}, max_delay=5.0, until=until, transport=sender)
            with httpx.Client(transport=transport, timeout=timeout) as client:
                for _ in range(5):
                    answer = client.send(client.build_request("GET", "http://routed/"), stream=True)
                    next(answer.iter_raw(1000))
                    del answer
                assert len(client.get("http://routed/").content) == 300_000
                assert transport.agent.counts.cancelled == (5 if until == "body" else 0)


def test_a_body_that_is_dropped_on_a_loop_gives_its_connection_back() -> None:
    """As `test_a_body_that_is_dropped_gives_its_connection_back`."""

    def chunks(handler: Handler) -> None:
        handler.reply(body=b"x" * 300_000)

    async def first_chunk(client: httpx.AsyncClient) -> None:
        answer = await client.send(client.build_request("GET", "http://routed/"), stream=True)
        async for _ in answer.aiter_raw(1000):
            return

    async def run(url: str) -> None:
        sender = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_connections=2))
        transport = AsyncTransport({"one": url}, max_delay=5.0, until="body", transport=sender)
        timeout = httpx.Timeout(5.0, pool=1.0)
        async with httpx.AsyncClient(transport=transport, timeout=timeout) as client:
            for _ in range(5):
                await first_chunk(client)
                await asyncio.sleep(0)  # the loop closes what was dropped
            assert len((await client.get("http://routed/")).content) == 300_000
            assert transport.agent.counts.cancelled == 5

    with serving(chunks) as [one]:
        asyncio.run(run(one.url))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"routes": ["http://a"]}, "routes is"),
        ({"routes": {}}, "routes is"),
        ({"host": 3}, "host is 3"),
        ({"agent": 3}, "agent is 3"),
        ({"longest_pause": -1}, "longest_pause is -1"),
        ({"payoff": "reward"}, "a cost"),
    ],
    ids=str,
)
def test_what_a_transport_cannot_be_made_of(given: dict[str, Any], words: str) -> None:
    """One sentence each."""
    usual: dict[str, Any] = {"routes": {"a": "http://a.example"}}
    with pytest.raises(InputError, match=words):
        Transport(**(usual | ({} if "agent" in given else {"max_delay": 1.0}) | given))
    with pytest.raises(InputError, match="headers of a route"):
        Route("http://a.example", headers={"a": 3})  # type: ignore[dict-item]
