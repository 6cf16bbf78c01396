"""What the service answers over HTTP: statuses, sentences, limits, names."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.service.serving import FRA, Running, running

from tarry.service.app import MOST
from tarry.service.openapi import described, problems_of
from tarry.service.operations import OPERATIONS
from tarry.service.reference import reference
from tarry.service.shelves import MOST_AGENTS


@pytest.fixture(scope="module")
def here() -> Iterator[Running]:
    """A service without keys and without a store."""
    with running() as found:
        found.call("PUT", "/v1/agents/routes", FRA)
        yield found


def refused(answer: Any, status: int, words: str) -> None:
    """A problem with one sentence and without a traceback."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert set(told) == {"type", "title", "status", "detail"}
    assert told["status"] == status
    assert words in told["detail"], told
    assert "Traceback" not in answer.text
    assert "\n" not in told["detail"]


def test_made_once(here: Running) -> None:
    """The first PUT makes an agent, the second finds it, with the arms that it says."""
    assert here.call("PUT", "/v1/agents/twice", FRA).status_code == 201
    again = here.call("PUT", "/v1/agents/twice", {**FRA, "arms": ["ams", "lon"]})
    assert again.status_code == 200
    assert [arm["name"] for arm in again.json()["arms"]] == ["ams", "lon"]
    for contradiction in ({"payoff": "reward"}, {"max_delay": 3.0}, {"policy": "RegimeThompson"}):
        answer = here.call("PUT", "/v1/agents/twice", {**FRA, **contradiction})
        refused(answer, 409, "was made with")
    features: dict[str, Any] = {"features": {"size": {}}}
    refused(here.call("PUT", "/v1/agents/twice", {**FRA, **features}), 409, "features")
    assert "twice" in here.call("GET", "/v1/agents").json()["agents"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {**FRA, "arms": []},
        {**FRA, "arms": ["a", "a"]},
        {**FRA, "arms": [1]},
        {**FRA, "payoff": "profit"},
        {**FRA, "max_delay": -1},
        {**FRA, "max_delay": "2"},
        {**FRA, "policy": "Guess"},
        {**FRA, "policy": "BDSE"},
        {**FRA, "policy": "__import__('os')"},
        {**FRA, "policy": "(" * 400},
        {**FRA, "colour": "red"},
        {**FRA, "features": {"status": {}}},
        {**FRA, "lease": 0},
        [],
        "x",
    ],
)
def test_bad_agents(here: Running, body: Any) -> None:
    """What is wrong is said, and nothing is made."""
    answer = here.call("PUT", "/v1/agents/bad", body)
    refused(answer, 400, "")
    assert here.call("GET", "/v1/agents/bad").status_code == 404


@pytest.mark.parametrize("name", ["a/b", "é ü", "%2F", "x?y#z", "a&b=c", "日本", "' OR 1=1", "-"])
def test_odd_names(here: Running, name: str) -> None:
    """Names are any text, escaped in the address."""
    path = f"/v1/agents/{quote(name, safe='')}"
    assert here.call("PUT", path, FRA).status_code == 201
    assert here.call("GET", path).json()["name"] == name
    play = here.call("POST", f"{path}/ask", {}).json()["play"]
    assert here.call("POST", f"{path}/tell", {"play": play}).json() == {"told": "returned"}
    assert name in here.call("GET", "/v1/agents").json()["agents"]
    assert here.call("GET", "/metrics").status_code == 200


def test_impossible_names(here: Running) -> None:
    """Names that no address can hold are refused."""
    for name in ("%00", "%0A", "x" * 201, "%2E%2E", "%FF"):
        answer = raw(here, "PUT", f"/v1/agents/{name}", json.dumps(FRA))
        assert answer[0] in (400, 404), name


