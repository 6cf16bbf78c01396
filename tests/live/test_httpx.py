"""Where requests go: routes, hosts, redirects, learning, and what a transport owns."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.live.http_servers import Handler, Way, after, serving

import tarry
from tarry.errors import InputError, LiveError
from tarry.live.httpx import AsyncTransport, Route, Transport, json_fields

WAYS = ("httpx", "httpx-asyncio", "httpx2", "httpx2-trio")


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    """Both packages, with clients that wait and clients on a loop."""
    return Way(request.param)


def echo(handler: Handler) -> None:
    """An answer with the request in it."""
    handler.reply(body=f"{handler.path} {handler.headers['Host']}".encode())


def test_requests_keep_their_path_and_get_the_host_of_the_route(way: Way) -> None:
    """Paths are joined, queries too, and `response.extensions["tarry"]` says who served and why."""
    with serving(echo) as [one]:
        routes = {"one": one.url + "/base/?version=3"}
        with way.caller(routes, max_delay=1.0) as caller:
            answer = caller.get("http://ROUTED/items/7?q=a%20b")
            assert answer.text == f"/base/items/7?version=3&q=a%20b {one.url[7:]}"
            served = answer.extensions["tarry"]
            assert (served.arm, served.tried, served.outcome) == ("one", (), "told")
            assert 0 < served.delay < 1
            assert served.why == caller.agent.explain()["one"].why
            assert f"by 'one', play {served.play}, told" in repr(served)
            assert caller.agent.counts.returned == 1
            assert caller.transport.urls["one"].path == "/base/"


def test_key_and_model_differ_per_route(way: Way) -> None:
    """Each route has its own headers and body, and none sees those of another."""
    with serving(echo, echo) as [a, b]:
        routes = {
            "a": Route(a.url, headers={"Authorization": "Bearer a"}),
            "b": Route(
                b.url + "/v1", headers={"api-key": "b"}, rewrite=json_fields(model="large", n=2)
            ),
        }
        assert "Bearer" not in repr(routes["a"])
        headers = {"Authorization": "Bearer mine"}
        with way.caller(routes, max_delay=1.0, seed=3) as caller:
            for arm, other in (("a", "b"), ("b", "a")):
                caller.agent.pause_arm(other)
                answer = caller.send(
                    "POST", "http://routed/chat", json={"model": "m", "é": 1}, headers=headers
                )
                assert answer.extensions["tarry"].arm == arm
                caller.agent.resume_arm(other)
            caller.agent.pause_arm("a")
            for content in (b"[1]", b"no json", iter([b"streamed"])):
                caller.send("POST", "http://routed/chat", content=content)
    assert a.seen[0].headers["Authorization"] == "Bearer a"
    assert json.loads(a.seen[0].body) == {"model": "m", "é": 1}
    assert b.seen[0].path == "/v1/chat"
    assert b.seen[0].headers["api-key"] == "b"
    assert b.seen[0].headers["Authorization"] == "Bearer mine"
    assert json.loads(b.seen[0].body) == {"model": "large", "é": 1, "n": 2}
    assert [seen.body for seen in b.seen[1:]] == [b"[1]", b"no json", b"streamed"]


def test_a_rewrite_may_change_the_whole_request() -> None:
    """It may send elsewhere and return nothing; its own errors are not the route's."""

    def move(request: httpx.Request) -> None:
        request.url = request.url.copy_with(port=there.server_port, path="/deep" + request.url.path)

    def broken(request: httpx.Request) -> httpx.Request:
        raise KeyError(request.method)

    with serving(echo, echo) as [here, there]:
        routes = {"a": Route(here.url, rewrite=move)}
        with Way("httpx").caller(routes, max_delay=1.0) as caller:
            assert caller.get("http://routed/x").text == f"/deep/x {there.url[7:]}"
            caller.transport.routes["a"] = Route(here.url, rewrite=broken)
            with pytest.raises(KeyError, match="GET"):
                caller.get()
            assert caller.agent.counts.cancelled == 1


