"""What somebody found who tried to break the service."""

import asyncio
import contextlib
import resource
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from tests.service.serving import FRA, running
from tests.service.test_http import raw, refused

import tarry
from tarry.cli import main
from tarry.errors import InputError, JournalError, ServiceError
from tarry.service import connections, deciding, logs, managing, paging, run
from tarry.service.addresses import balancers, check_origins
from tarry.service.agents import Agents
from tarry.service.keys import Keys, new_key
from tarry.service.problems import RefusedError
from tarry.service.run import raise_limit
from tarry.service.shelves import shelf_of


@pytest.fixture(autouse=True)
def tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that is tried here leaves the log alone, and does not serve if it could."""

    def listen(*_: object) -> None:
        raise InputError("It would have listened.")

    monkeypatch.setattr(logs, "set_up", lambda _: None)
    monkeypatch.setattr(run, "bound", listen)


def said_by(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one sentence with which a command refuses what it cannot do."""
    assert main(list(arguments)) == 2
    said = capsys.readouterr().err
    assert said.startswith("tarry: ")
    assert said.count("\n") == 1
    return said


@pytest.mark.parametrize("name", ["agents", "routes.db"])
def test_a_second_service_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether or not the first has an agent yet; when it has ended, the place is free."""
    store = str(tmp_path / name)
    with running(store) as here:
        assert "is served by another process" in said_by(capsys, "serve", "--store", store)
        here.call("PUT", "/v1/agents/routes", FRA)
        assert "is served by another process" in said_by(capsys, "serve", "--store", store)
        assert here.ask()["play"]
    with running(store) as here:
        assert here.ask()["play"]


def test_a_file_in_use_or_of_others_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A service with one agent has nothing to serve without it."""
    path = tmp_path / "routes.db"
    with tarry.Agent(arms=["fra"], payoff="cost", max_delay=2.0, path=path):
        assert "is in use" in said_by(capsys, "serve", "--store", str(path))
    junk = tmp_path / "junk.db"
    junk.write_text("no database at all, sorry")
    assert "no journal of tarry" in said_by(capsys, "serve", "--store", str(junk))
    assert "cannot be opened" in said_by(capsys, "serve", "--store", str(tmp_path / "no" / "x.db"))


