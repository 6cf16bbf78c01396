"""What somebody found who tried to break the client."""

import asyncio
import contextlib
import gc
import json
import math
import os
import pickle
import signal
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from tests.service.serving import FRA, Running, running
from tests.service.test_client import Leaky, whole
from tests.service.test_http import refused

import tarry
from tarry.errors import InputError, JournalError, LiveError
from tarry.live import Told
from tarry.service.client.connection import Connection
from tarry.service.keys import Keys, new_key

FEATURES: dict[str, Any] = {
    "device": ["phone", "desktop"],
    "size": tarry.numeric(missing=-9999),
    "age": tarry.numeric(log=True, curve=True),
    "rank": tarry.numeric(missing=0),
    "hour": tarry.cyclic(24),
    "plain": float,
}


LOOPS = ["asyncio", "trio"]


class Ports:
    """A server that says from which port it was asked."""

    def __init__(self) -> None:
        ports = self.seen = set[int]()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                ports.add(self.client_address[1])
                body = json.dumps({"agents": [str(self.client_address[1])]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                """Quiet."""

        class Server(ThreadingHTTPServer):
            request_queue_size = 128

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def ports() -> Iterator[Ports]:
    """Such a server."""
    made = Ports()
    yield made
    made.server.shutdown()
    made.server.server_close()


class Held(Leaky):
    """A way to a service on which answers wait until they are let through."""

    def __init__(self, port: int) -> None:
        self.arrived = threading.Event()
        self.free = threading.Event()
        super().__init__(port)

    def _carry(self, near: socket.socket) -> None:
        with (
            contextlib.suppress(OSError),  # the other side is gone
            near,
            socket.create_connection(("127.0.0.1", self.to)) as far,
        ):
            while request := whole(near):
                far.sendall(request)
                answer = whole(far)
                self.arrived.set()
                self.free.wait(20)
                near.sendall(answer)


@pytest.fixture(params=["refused", "silent"])
def away(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a service that is away, or does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        if request.param == "silent":
            yield address
            return
    yield address


@pytest.fixture
def connection(here: Running) -> Iterator[Connection]:
    """A connection to the service."""
    with tarry.connect(here.address) as made:
        yield made


def comes(true: Callable[[], bool]) -> bool:
    """Whether it becomes true."""
    end = time.monotonic() + 10
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()


@pytest.fixture(scope="module")
def here() -> Iterator[Running]:
    """One service for all tests that leave it alone."""
    with running() as service:
        yield service


def test_features_arrive_whole(here: Running) -> None:
    """What stands for a missing number is known at the service, and shown."""
    context = {"device": "phone", "size": -9999, "age": 3, "rank": 0, "hour": 5, "plain": 1.0}
    local = tarry.Agent(**FRA, features=FEATURES)
    with tarry.connect(here.address) as connection:
        agent = connection.agent("whole", **FRA, features=FEATURES)
        for each in (local, agent):
            each.ask(context)
            assert each.counts.features_missing == 2
            assert each.counts.features_unknown == 0
        connection.agent("whole", **FRA, features=FEATURES)
        other = {**FEATURES, "size": tarry.numeric(missing=-1)}
        with pytest.raises(JournalError, match="was made with features"):
            connection.agent("whole", **FRA, features=other)
    assert here.call("GET", "/v1/agents/whole").json()["features"] == {
        "device": {"values": ["phone", "desktop"]},
        "size": {"missing": -9999.0},
        "age": {"log": True, "curve": True},
        "rank": {"missing": 0.0},
        "hour": {"period": 24.0},
        "plain": {},
    }


def test_a_feature_is_of_one_kind(here: Running) -> None:
    """What would be lost without a word is refused."""
    for wrong in (
        {"log": True, "period": 3},
        {"period": 3, "missing": 1},
        {"values": ["a"], "curve": True},
        {"values": ["a"], "period": 3},
    ):
        answer = here.call("PUT", "/v1/agents/odd", {**FRA, "features": {"x": wrong}})
        refused(answer, 400, "of several kinds")
    document = here.call("GET", "/openapi.json").json()
    feature = document["components"]["schemas"]["Feature"]["properties"]
    assert "Seconds" not in str(feature["period"])
    assert "missing" in feature


def test_a_restart_takes_no_arms_away(here: Running) -> None:
    """Arms that came since stay with what is known of them; those that are missing come."""
    with tarry.connect(here.address) as connection:
        agent = connection.agent("again", **FRA)
        agent.add_arm("lon")
        agent.pause_arm("ams")
        for _ in range(6):
            agent.tell(agent.ask(), 0.1)
        before = {row.arm: row.plays for row in agent.explain().arms}
        assert connection.agent("again", **FRA).arms == ("fra", "ams", "lon")
        assert {row.arm: row.plays for row in agent.explain().arms} == before
        more = {**FRA, "arms": ["rom", "fra"]}
        assert connection.agent("again", **more).arms == ("fra", "ams", "lon", "rom")
        assert agent.paused == ("ams",)
    here.call("PUT", "/v1/agents/again", FRA)
    told = here.call("GET", "/v1/agents/again").json()
    assert [arm["name"] for arm in told["arms"]] == ["fra", "ams"]


def test_a_restart_has_limits(here: Running) -> None:
    """Arms that stay count for the number of arms that there may be."""
    many = [str(number) for number in range(1990)]
    here.call("PUT", "/v1/agents/many", {**FRA, "arms": many})
    more = [f"new {number}" for number in range(11)]
    answer = here.call("PUT", "/v1/agents/many", {**FRA, "arms": more, "keep": True})
    refused(answer, 409, "more than 2000 arms")


def test_a_decider_opens_what_has_more_arms() -> None:
    """A key that may not manage finds an agent with features, and with arms that came since."""
    secret, key = new_key("decide", "decide")
    boss, manage = new_key("manage", "manage")
    with running(keys=Keys([key, manage])) as service:
        with tarry.connect(service.address, key=boss) as connection:
            connection.agent("a", **FRA, features=FEATURES).add_arm("lon")
        with tarry.connect(service.address, key=secret) as connection:
            assert connection.agent("a", **FRA, features=FEATURES).ask().arm
            with pytest.raises(JournalError, match="the key may not change it"):
                connection.agent("a", **{**FRA, "arms": ["rom"]})


def in_a_child(call: Callable[[], Any]) -> Any:
    """What it returns in a child of this process."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(20)
        os.write(write, json.dumps(call()).encode())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    told = json.loads(os.read(read, 1000))
    os.close(read)
    os.close(write)
    return told


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_has_sockets_of_its_own(ports: Ports) -> None:
    """A child does not talk where its parent does, in a thread or in an event loop."""
    with tarry.connect(ports.address) as connection:

        async def ask() -> list[str]:
            told = await connection.call_async("GET", "/v1/agents")
            return [*told["agents"]]

        mine = connection.agents()
        first, second = in_a_child(lambda: (connection.agents(), connection.agents()))
        assert first == second != mine
        assert connection.agents() == mine
        assert in_a_child(lambda: asyncio.run(ask())) not in (mine, first)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_does_not_wait_for_lost_threads(ports: Ports) -> None:
    """A lock that another thread of the parent had is no lock of the child."""
    with tarry.connect(ports.address) as connection:
        mine = connection.agents()
        with connection._clients._lock, connection._later._lock:
            assert in_a_child(connection.agents) != mine


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_exception_does_not_wait_for_the_service(
    here: Running, away: str, error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    """It leaves a block soon, as it is, and what the service was not told is logged."""
    with tarry.connect(here.address) as connection:
        agent = connection.agent("left", **FRA)
        begun = math.inf

        def block() -> None:
            nonlocal begun
            with agent.play():
                connection.address = away
                begun = time.monotonic()
                raise error("mine")

        with pytest.raises(error, match="mine"):
            block()
        assert time.monotonic() - begun < 3
    assert "was not taken by its service: The service http" in caplog.text


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


@pytest.mark.parametrize("wrong", [-1, math.nan, math.inf, "x", None, True])
def test_patience_and_timeout_are_numbers(wrong: Any) -> None:
    """What is none is refused at once."""
    with pytest.raises(InputError, match="The patience is"):
        tarry.connect("http://127.0.0.1:1", patience=wrong)
    for timeout in (wrong, 0):
        with pytest.raises(InputError, match="The timeout is"):
            tarry.connect("http://127.0.0.1:1", timeout=timeout)


def test_what_is_refused_as_an_agent_refuses_it(here: Running) -> None:
    """The words are the same, or say what differs."""
    with tarry.connect(here.address) as connection:
        for name in (5, None, b"x", ""):
            with pytest.raises(InputError, match="The name of the agent is"):
                connection.agent(name)  # type: ignore[arg-type]  # on purpose
        agent = connection.agent("words", **FRA, lease=1.0)
        play = agent.ask()
        with pytest.raises(InputError, match="The time reported is nan"):
            agent.alive(play, math.nan)
        for what in (agent, connection):
            with pytest.raises(TypeError, match="cannot be pickled or copied"):
                pickle.dumps(what)
        agent.close()
        for call in (
            agent.ask,
            lambda: agent.tell(play, 1.0),
            lambda: agent.cancel(play),
            lambda: agent.add_arm("x"),
            lambda: agent.pause_arm("fra"),
        ):
            with pytest.raises(LiveError, match="The agent is closed; open it again"):
                call()
        assert agent.counts.asked == 1
        assert connection.agent("words").cancel(play)


def test_closing_while_others_call(here: Running) -> None:
    """Calls in other threads go on, with a new client."""
    connection = tarry.connect(here.address)
    agent = connection.agent("closing", **FRA)
    wrong: list[BaseException] = []
    over = threading.Event()

    def work() -> None:
        try:
            while not over.is_set():
                agent.tell(agent.ask(), 0.1)
        except BaseException as error:  # noqa: BLE001  # whatever it is
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        connection.close()
        time.sleep(0.002)
    over.set()
    for thread in threads:
        thread.join()
    connection.close()
    assert wrong == []