def test_a_redirect_to_another_host_is_left_alone(way: Way) -> None:
    """It goes where it points to, without a play and without the key of a route."""

    def away(handler: Handler) -> None:
        if handler.path == "/again":
            handler.reply(302, Location="/done")
        elif handler.path == "/done":
            handler.reply(body=b"routed")
        else:
            handler.reply(302, Location=other.url + "/there")

    with serving(away, after(0, body=b"elsewhere")) as [route, other]:
        routes = {"a": Route(route.url, headers={"api-key": "secret"})}
        settings: dict[str, Any] = {"client": {"follow_redirects": True}, "max_delay": 1.0}
        with way.caller(routes, **settings) as caller:
            answer = caller.get("http://routed/items")
            assert answer.text == "elsewhere"
            assert "tarry" not in answer.extensions
            assert caller.agent.counts.asked == 1
            assert other.seen[0].path == "/there"
            assert other.seen[0].headers["Host"] == other.url[7:]
            assert "api-key" not in other.seen[0].headers
            assert caller.get("http://routed/again").text == "routed"
            assert caller.agent.counts.asked == 3
            assert caller.transport.counts[:2] == (3, 1)
    assert [seen.path for seen in route.seen] == ["/items", "/again", "/done"]


def test_a_mounted_transport_routes_its_hosts() -> None:
    """With a mount, the client says what is routed; `host=` names another host than `routed`."""
    with serving(echo, echo) as [route, other]:
        mounts = {"all://api.example.org": Transport({"a": route.url}, host=None, max_delay=1.0)}
        with httpx.Client(mounts=mounts) as client:
            assert client.get("https://api.example.org/x").text == f"/x {route.url[7:]}"
            assert client.get(other.url + "/y").text == f"/y {other.url[7:]}"
        named = Transport({"a": route.url}, host="API.example.org", max_delay=1.0)
        with httpx.Client(transport=named) as client:
            assert client.get("https://api.example.org/z").text == f"/z {route.url[7:]}"
            assert client.get(other.url + "/y").text == f"/y {other.url[7:]}"
    assert len(other.seen) == 2


def test_a_host_that_nobody_routes_is_pointed_out(caplog: pytest.LogCaptureFixture) -> None:
    """A client whose requests all miss the routed host says so, once."""
    with serving(echo) as [server]:
        with Way("httpx2").caller({"a": server.url}, max_delay=1.0) as caller:
            caller.get(server.url)
            caller.get(server.url)
        assert caller.agent.counts.asked == 0
    assert [record.name for record in caplog.records] == ["tarry"]
    assert "127.0.0.1 is not for the routed host, routed" in caplog.text


def test_the_quick_route_is_found_and_connections_are_kept() -> None:
    """After some 40 requests most go to the quick server, over one connection."""
    with serving(after(0.001), after(0.05)) as [quick, slow]:
        routes = {"quick": quick.url, "slow": slow.url}
        with Way("httpx2").caller(routes, max_delay=0.2, seed=1) as caller:
            arms = [caller.get().extensions["tarry"].arm for _ in range(80)]
            assert arms[40:].count("quick") > 25
            assert caller.agent.counts.returned == 80
    assert len({seen.port for seen in quick.seen + slow.seen}) <= 2


def test_a_quick_refusal_is_not_the_best_route() -> None:
    """Of 200 requests, a server that answers 429 at once gets few."""
    with serving(after(0.0, 429), after(0.004)) as [busy, good]:
        routes = {"busy": busy.url, "good": good.url}
        with Way("httpx").caller(routes, max_delay=1.0, seed=5) as caller:
            for _ in range(200):
                caller.get()
        assert 1 <= len(busy.seen) <= 30
        assert len(good.seen) == 200 - len(busy.seen)


def test_a_transport_closes_only_the_agent_that_it_made(way: Way, tmp_path: Path) -> None:
    """One that was handed to it goes on; one of its own is closed."""
    with serving(echo) as [server]:
        routes = {"a": server.url}
        mine = tarry.Agent(arms=["a"], payoff="cost", max_delay=1.0, path=tmp_path / "mine.db")
        with way.caller(routes, agent=mine) as caller:
            caller.get()
        mine.tell(mine.ask())
        assert mine.counts.returned == 2
        mine.close()
        with way.caller(routes, max_delay=1.0, path=tmp_path / "own.db") as caller:
            caller.get()
        with pytest.raises(LiveError, match="closed"):
            caller.agent.ask()
        with way.caller(routes, max_delay=1.0, path=tmp_path / "own.db") as caller:
            caller.get()
            assert caller.agent.counts.returned == 2


