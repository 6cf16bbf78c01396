"""Who may do what: keys, roles, origins and tokens."""

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.service.serving import FRA, Running, running
from tests.service.test_http import refused

import tarry
from tarry.errors import InputError, JournalError, ServiceError
from tarry.service.keys import Keys, append_key, new_key, read_keys
from tarry.service.operations import OPERATIONS, Role
from tarry.service.run import Serving
from tarry.service.shelves import FileShelf, FolderShelf
from tarry.service.tokens import PlayToken, Signer

SHOP = "https://shop.example"
PAGE = {"arms": ["quiz", "essay"], "payoff": "reward", "max_delay": 60.0, "lease": 15.0}


class Door(NamedTuple):
    """A service with keys, and the secrets of some."""

    here: Running
    secrets: dict[str, str]

    def call(self, who: str | None, method: str, path: str, body: Any = None) -> Any:
        """A request with this key."""
        told = {} if who is None else {"authorization": f"Bearer {self.secrets.get(who, who)}"}
        return self.here.http.request(method, path, json=body, headers=told)

    def page(self, path: str, origin: str | None = SHOP, **body: Any) -> Any:
        """A request of a page, sent as a beacon sends it."""
        told = {"content-type": "text/plain;charset=UTF-8"}
        told |= {} if origin is None else {"origin": origin}
        return self.here.http.post(f"/v1/page/{path}", content=json.dumps(body), headers=told)

    def asked(self) -> Any:
        """The answer to a page."""
        return self.page("ask", key=self.secrets["page"], agent="landing").json()


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    """A service with one key of each role, and one for another agent."""
    secrets, keys = {}, []
    for who, role, origins, agents in (
        ("manage", "manage", (), ()),
        ("decide", "decide", (), ()),
        ("page", "page", (SHOP,), ("landing",)),
        ("elsewhere", "decide", (), ("another",)),
        ("other page", "page", ("https://other.example",), ()),
    ):
        secrets[who], key = new_key(who, role, origins, agents)
        keys.append(key)
    with running(keys=Keys(keys), page_rate=10_000.0) as here:
        found = Door(here, secrets)
        assert found.call("manage", "PUT", "/v1/agents/routes", FRA).status_code == 201
        assert found.call("manage", "PUT", "/v1/agents/landing", PAGE).status_code == 201
        yield found


def test_no_key_and_wrong_keys(door: Door) -> None:
    """Everything but health and documents needs a key that is known."""
    for one in OPERATIONS:
        path = one.path.replace("{name}", "routes").replace("{arm}", "fra")
        for who in (None, "tarry_wrong"):
            if one.role in (Role.DECIDE, Role.MANAGE):
                answer = door.call(who, one.method, path, {} if one.takes else None)
                refused(answer, 401, "key")
                assert answer.headers["www-authenticate"] == "Bearer"
    assert door.call(None, "GET", "/health").status_code == 200
    basic = door.here.http.get("/v1/agents", headers={"authorization": "Basic eDp5"})
    refused(basic, 401, "Bearer")


def test_a_page_key_can_only_ask_and_report(door: Door) -> None:
    """As a bearer it is refused everywhere."""
    for one in OPERATIONS:
        if one.role in (Role.DECIDE, Role.MANAGE):
            path = one.path.replace("{name}", "landing").replace("{arm}", "quiz")
            answer = door.call("page", one.method, path, {} if one.takes else None)
            refused(answer, 403, f"needs a key with the role {one.role}, not page")


def test_a_decider_cannot_manage(door: Door) -> None:
    """It asks, tells and looks."""
    for one in OPERATIONS:
        if one.role == Role.MANAGE:
            path = one.path.replace("{name}", "routes").replace("{arm}", "fra")
            answer = door.call("decide", one.method, path, {} if one.takes else None)
            refused(answer, 403, "role manage, not decide")
    assert door.call("decide", "POST", "/v1/agents/routes/ask", {}).status_code == 200
    assert door.call("manage", "POST", "/v1/agents/routes/ask", {}).status_code == 200
    assert door.call("decide", "GET", "/metrics").status_code == 200


