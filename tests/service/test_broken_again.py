"""What somebody found who tried to break the service a second time."""

import socket
from pathlib import Path
from typing import Any

import pytest
from tests.service.serving import running
from tests.service.test_http import refused

from tarry.errors import InputError
from tarry.live import Agent
from tarry.service.keys import Keys, new_key
from tarry.service.shelves import secret_in, shelf_of

SHOP = "https://shop.example"
PAGE = {"arms": ["quiz", "essay"], "payoff": "reward", "max_delay": 10.0, "lease": 3.0}
DEVICES = {"device": {"values": ["phone", "desktop"]}}


def test_a_young_agent_explains_a_request() -> None:
    """From the first play on, also for a value that it does not know."""
    with running() as here:
        body = {"arms": ["a", "b"], "payoff": "cost", "max_delay": 2.0, "features": DEVICES}
        answer = here.call("PUT", "/v1/agents/young", body)
        assert answer.status_code == 201, answer.text
        for number in range(12):
            ask = {"context": {"device": ["phone", "desktop"][number % 2]}}
            play = here.call("POST", "/v1/agents/young/ask", ask).json()["play"]
            told = {"play": play, "delay": 0.1 + number / 100}
            here.call("POST", "/v1/agents/young/tell", told)
            for device in ("phone", "desktop", "fridge"):
                answer = here.call(
                    "POST", "/v1/agents/young/explain", {"context": {"device": device}}
                )
                assert answer.status_code == 200, answer.text


def test_an_explanation_counts_what_was_not_normal() -> None:
    """As the agent itself does."""
    with running() as here:
        here.call("PUT", "/v1/agents/pages", {**PAGE, "lease": None})
        play = here.ask("pages")["play"]
        for _ in range(3):
            here.call("POST", "/v1/agents/pages/tell", {"play": play, "delay": 0.5})
        counts = here.call("GET", "/v1/agents/pages/explain").json()["counts"]
        assert counts == here.call("GET", "/v1/agents/pages").json()["counts"]
        assert counts["repeated"] == 2


@pytest.mark.parametrize("rest", ["SECRET%ZZPW@127.0.0.1:1/x", "SECRETPW@[bad/x"])
def test_a_malformed_address_does_not_tell_its_password(rest: str) -> None:
    """Neither of a service nor of an agent, and not in what caused the error either."""
    address = f"postgresql://me:{rest}"
    for attempt in (
        lambda: shelf_of(address),
        lambda: Agent(arms=["a"], payoff="cost", max_delay=2.0, path=address, name="x"),
    ):
        with pytest.raises(InputError) as caught:
            attempt()
        assert "malformed" in str(caught.value)
        assert "SECRET" not in f"{caught.value} {caught.value.__cause__}"
        assert caught.value.__suppress_context__


def test_a_secret_that_cannot_be_kept_is_one_sentence(tmp_path: Path) -> None:
    """A folder that is none stands for one that belongs to somebody else."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be kept in .*; see that the folder can be"):
        secret_in(tmp_path / "file" / "tarry-secret")


def test_the_head_of_a_stream_ends() -> None:
    """The next request on the connection is answered."""
    with running() as here:
        here.call("PUT", "/v1/agents/pages", PAGE)
        with socket.create_connection(("127.0.0.1", here.port), timeout=10) as line:
            line.sendall(
                b"HEAD /v1/events?agent=pages HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
                b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
            )
            found = b""
            while more := line.recv(65536):
                found += more
        assert found.count(b"HTTP/1.1 200") == 2
        assert b"text/event-stream" in found
        assert b'"agents":1' in found


def test_pages_can_read_why_they_are_refused() -> None:
    """Those of a site that some key names; a typing error is none of the browser's concern."""
    secret, key = new_key("", "page", (SHOP,))
    with running(keys=Keys([key])) as here:
        for body, status in (
            ({"key": secret, "agent": "lnading"}, 404),
            ({"key": "wrong", "agent": "landing"}, 401),
            ({"key": secret, "agent": 5}, 400),
        ):
            answer = here.call("POST", "/v1/page/ask", body, origin=SHOP)
            assert answer.status_code == status, answer.text
            assert answer.headers["access-control-allow-origin"] == SHOP
        other = here.call("POST", "/v1/page/ask", body, origin="https://other.example")
        assert "access-control-allow-origin" not in other.headers
        refused(other, 400, "agent")