def raw(here: Running, method: str, path: str, body: str = "", **headers: str) -> tuple[int, str]:
    """A request whose path nobody changes on the way."""
    connection = http.client.HTTPConnection("127.0.0.1", here.port, timeout=10)
    told = {"content-type": "application/json"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    connection.request(method, path, body, told)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_unknown_things(here: Running) -> None:
    """404 and 405 say what is not there."""
    refused(here.call("GET", "/v1/nothing"), 404, "/openapi.json lists")
    refused(here.call("GET", "/v1/agents/nobody"), 404, "no agent 'nobody'")
    refused(here.call("POST", "/v1/agents/nobody/ask", {}), 404, "no agent 'nobody'")
    refused(here.call("POST", "/v1/agents/routes/tell", {"play": "7"}), 404, "no play with id 7")
    refused(here.call("DELETE", "/v1/agents/routes/arms/x"), 404, "no arm 'x'")
    wrong = here.call("DELETE", "/v1/agents/routes")
    refused(wrong, 405, "takes GET, HEAD, PUT")
    assert wrong.headers["allow"] == "GET, HEAD, PUT"
    head = here.call("HEAD", "/health")
    assert (head.status_code, head.content) == (200, b"")


def test_bodies(here: Running) -> None:
    """JSON of the right form and size, or one sentence."""
    path = "/v1/agents/routes/tell"
    refused(
        here.http.post(path, content=b"{", headers={"content-type": "application/json"}),
        400,
        "no JSON",
    )
    refused(
        here.http.post(
            path,
            content=b'{"play": "1"}',
            headers={"content-type": "text/plain", "origin": here.address},
        ),
        415,
        "must be JSON",
    )
    refused(here.call("POST", path, {"play": "x"}), 400, "at play")
    refused(here.call("POST", path, {"play": "1", "delay": -1}), 400, "at delay")
    refused(here.call("POST", path, {"play": "1", "delay": 1e300}), 400, "at delay")
    big = json.dumps({"play": "1", "x": "y" * MOST})
    refused(
        here.http.post(path, content=big, headers={"content-type": "application/json"}),
        413,
        "more than",
    )

    def pieces() -> Iterator[bytes]:
        for _ in range(80):
            yield b" " * 4096

    answer = here.http.post(path, content=pieces(), headers={"content-type": "application/json"})
    refused(answer, 413, "more than")
    nested = "[" * 5000
    refused(
        here.http.post(path, content=nested, headers={"content-type": "application/json"}), 400, ""
    )
    bare = here.http.post("/v1/agents/routes/ask")
    assert bare.status_code == 200


def test_numbers_survive_javascript(here: Running) -> None:
    """Ids are text, since they have more digits than a double holds; numbers are taken as well."""
    first, second = here.ask(), here.ask()
    assert isinstance(first["play"], str)
    assert int(first["play"]) > 2**53
    for play in (first["play"], int(second["play"])):
        answer = here.call("POST", "/v1/agents/routes/tell", {"play": play, "delay": 0.1})
        assert answer.json() == {"told": "returned"}


def test_idempotency_keys(here: Running) -> None:
    """The same key is the same play; bad keys are refused."""
    first = here.ask(idempotency_key="one")
    assert here.ask(idempotency_key="one") == first
    assert here.ask(idempotency_key="two") != first
    bad = here.call("POST", "/v1/agents/routes/ask", {}, idempotency_key="x" * 300)
    refused(bad, 400, "1 to 200 printable")


def test_idempotency_keys_outlive_the_service(tmp_path: Path) -> None:
    """They are in the store with the play."""
    with running(str(tmp_path)) as here:
        here.call("PUT", "/v1/agents/routes", FRA)
        first = here.ask(idempotency_key="one")
    with running(str(tmp_path)) as here:
        assert here.ask(idempotency_key="one") == first
        told = here.call("POST", "/v1/agents/routes/tell", {"play": first["play"], "delay": 0.1})
        assert told.json() == {"told": "returned"}
        assert here.call("GET", "/v1/agents/routes").json()["counts"]["asked"] == 1


def test_one_file_is_one_agent(tmp_path: Path) -> None:
    """It has the name of the file; others are refused with a sentence that helps."""
    path = tmp_path / "routes.db"
    with running(str(path)) as here:
        refused(here.call("PUT", "/v1/agents/other", FRA), 409, "a folder as --store")
        assert here.call("PUT", "/v1/agents/routes", FRA).status_code == 201
        here.ask()
    with running(str(path)) as here:
        assert here.call("GET", "/v1/agents").json() == {"agents": ["routes"]}
        assert here.call("PUT", "/v1/agents/routes", FRA).status_code == 200
        assert here.call("GET", "/v1/agents/routes").json()["counts"]["asked"] == 1


def test_policies_and_features_come_back(tmp_path: Path) -> None:
    """An agent is opened again as it was made."""
    body = {
        **FRA,
        "policy": "RegimeThompson(change_every=600)",
        "lease": 1.5,
        "seed": 3,
    }
    other = {**FRA, "features": {"size": {"log": True}, "hour": {"period": 24}}}
    with running(str(tmp_path)) as here:
        made = here.call("PUT", "/v1/agents/a b", body).json()
        here.call("PUT", "/v1/agents/other", other)
    with running(str(tmp_path)) as here:
        assert here.call("GET", "/v1/agents/a b").json() == made
        assert made["lease"] == 1.5
        assert here.call("PUT", "/v1/agents/a b", body).status_code == 200
        again = here.call("PUT", "/v1/agents/other", other)
        assert again.status_code == 200
        assert again.json()["features"]["hour"]["period"] == 24.0


def test_rates_are_limited() -> None:
    """Too many requests of a key are put off, with a word when to come again."""
    with running(rate=5.0) as here:
        answers = [here.call("GET", "/v1/agents") for _ in range(20)]
        late = [answer for answer in answers if answer.status_code == 429]
        assert 5 <= len(late) <= 10
        refused(late[0], 429, "more than 5 requests per second")
        assert int(late[0].headers["retry-after"]) >= 1
        assert here.call("GET", "/health").status_code == 200


def test_documents(here: Running) -> None:
    """OpenAPI, metrics and health."""
    document = here.call("GET", "/openapi.json").json()
    assert document == json.loads(json.dumps(described()))
    assert len(document["paths"]) >= 18
    for one in OPERATIONS:
        told = document["paths"][one.path][one.method.lower()]
        assert told["operationId"] == one.name
        assert set(told["responses"]) >= {str(status) for status in one.statuses}
        assert problems_of(one) or one.role == "open"
    here.ask()
    metrics = here.call("GET", "/metrics").text
    assert 'tarry_requests_total{operation="ask",status="200"}' in metrics
    assert 'tarry_plays{agent="routes",state="asked"}' in metrics
    assert 'tarry_request_seconds_bucket{le="+Inf",operation="ask"}' in metrics
    assert here.call("GET", "/health").json()["status"] == "ok"


def test_history_and_explain(here: Running) -> None:
    """What is known can be looked at, as columns and by arm."""
    here.call("PUT", "/v1/agents/seen", FRA)
    for delay in (0.1, 0.2, 0.3):
        play = here.ask("seen")["play"]
        here.call("POST", "/v1/agents/seen/tell", {"play": play, "delay": delay})
    told = here.call("GET", "/v1/agents/seen/history?limit=2").json()
    assert told["time"] == [0.2, 0.3]
    assert told["total"] == 3
    assert told["status"] == ["returned", "returned"]
    for limit in ("0", "x", "1000000", "-1", "²"):
        refused(here.call("GET", f"/v1/agents/seen/history?limit={quote(limit)}"), 400, "limit")
    arms = here.call("GET", "/v1/agents/seen/explain").json()["arms"]
    assert sum(arm["returned"] for arm in arms) == 3
    refused(here.call("POST", "/v1/agents/seen/explain", {"context": {"a": 1}}), 400, "no features")
    assert here.call("GET", "/v1/agents/seen/view").json()["name"] == "seen"


def test_the_reference_is_up_to_date() -> None:
    """docs/service-http.md is what `python -m tarry.service.reference` prints."""
    page = Path(__file__).parents[2] / "docs" / "service-http.md"
    assert page.read_text() == reference()


def test_events(here: Running) -> None:
    """The view comes as it changes, and only then."""
    here.call("PUT", "/v1/agents/watched", FRA)
    seen: list[Any] = []
    with here.http.stream("GET", "/v1/events?agent=watched") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        begun = time.monotonic()
        for line in answer.iter_lines():
            if line.startswith("data: "):
                seen.append(json.loads(line[6:]))
                if len(seen) == 1:
                    here.ask("watched")
                if len(seen) == 2:
                    break
        assert time.monotonic() - begun < 10
    assert seen[0]["name"] == "watched"
    refused(here.call("GET", "/v1/events?agent=nobody"), 404, "nobody")


def test_a_foreign_host_is_refused(here: Running) -> None:
    """Without keys, a name that somebody points to this machine leads nowhere."""
    status, text = raw(here, "GET", "/v1/agents", host="evil.example")
    assert status == 421
    assert "127.0.0.1" in text
    for name in ("localhost:1", "127.0.0.1", "[::1]:9"):
        assert raw(here, "GET", "/v1/agents", host=name)[0] == 200


def test_a_foreign_page_is_refused(here: Running) -> None:
    """A page of another origin cannot use what is not for pages."""
    answer = here.call("POST", "/v1/agents/routes/ask", {}, origin="https://evil.example")
    refused(answer, 403, "another origin")
    own = here.call("POST", "/v1/agents/routes/ask", {}, origin=here.address)
    assert own.status_code == 200


def test_broken_off_requests_do_no_harm(here: Running) -> None:
    """Half a request, garbage, and a connection that is dropped."""
    for piece in (
        b"POST /v1/agents/routes/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nx",
        b"\x00\xff garbage\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n",
        b"POST /v1/agents/routes/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", here.port)) as sock:
            sock.sendall(piece)
    assert here.call("GET", "/health").status_code == 200