def test_keys_of_other_agents(door: Door) -> None:
    """A key may be for some agents only."""
    refused(door.call("elsewhere", "POST", "/v1/agents/routes/ask", {}), 403, "other agents")
    refused(door.call("elsewhere", "GET", "/v1/events?agent=routes"), 403, "other agents")
    assert door.call("elsewhere", "GET", "/v1/agents").json() == {"agents": []}
    page = door.page("ask", key=door.secrets["page"], agent="routes")
    refused(page, 403, "other agents")


def test_pages(door: Door) -> None:
    """A page asks, reports, and ends; what is answered may be read by its origin."""
    answer = door.page("ask", key=door.secrets["page"], agent="landing")
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == SHOP
    assert answer.headers["vary"] == "Origin"
    told = answer.json()
    assert set(told) == {"token", "arm", "heartbeat", "max_delay", "lease"}
    assert told["heartbeat"] == 5.0
    alive = door.page("alive", token=told["token"], seconds=3.0)
    assert alive.status_code == 204
    assert alive.headers["access-control-allow-origin"] == SHOP
    for _ in range(2):  # a beacon may come twice
        assert door.page("end", token=told["token"], seconds=7.5).status_code == 204
    history = door.call("decide", "GET", "/v1/agents/landing/history").json()
    assert 7.5 in history["time"]


def test_pages_of_other_origins(door: Door) -> None:
    """The origin must be that of the key, and be there."""
    for origin in ("https://evil.example", "http://shop.example", "null", f"{SHOP}.evil.example"):
        answer = door.page("ask", origin, key=door.secrets["page"], agent="landing")
        refused(answer, 403, "may not use this")
        assert "access-control-allow-origin" not in answer.headers
    refused(door.page("ask", None, key=door.secrets["page"], agent="landing"), 403, "no origin")
    token = door.asked()["token"]
    refused(
        door.page("alive", "https://evil.example", token=token, seconds=1), 403, "another origin"
    )
    refused(door.page("end", None, token=token, seconds=1), 403, "no origin")
    assert door.page("end", token=token, seconds=1.0).status_code == 204


def test_keys_of_pages(door: Door) -> None:
    """Only a page key is good in a page."""
    refused(door.page("ask", agent="landing"), 401, "none of this service")
    refused(door.page("ask", key="tarry_x", agent="landing"), 401, "none of this service")
    for who in ("manage", "decide"):
        answer = door.page("ask", key=door.secrets[who], agent="landing")
        refused(answer, 403, "must not be in a page")
    other = door.page("ask", key=door.secrets["other page"], agent="landing")
    refused(other, 403, "may not use this")


def test_agents_without_lease_are_not_for_pages(door: Door) -> None:
    """Since nobody would know when a page was left."""
    secret, key = new_key("x", "page", (SHOP,))
    with running(keys=Keys([key, new_key("m", "manage")[1]])) as here:
        here.service.agents._start("plain", arms=["a"], payoff="reward", max_delay=60.0)
        answer = Door(here, {}).page("ask", key=secret, agent="plain")
        refused(answer, 409, "no lease")


def test_wrong_tokens(door: Door) -> None:
    """Changed, cut, foreign, expired: refused, each in one sentence."""
    token = door.asked()["token"]
    body, _, mark = token.partition(".")
    said = json.loads(base64.urlsafe_b64decode(body + "=="))
    assert said[0] == "landing"
    assert said[2] == SHOP
    said[1] += 1
    other = base64.urlsafe_b64encode(json.dumps(said).encode()).decode().rstrip("=")
    for wrong in (
        f"{other}.{mark}",
        f"{body}.{mark[:-1]}",
        body,
        f".{mark}",
        "x",
        "é.é",
        f"{body}.{mark}x",
        Signer(b"another secret" * 4).sign(PlayToken(*said)),
    ):
        refused(door.page("end", token=wrong, seconds=1.0), 403, "not one of this service")
    signer = door.here.service.signer
    old = signer.sign(PlayToken("landing", said[1] - 1, SHOP, time.time() - 1))
    refused(door.page("end", token=old, seconds=1.0), 403, "too old")
    gone = signer.sign(PlayToken("gone", 7, SHOP, time.time() + 60))
    refused(door.page("end", token=gone, seconds=1.0), 404, "no agent 'gone'")
    assert door.page("end", token=token, seconds=1.0).status_code == 204