def test_routes_can_be_added(way: Way) -> None:
    """A route added is chosen at once; what does not fit is refused in one sentence."""
    with serving(echo, echo) as [one, two]:
        agent = tarry.Agent(tarry.DelayedUCB(), arms=["one"], payoff="cost", max_delay=1.0)
        with way.caller({"one": one.url, "spare": one.url}, agent=agent) as caller:
            caller.transport.add_route("two", Route(two.url))
            assert agent.arms == ("one", "two")
            with pytest.raises(InputError, match="an arm 'two' already"):
                caller.transport.add_route("two", one.url)
            agent.remove_arm("one")
            assert caller.get().extensions["tarry"].arm == "two"
            agent.add_arm("three")
            agent.remove_arm("two")
            with pytest.raises(LiveError, match="'three' has no route"):
                caller.get()
            assert agent.counts.pending == 0


def test_what_does_not_fit_is_refused() -> None:
    """Settings next to an agent, arms without a route, URLs without a host."""
    routes = {"a": "http://a.example.org"}
    agent = tarry.Agent(arms=["a", "b"], payoff="cost", max_delay=1.0)
    with pytest.raises(InputError, match="one or the other"):
        Transport(routes, agent=agent, max_delay=2.0)
    with pytest.raises(InputError, match="'b' of the agent has no URL"):
        AsyncTransport(routes, agent=agent)
    with pytest.raises(InputError, match="until"):
        Transport(routes, max_delay=1.0, until="soon")
    with pytest.raises(InputError, match="retries"):
        Transport(routes, max_delay=1.0, retry=-1)
    for url in ("a.example.org", "ftp://a.example.org", "http:///x"):
        with pytest.raises(InputError, match="scheme and host"):
            Transport({"a": url}, max_delay=1.0)


def test_many_requests_at_once() -> None:
    """Threads and tasks overlap, every play is told, and a task that is cancelled cancels its."""
    with serving(after(0.005), after(0.02)) as [a, b]:
        routes = {"a": a.url, "b": b.url}
        with Way("httpx").caller(routes, max_delay=1.0, until="body") as caller:
            threads = [threading.Thread(target=caller.get) for _ in range(20)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert caller.agent.counts.returned == 20

        async def main() -> tarry.live.Counts:
            transport = AsyncTransport(routes, max_delay=1.0, until="body")
            async with httpx.AsyncClient(transport=transport) as client:
                await asyncio.gather(*(client.get("http://routed/") for _ in range(30)))
                stuck = asyncio.create_task(client.get("http://routed/"))
                await asyncio.sleep(0.002)
                stuck.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await stuck
                return transport.agent.counts

        counts = asyncio.run(main())
    assert (counts.returned, counts.cancelled, counts.pending) == (30, 1, 0)


def test_the_callers_own_trace_is_served(way: Way) -> None:
    """A trace extension of the request is called as without us."""
    events: list[str] = []

    def plain(event: str, details: Any) -> None:
        events.append(event)

    async def aware(event: str, details: Any) -> None:
        events.append(event)

    with serving(echo) as [server], way.caller({"a": server.url}, max_delay=1.0) as caller:
        caller.get(extensions={"trace": aware if way.loop else plain})
    assert "http11.receive_response_headers.complete" in events


def test_arms_at_rest_in_a_journal_are_open_again(tmp_path: Path) -> None:
    """A process that is killed while a server rests leaves no arm paused for good."""
    path = tmp_path / "routes.db"
    with tarry.Agent(arms=["a", "b"], payoff="cost", max_delay=1.0, path=path) as agent:
        agent.pause_arm("a")
    routes = {"a": "http://a.example.org", "b": "http://b.example.org"}
    transport = Transport(routes, max_delay=1.0, path=path)
    assert not any(row.paused for row in transport.agent.explain().arms)
    transport.close()