def test_many_at_once(tmp_path: Path) -> None:
    """Threads that ask and tell at the same time are all counted, once."""
    with running(str(tmp_path)) as here:
        here.call("PUT", "/v1/agents/routes", FRA)

        def play() -> None:
            for _ in range(10):
                told = here.ask()
                here.call("POST", "/v1/agents/routes/tell", {"play": told["play"], "delay": 0.1})

        threads = [threading.Thread(target=play) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        counts = here.call("GET", "/v1/agents/routes").json()["counts"]
        assert (counts["asked"], counts["returned"]) == (80, 80)


def test_agents_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than so many."""
    monkeypatch.setattr("tarry.service.agents.MOST_AGENTS", 2)
    assert MOST_AGENTS == 1000
    with running() as here:
        for name in ("a", "b"):
            assert here.call("PUT", f"/v1/agents/{name}", FRA).status_code == 201
        refused(here.call("PUT", "/v1/agents/c", FRA), 409, "is the most")


def test_a_store_that_fails(tmp_path: Path) -> None:
    """A decision that cannot be kept is refused with 503, and goes on when it can be."""
    with running(str(tmp_path)) as here:
        here.call("PUT", "/v1/agents/routes", FRA)
        here.ask()
        path = tmp_path / "routes.db"
        moved = tmp_path / "elsewhere"
        path.rename(moved)
        refused(here.call("POST", "/v1/agents/routes/ask", {}), 503, "cannot be written")
        assert here.call("GET", "/health").json()["status"] == "behind"
        moved.rename(path)
        assert here.ask()["arm"] in FRA["arms"]
        assert here.call("GET", "/health").json()["status"] == "ok"
    assert path.exists()
