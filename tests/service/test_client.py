"""The client when things go wrong on the way."""

import asyncio
import json
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.service.serving import running

import tarry
from tarry.errors import InputError, JournalError, LiveError, ServiceError
from tarry.live import Told

MADE: dict[str, Any] = {"arms": ["fra", "ams"], "payoff": "cost", "max_delay": 2.0}


def whole(sock: socket.socket) -> bytes:
    """A request or an answer, with its body; nothing if there is none."""
    got = b""
    while piece := sock.recv(65536):
        got += piece
        head, end, body = got.partition(b"\r\n\r\n")
        found = re.search(rb"content-length: (\d+)", head.lower())
        if end and len(body) >= (int(found[1]) if found else 0):
            break
    return got


class Leaky:
    """A way to a service: each request arrives, and every other answer is lost."""

    def __init__(self, port: int) -> None:
        self.to = port
        self.lost = self.count = 0
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                sock, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(sock,), daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        with near, socket.create_connection(("127.0.0.1", self.to)) as far:
            while request := whole(near):
                far.sendall(request)
                answer = whole(far)
                self.count += 1
                if self.count % 2:
                    self.lost += 1
                    return
                near.sendall(answer)

    def close(self) -> None:
        """Let nobody in any more."""
        self.listening.close()


@pytest.fixture
def leaky() -> Iterator[Leaky]:
    """A service behind such a way."""
    with running() as here:
        way = Leaky(here.port)
        yield way
        way.close()


def test_lost_answers_do_no_harm(leaky: Leaky) -> None:
    """Whatever is sent again counts once."""
    with tarry.connect(f"http://127.0.0.1:{leaky.port}") as connection:
        agent = connection.agent("routes", **MADE)
        for number in range(6):
            play = agent.ask()
            told = agent.tell(play, 0.1 * number)
            assert told in (Told.RETURNED, Told.REPEATED)
        agent.add_arm("lon")
        agent.remove_arm("fra")
        with agent.play() as chosen:
            assert chosen in ("ams", "lon")
        assert agent.counts == (7, 7, 0, 0, 0, 0, 0)
        assert agent.arms == ("ams", "lon")
    assert leaky.lost > 10


def test_lost_answers_in_an_event_loop(leaky: Leaky) -> None:
    """The same without threads."""

    async def live() -> None:
        async with tarry.connect(f"http://127.0.0.1:{leaky.port}") as connection:
            agent = connection.agent("routes", **MADE)
            for _ in range(4):
                await agent.tell_async(await agent.ask_async(), 0.2)
            assert agent.counts.asked == agent.counts.returned == 4

    asyncio.run(live())


def test_nobody_is_there() -> None:
    """One sentence after the patience is over."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    connection = tarry.connect(f"http://127.0.0.1:{port}", patience=0.2)
    with pytest.raises(ServiceError, match="cannot be reached"):
        connection.agent("routes")
    assert str(port) in repr(connection)

    async def ask() -> None:
        await connection.call_async("GET", "/v1/agents")

    with pytest.raises(ServiceError, match="cannot be reached"):
        asyncio.run(ask())
    connection.close()
    connection.close()


def test_something_else_is_there() -> None:
    """What is no service of ours is named as such."""
    with socket.create_server(("127.0.0.1", 0)) as other:

        def answer() -> None:
            sock, _ = other.accept()
            with sock:
                sock.recv(65536)
                sock.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnope")

        threading.Thread(target=answer, daemon=True).start()
        with (
            tarry.connect(f"http://127.0.0.1:{other.getsockname()[1]}") as connection,
            pytest.raises(ServiceError, match="not as tarry serve does"),
        ):
            connection.agents()


@pytest.mark.parametrize("address", ["", "127.0.0.1:8090", "ftp://x", "http://", None])
def test_bad_addresses(address: Any) -> None:
    """An address is that of a service."""
    with pytest.raises(InputError, match="The address is"):
        tarry.connect(address)


def test_what_a_remote_agent_cannot_do() -> None:
    """It says so."""
    with running() as here, tarry.connect(here.address) as connection:
        with pytest.raises(InputError, match="give arms=, payoff= and max_delay="):
            connection.agent("routes", arms=["a"])
        with pytest.raises(InputError, match="path is nothing that an agent of a service takes"):
            connection.agent("routes", **MADE, path="x.db")
        with connection.agent("routes", tarry.RegimeThompson(), **MADE) as agent:
            assert agent.policy == "RegimeThompson"
            assert connection.agent("routes").policy == "RegimeThompson"
            with pytest.raises(LiveError, match=r"nothing is copied to x\.db"):
                agent.backup("x.db")
            with pytest.raises(JournalError, match="was made with policy 'RegimeThompson'"):
                connection.agent("routes", "SurvivalThompson", **MADE)
            block = agent.play()
            with pytest.raises(LiveError, match="has not begun"):
                block.cancel()
            agent.close()
        assert connection.agents() == ["routes"]


def test_a_service_that_is_put_off(tmp_path: Path) -> None:
    """Too many requests are put off and sent again, not refused."""
    with running(str(tmp_path), rate=20.0) as here, tarry.connect(here.address) as connection:
        agent = connection.agent("routes", **MADE)
        for _ in range(25):
            agent.tell(agent.ask(), 0.1)
        assert json.loads(json.dumps(agent.counts.asked)) == 25