def test_files_are_compressed_for_those_who_can_read_them() -> None:
    """The script for pages has less than 3 kB then, as its page says."""
    with running() as here:
        plain = here.http.get("/dwell.js", headers={"accept-encoding": "identity"})
        with here.http.stream("GET", "/dwell.js", headers={"accept-encoding": "gzip"}) as packed:
            size = len(b"".join(packed.iter_raw()))
        assert size < 3000 < len(plain.content)
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.headers["access-control-allow-origin"] == "*"
        assert here.http.get("/dwell.js").content == plain.content
        for encoding, etag in (
            ("gzip", packed.headers["etag"]),
            ("identity", plain.headers["etag"]),
        ):
            told = {"accept-encoding": encoding, "if-none-match": etag}
            assert here.http.get("/dwell.js", headers=told).status_code == 304


def test_sentences_speak_json() -> None:
    """What is allowed in a context, or as a feature, is said in the words of who sends JSON."""
    with running() as here:
        body = {"arms": ["a"], "payoff": "cost", "max_delay": 2.0}
        told = {"features": {**DEVICES, "size": {}}}
        assert here.call("PUT", "/v1/agents/json", {**body, **told}).status_code == 201
        for context, words in (
            ({"size": "or None."}, "'size' is 'or None.'; it must be a number, or null."),
            ({"device": 3}, "it must be a text, or null."),
        ):
            for verb in ("ask", "explain"):
                answer = here.call("POST", f"/v1/agents/json/{verb}", {"context": context})
                assert answer.status_code == 400
                assert words in answer.json()["detail"]
        twice = {"features": {"device": {"values": ["a", "a"]}}}
        detail = here.call("PUT", "/v1/agents/twice", {**body, **twice}).json()["detail"]
        assert 'give {} or {"log": true} for a number, {"period": 24} or {"values"' in detail
        here.call("PUT", "/v1/agents/plain", body)
        answer = here.call("POST", "/v1/agents/plain/ask", {"context": {"size": 1}})
        assert answer.json()["detail"].endswith('make one with "features".')
        other = {**body, **told, "policy": "LinearThompson"}
        here.call("PUT", "/v1/agents/other", other)
        answer = here.call("POST", "/v1/agents/other/explain", {"context": {"size": 1}})
        assert answer.json()["detail"].endswith("; SurvivalRegression does.")


def test_control_characters_in_features() -> None:
    """Refused as in the names of arms."""
    with running() as here:
        body = {"arms": ["a"], "payoff": "cost", "max_delay": 2.0}
        wrong: list[dict[str, Any]] = [{"a\nb": {}}, {"kind": {"values": ["\x1b[31m"]}}]
        for features in wrong:
            answer = here.call("PUT", "/v1/agents/a", {**body, "features": features})
            refused(answer, 400, "cannot be shown; leave out control characters.")


def test_objects_have_no_order(tmp_path: Path) -> None:
    """The same features in another order are the same; the first order is that of the columns."""
    body = {"arms": ["a"], "payoff": "cost", "max_delay": 2.0}
    features = {**DEVICES, "x": {}, "size": {"log": True}}
    turned = dict(reversed(features.items()))
    context = {"size": 1.0, "x": 3.0, "device": "phone"}
    for given in (features, turned):  # the second time it is opened from its file
        with running(f"{tmp_path}/") as here:
            here.call("PUT", "/v1/agents/a", {**body, "features": given})
            answer = here.call("PUT", "/v1/agents/a", {**body, "features": turned})
            assert answer.status_code == 200, answer.text
            assert list(answer.json()["features"]) == list(features)
            assert here.call("POST", "/v1/agents/a/ask", {"context": context}).status_code == 200
            engine = here.service.agents.open["a"].agent._engine
            assert engine.numbers_of(context) == [1.0, 0.0, 3.0, 0.0]
            refused(
                here.call("PUT", "/v1/agents/a", {**body, "features": {"x": {}}}),
                409,
                'features {"device": {"values": ["phone", "desktop"]}, "x": {}, "size": {"log": '
                'true}}, but {"x": {}} is given; ',
            )
