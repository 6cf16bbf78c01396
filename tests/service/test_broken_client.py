"""What somebody found who tried to break the client."""

import asyncio
import json
import math
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.service.serving import FRA, Running, running
from tests.service.test_http import refused
from tests.service.ways import Ports

import tarry
from tarry.errors import InputError, JournalError, LiveError
from tarry.service.keys import Keys, new_key

FEATURES: dict[str, Any] = {
    "device": ["phone", "desktop"],
    "size": tarry.numeric(missing=-9999),
    "age": tarry.numeric(log=True, curve=True),
    "rank": tarry.numeric(missing=0),
    "hour": tarry.cyclic(24),
    "plain": float,
}


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