def test_tokens_expire_when_the_play_must_be_over(door: Door) -> None:
    """After an hour, which is more than four times max_delay, the lease, and a grace."""
    token = door.asked()["token"]
    expiry = json.loads(base64.urlsafe_b64decode(token.partition(".")[0] + "=="))[3]
    assert expiry - time.time() == pytest.approx(3600.0 + 15.0 + 60.0, abs=5)


def test_pages_are_limited_by_address() -> None:
    """One visitor cannot use up what is there for all."""
    secret, key = new_key("x", "page", (SHOP,))
    with running(keys=Keys([key]), page_rate=2.0) as here:
        answers = [Door(here, {}).page("ask", key=secret, agent="none") for _ in range(10)]
        assert [answer.status_code for answer in answers[:3]] == [404] * 3
        refused(answers[-1], 429, "more than 2 requests per second")


def test_without_keys_pages_of_this_machine_may_ask() -> None:
    """And those of origins that were named; no others."""
    with running(origins=[SHOP]) as here:
        here.call("PUT", "/v1/agents/landing", PAGE)
        page = Door(here, {}).page
        for origin in ("http://localhost:8000", "http://127.0.0.1:9", here.address, SHOP):
            assert page("ask", origin, agent="landing").status_code == 200
        for origin in ("https://evil.example", "http://localhost.evil.example", "null"):
            refused(page("ask", origin, agent="landing"), 403, "name it with --origin")


def test_secrets_are_kept_beside_the_store(tmp_path: Path) -> None:
    """So tokens outlive a restart; nobody else may read them."""
    folder = tmp_path / "agents"
    first = FolderShelf(folder).secret()
    assert FolderShelf(folder).secret() == first
    assert (folder / "tarry-secret").stat().st_mode & 0o077 == 0
    file = FileShelf(tmp_path / "routes.db")
    assert file.secret() == file.secret() != first
    (folder / "tarry-secret").write_text("abcd")
    with pytest.raises(JournalError, match="too short"):
        FolderShelf(folder).secret()
    with running(str(tmp_path / "two")) as here:
        here.call("PUT", "/v1/agents/landing", PAGE)
        token = Door(here, {}).page("ask", here.address, agent="landing").json()["token"]
        origin = here.address
    with running(str(tmp_path / "two")) as here:
        assert Door(here, {}).page("end", origin, token=token, seconds=1.0).status_code == 204


def test_files_of_keys(tmp_path: Path) -> None:
    """Only hashes are in them; nonsense is refused by line."""
    path = tmp_path / "keys"
    secret, key = new_key("shop", "decide", (), ("routes",))
    append_key(path, key)
    append_key(path, new_key("m", "manage")[1])
    assert secret not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    keys = read_keys(path)
    assert keys.find(secret) == key
    assert keys.find(secret + "x") is None
    assert not key.is_for("other")
    path.write_text(path.read_text() + "nonsense\n")
    with pytest.raises(InputError, match="Line 3 of the keys"):
        read_keys(path)
    path.write_text("# none\n")
    with pytest.raises(InputError, match="There are no keys"):
        read_keys(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_keys(tmp_path / "none")
    with pytest.raises(InputError, match="manage, decide or page"):
        new_key("x", "king")
    with pytest.raises(InputError, match="needs --origin"):
        new_key("x", "page")


def test_without_keys_only_this_machine_is_served() -> None:
    """Another address is refused with one sentence."""
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):  # noqa: S104  # it is refused
        with pytest.raises(InputError, match="can be reached from elsewhere, and no keys are set"):
            Serving(host=host).made()


def test_the_client_and_its_key(door: Door) -> None:
    """A decider opens what is there; a wrong key is an error of its own."""
    address = door.here.address
    with tarry.connect(address, key=door.secrets["decide"]) as connection:
        agent = connection.agent("routes", arms=["fra", "ams"], payoff="cost", max_delay=2.0)
        assert agent.ask().arm in ("fra", "ams")
        with pytest.raises(JournalError, match="the key may not change it"):
            connection.agent("routes", arms=["rom"], payoff="cost", max_delay=2.0)
        with pytest.raises(ServiceError, match="role manage"):
            agent.add_arm("lon")
        with pytest.raises(ServiceError, match="no agent 'nobody'"):
            connection.agent("nobody")
        assert connection.agents() == ["landing", "routes"]
    with (
        tarry.connect(address, key="wrong") as connection,
        pytest.raises(ServiceError, match="none of this service"),
    ):
        connection.agent("routes")