@pytest.mark.parametrize(
    "store",
    ["mysql://me:geheim@host/x", "sqlite:///x.db", "postgresql:/x", "/dev/null", "", "a\0b"],
)
def test_stores_of_no_kind_are_refused(
    store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is made on the way, and no password is shown."""
    monkeypatch.chdir(tmp_path)
    said = said_by(capsys, "serve", "--store", store)
    assert "give a file such as routes.db, a folder, or postgresql://" in said
    assert "geheim" not in said
    assert not list(tmp_path.iterdir())


def test_agents_that_open_slowly_do_not_keep_it_from_listening(tmp_path: Path) -> None:
    """They are opened while it serves."""
    for name in ("a", "b"):
        tarry.Agent(
            arms=["fra"], payoff="cost", max_delay=2.0, path=tmp_path / f"{name}.db"
        ).close()
    agents = Agents(shelf_of(str(tmp_path)))
    agents.open_all(patience=0.0)
    assert not agents.open
    asyncio.run(agents.open_rest())
    assert sorted(agents.open) == ["a", "b"]
    agents.close()


def test_open_files_are_kept_for_those_who_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more agent is refused in a sentence; those there are go on."""
    with running(str(tmp_path)) as here:
        assert here.call("PUT", "/v1/agents/routes", FRA).status_code == 201
        used = len(list(Path("/proc/self/fd").iterdir()))
        monkeypatch.setattr(resource, "getrlimit", lambda _: (used + 2, used + 2))
        answer = here.call("PUT", "/v1/agents/another", FRA)
        refused(answer, 503, "no more agents can be opened; raise the limit")
        assert not (tmp_path / "another.db").exists()
        assert here.ask()["play"]


def test_the_limit_of_open_files_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent needs seven, and the usual limit is 1024."""
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 20_000))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: told.append(limits))
    raise_limit()
    assert told == [(20_000, 20_000)]


def test_metrics_are_those_of_the_agents_of_the_key() -> None:
    """Names and counts of others are hidden."""
    keys = [new_key("", "manage"), new_key("", "decide", (), ("routes",))]
    with running(keys=Keys([key for _, key in keys])) as here:
        manage, decide = ({"authorization": f"Bearer {secret}"} for secret, _ in keys)
        for name in ("routes", "landing"):
            here.call("PUT", f"/v1/agents/{name}", FRA, **manage)
        assert 'agent="landing"' in here.call("GET", "/metrics", **manage).text
        seen = here.call("GET", "/metrics", **decide).text
        assert "landing" not in seen
        assert 'tarry_plays{agent="routes",state="asked"} 0.0' in seen
        assert "process_cpu_seconds_total" in seen


@pytest.mark.parametrize(
    ("origin", "meant"),
    [
        ("shop.example", "did you mean https://shop.example?"),
        ("https://shop.example/", "did you mean https://shop.example?"),
        ("https://a.example/path?x", "did you mean https://a.example?"),
        ("https://Shop.example:443", "did you mean https://shop.example?"),
        ("https://b\u00fccher.example", "did you mean https://xn--bcher-kva.example?"),
        ("*", "such as https://shop.example"),
        ("null", "such as https://shop.example"),
        ("", "such as https://shop.example"),
    ],
)
def test_origins_that_no_browser_sends_are_refused(
    origin: str, meant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At once, and with the right form, where a key is made and where they are served."""
    told = ["key", "page", "--keys", str(tmp_path / "keys"), "--origin", origin]
    for said in (said_by(capsys, *told), said_by(capsys, "serve", "--origin", origin)):
        assert "scheme://host" in said
        assert meant in said
    assert not (tmp_path / "keys").exists()


def test_origins_that_browsers_send_are_taken() -> None:
    """With ports, numbers and other schemes too."""
    check_origins(["https://shop.example", "http://localhost:3000", "http://[::1]:8080"])
    check_origins(["https://xn--bcher-kva.example", "chrome-extension://abcdef"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["key", "decide", "--keys", "k", "--agent", ""], "1 to 200 printable characters"),
        (["key", "decide", "--keys", "k", "--origin", "https://a.example"], "is for page keys"),
        (["serve", "--behind", "foo"], "give IP addresses or networks"),
        (["serve", "--behind", "*"], "give IP addresses or networks"),
        (["serve", "--behind", "127.0.0.1,"], "give IP addresses or networks"),
        (["serve", "--demo", "--store", "real"], "must not get into a store"),
    ],
)
def test_arguments_are_checked_at_once(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In one sentence, before anything is made."""
    monkeypatch.chdir(tmp_path)
    assert words in said_by(capsys, *arguments)
    assert not list(tmp_path.iterdir())


def test_rates_below_zero_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """0 is no limit."""
    for what in ("--rate", "--page-rate"):
        with pytest.raises(SystemExit, match="2"):
            main(["serve", what, "-1"])
        assert "must be at least 0" in capsys.readouterr().err
    assert balancers(" 127.0.0.1, 10.0.0.0/8 ") == "127.0.0.1,10.0.0.0/8"


def test_a_page_is_told_to_name_its_origin_in_a_key() -> None:
    """Where keys are set, --origin does nothing for it."""
    secret, key = new_key("", "page", ("https://shop.example",))
    with running(keys=Keys([key])) as here:
        body = {"key": secret, "agent": "landing"}
        answer = here.call("POST", "/v1/page/ask", body, origin="https://other.example")
        refused(answer, 403, "make a page key that names it")


SHOP = "https://shop.example"
PAGE = {"arms": ["quiz", "essay"], "payoff": "reward", "max_delay": 10.0, "lease": 3.0}


def test_a_token_is_good_for_as_long_as_its_play_can_be_out() -> None:
    """A tab that was covered for half an hour and reported meanwhile has its time counted."""
    now = 1_800_000_000.0
    with running(origins=[SHOP], clock=lambda: now) as here:
        here.call("PUT", "/v1/agents/landing", PAGE)
        asked = here.call("POST", "/v1/page/ask", {"agent": "landing"}, origin=SHOP).json()
        report = {"token": asked["token"], "seconds": 2.0}
        now += 1800.0
        assert here.call("POST", "/v1/page/alive", report, origin=SHOP).status_code == 204
        now += 1800.0 + 3.0 + 61.0
        refused(here.call("POST", "/v1/page/end", report, origin=SHOP), 403, "too old")


def test_pages_are_not_told_where_the_store_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody can read what a page is answered."""

    async def away(*_: object) -> None:
        raise JournalError("The agent 'landing' in postgresql://me@db/x cannot be written.")

    monkeypatch.setattr(paging, "chosen", away)
    monkeypatch.setattr(deciding, "chosen", away)
    with running(origins=[SHOP]) as here:
        here.call("PUT", "/v1/agents/landing", PAGE)
        answer = here.call("POST", "/v1/page/ask", {"agent": "landing"}, origin=SHOP)
        refused(answer, 503, "try again")
        assert "postgresql" not in answer.text
        refused(here.call("POST", "/v1/agents/landing/ask", {}), 503, "postgresql://me@db/x")


ASK = b"POST /v1/agents/routes/ask HTTP/1.1\r\nHost: 127.0.0.1\r\n"


def answered(port: int, *pieces: bytes) -> bytes:
    """All that is answered to these bytes until the connection is closed."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.05)
        found = b""
        with contextlib.suppress(ConnectionResetError):
            while more := connection.recv(65536):
                found += more
        return found


def test_requests_that_never_end_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silent, within the head, within the body, or after an answer; who watches may stay."""
    monkeypatch.setattr(connections, "LATE", 0.3)
    monkeypatch.setattr(connections, "LOOK", 0.1)
    with running() as here:
        here.call("PUT", "/v1/agents/routes", FRA)
        with here.http.stream("GET", "/v1/events?agent=routes") as watched:
            lines = watched.iter_lines()
            assert next(lines) == "event: view"
            assert answered(here.port) == b""
            for begun in (ASK, ASK + b"Content-Length: 10\r\n\r\n{"):
                late = answered(here.port, begun)
                assert late.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
                assert b"application/problem+json" in late
                assert late.count(b"HTTP/1.1") == 1
            whole = ASK + b"Content-Length: 2\r\n\r\n{}"
            for rest in (b"POST", b"\r\n"):
                assert answered(here.port, whole, rest).startswith(b"HTTP/1.1 200 OK\r\n")
            here.ask()
            assert "event: view" in lines


def test_heads_without_end_are_refused() -> None:
    """However they come: one header or many, complete or not, with a body or without."""
    with running() as here:
        many = b"".join(b"X-%d: %s\r\n" % (place, b"y" * 50) for place in range(2000))
        for head in (
            ASK + b"X: " + b"y" * 200_000,
            ASK + b"X: " + b"y" * 200_000 + b"\r\n\r\n",
            ASK + many + b"Content-Length: 2\r\n\r\n{}",
            b"GET /" + b"y" * 100_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        ):
            said = answered(here.port, head)
            assert said.startswith(b"HTTP/1.1 431 ") or not said  # unread bytes reset it
        large = {"context": {"a": "x" * 100_000}}
        here.call("PUT", "/v1/agents/routes", FRA)
        assert here.call("POST", "/v1/agents/routes/ask", large).status_code == 400


@pytest.mark.parametrize(
    "sent",
    [
        ASK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        ASK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"nonsense\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused_in_our_words(sent: bytes) -> None:
    """As every error."""
    with running() as here:
        said = answered(here.port, sent)
        assert said.startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert b"content-type: application/problem+json\r\n" in said


def test_another_protocol_is_answered_in_this_one() -> None:
    """There are no web sockets here."""
    with running() as here:
        told = {"connection": "Upgrade", "upgrade": "websocket", "sec_websocket_version": "13"}
        refused(here.call("GET", "/v1/nothing", **told), 404, "Nothing is at this address")


def test_idempotency_keys_at_the_edges() -> None:
    """An empty one is none, two are one too many, and blanks around it are no part of it."""
    with running() as here:
        here.call("PUT", "/v1/agents/routes", FRA)
        ask = "/v1/agents/routes/ask"
        refused(here.call("POST", ask, {}, idempotency_key=""), 400, "1 to 200 printable")
        twice = [("idempotency-key", "a"), ("idempotency-key", "b")]
        refused(here.http.post(ask, headers=twice), 400, "is there twice")
        head = ASK + b"Connection: close\r\nContent-Length: 2\r\nIdempotency-Key: "
        for blanks in (b"", b" ", b"\t "):
            said = answered(here.port, head + b"one" + blanks + b"\r\n\r\n{}")
            assert here.ask(idempotency_key="one")["play"].encode() in said


def test_arms_have_names_that_can_be_shown() -> None:
    """As agents have."""
    with running() as here:
        for name in ("\0", "a\nb"):
            answer = here.call("PUT", "/v1/agents/routes", {**FRA, "arms": [name]})
            refused(answer, 400, "leave out control characters")
        here.call("PUT", "/v1/agents/routes", FRA)
        refused(here.call("POST", "/v1/agents/routes/arms", {"arm": "\n"}), 400, "control")
        answer = here.call("PUT", "/v1/agents/routes", {**FRA, "arms": ["fra", "\n"]})
        refused(answer, 400, "leave out control characters")


def test_words() -> None:
    """What is wrong is said in the words of who asks, with what they can do."""
    with running() as here:
        path = "/v1/agents/routes"
        here.call("PUT", path, FRA)
        refused(here.call("PUT", path, {**FRA, "seed": 3}), 409, "made with another seed; leave")
        answer = here.call("POST", f"{path}/fail", {"play": "7"})
        refused(answer, 404, "this agent made no plays yet.")
        answer = here.call("POST", f"{path}/fail", {"play": "x"})
        refused(answer, 400, "wrong at play: expected text of 1 to 19 digits.")
        answer = here.call("POST", f"{path}/fail", {"play": []})
        refused(answer, 400, "wrong at play: expected a whole number or text, got a list.")
        answer = here.call("PUT", "/v1/agents/x", {**FRA, "policy": "CSE"})
        refused(answer, 400, "cannot be made without threshold; write CSE(threshold=...)")
        answer = here.call("PUT", "/v1/agents/x", {**FRA, "features": {"device": ["phone"]}})
        refused(answer, 400, "expected an object, got a list")


def test_the_client_refuses_what_cannot_be_sent() -> None:
    """At once and in a sentence; a key is never shown."""
    with running() as here, tarry.connect(here.address) as connection:
        agent = connection.agent("routes", **FRA)
        wrong: list[Any] = ["\u00e9", "", 3, "s1 "]
        for key in wrong:
            with pytest.raises(InputError, match="The key is"):
                agent.ask(key=key)
        with pytest.raises(InputError, match="this agent has no features"):
            agent.ask({"a": object()})  # as a local agent says
        assert agent.counts.asked == 0
        with pytest.raises(InputError, match="name of the agent"):
            connection.agent("")
        with pytest.raises(InputError, match="The key is none") as caught:
            tarry.connect(here.address, key="geh\u00e9im")
        assert "geh" not in str(caught.value)
        with tarry.connect(here.address, key="tarry_x\n") as other:
            assert other.agents() == ["routes"]
        with pytest.raises(ServiceError, match="not as tarry serve does"):
            connection.call("GET", "/")
        with pytest.raises(ServiceError, match="not as tarry serve does"):
            connection._opened("/health", connection.call("GET", "/health"))


def test_arms_are_not_exchanged_by_the_thousand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a commit, and a service that works on thousands neither answers nor ends."""
    with running() as here:
        path = "/v1/agents/routes"
        old, new = ([f"{word}{place}" for place in range(60)] for word in ("old", "new"))
        here.call("PUT", path, {**FRA, "arms": old})
        refused(here.call("PUT", path, {**FRA, "arms": new}), 409, "120 arms would come or go")
        found = here.call("PUT", path, {**FRA, "arms": old[:10] + new[:40]}).json()
        assert [arm["name"] for arm in found["arms"]] == old[:10] + new[:40]
        monkeypatch.setattr(managing, "MOST_ARMS", 50)
        refused(here.call("POST", f"{path}/arms", {"arm": "one"}), 409, "50 arms already")


FOREIGN = ("127.0.0.1.evil.example", "127.evil.example", "127.0.0.1@evil", "[::1].evil", "", "::1")


@pytest.mark.parametrize("name", FOREIGN)
def test_no_site_leads_a_browser_here_by_a_name_of_its_own(name: str, tmp_path: Path) -> None:
    """Names that only begin as those of this machine are of others: as hosts and as origins."""
    with running(str(tmp_path / "routes.db")) as here:
        here.call("PUT", "/v1/agents/routes", FRA)
        for place in (name, f"{name}:8391"):
            status, _ = raw(here, "GET", "/v1/agents", host=place)
            assert status == 421, place
        with pytest.raises(RefusedError):
            here.service.check_origin(f"http://{name}", ())


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LocalHost", "[::1]", "127.8.9.10"])
def test_this_machine_has_several_names(name: str, tmp_path: Path) -> None:
    """With a port or without, nobody else can have them."""
    with running(str(tmp_path / "routes.db")) as here:
        for place in (name, f"{name}:8391"):
            assert raw(here, "GET", "/v1/agents", host=place)[0] == 200
        here.service.check_origin(f"http://{name}:8080", ())
