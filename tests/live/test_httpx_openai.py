"""The OpenAI SDK over the transports, against model servers on the loopback interface."""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import httpx2
import pytest
from tests.live.http_servers import Handler, Server, serving

import tarry
import tarry.live.httpx
from tarry.live.httpx2 import AsyncTransport, Route, Transport, json_fields

pytestmark = pytest.mark.xdist_group("openai")  # which takes a second to load

TOKEN = 0.01  # seconds from token to token
HELLO: Any = [{"role": "user", "content": "hello"}]


class Model:
    """Answers as a provider of models does, whole or as a stream of events."""

    def __init__(self, key: str, model: str, first: float) -> None:
        self.key, self.model, self.first = key, model, first

    def __call__(self, handler: Handler) -> None:
        """One answer."""
        asked = json.loads(handler.body)
        if handler.headers["Authorization"] != f"Bearer {self.key}":
            handler.reply(401, b'{"error": {"message": "bad key"}}')
        elif asked["model"] != self.model or handler.path != f"/{self.model}/v1/chat/completions":
            handler.reply(404, b'{"error": {"message": "no such model"}}')
        elif asked.get("stream"):
            self._stream(handler)
        else:
            time.sleep(self.first)
            message = {"role": "assistant", "content": "hello world"}
            handler.reply(body=self._event("chat.completion", message=message))

    def _stream(self, handler: Handler) -> None:
        """The head at once; then a token after `first` seconds, and one more."""
        parts: list[bytes | float] = [self.first]
        for word in ("hello", " world"):
            event = self._event("chat.completion.chunk", delta={"content": word})
            parts += [b"data: " + event + b"\n\n", TOKEN]
        handler.chunks(*parts, b"data: [DONE]\n\n", Content_Type="text/event-stream")

    def _event(self, kind: str, **choice: Any) -> bytes:
        choices = [{"index": 0, "finish_reason": "stop", **choice}]
        whole = {"id": "x", "object": kind, "created": 0, "model": self.model, "choices": choices}
        return json.dumps(whole).encode()


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    """A quick provider and a slow one, with models, keys and paths of their own."""
    with serving(Model("key-q", "quick-1", 0.005), Model("key-s", "slow-2", 0.06)) as both:
        yield both


def routes_to(servers: list[Server]) -> dict[str, Route]:
    """What a user writes for the two."""
    quick, slow = servers
    return {
        "quick": Route(
            f"{quick.url}/quick-1",
            headers={"Authorization": "Bearer key-q"},
            rewrite=json_fields(model="quick-1"),
        ),
        "slow": Route(
            f"{slow.url}/slow-2",
            headers={"Authorization": "Bearer key-s"},
            rewrite=json_fields(model="slow-2"),
        ),
    }


def text_of(stream: Any) -> str:
    """The tokens of a stream, joined."""
    return "".join(chunk.choices[0].delta.content for chunk in stream)


@pytest.mark.parametrize("until", ["headers", "first-byte", "body"])
def test_the_sdk_waits(servers: list[Server], until: str) -> None:
    """Whole answers and streams come back, and every play is told, over kept connections."""
    import openai

    sender = httpx2.HTTPTransport(limits=httpx2.Limits(max_connections=2))
    settings: dict[str, Any] = {"until": until, "max_delay": 1.0, "seed": 2, "transport": sender}
    transport = Transport(routes_to(servers), **settings)
    with openai.OpenAI(
        api_key="unused",
        base_url="http://routed/v1",
        http_client=httpx2.Client(transport=transport),
    ) as client:
        create = client.chat.completions.create
        for _ in range(6):
            answer = create(model="any", messages=HELLO)
            assert answer.choices[0].message.content == "hello world"
            stream = create(model="any", messages=HELLO, stream=True)
            assert text_of(stream) == "hello world"
        raw = client.chat.completions.with_raw_response.create(
            model="any",
            messages=HELLO,
        )
        served = raw.http_response.extensions["tarry"]
        assert served.arm in ("quick", "slow")
        assert served.outcome == "told"
        counts = transport.agent.counts
        assert (counts.returned, counts.failed) == (13, 0)
    seen = servers[0].seen + servers[1].seen
    assert len(seen) == 13


def test_the_sdk_on_a_loop(servers: list[Server]) -> None:
    """Many streams at once over few connections: waiting for one of them is not charged."""
    import openai

    async def main() -> tuple[tarry.live.Counts, float]:
        sender = httpx2.AsyncHTTPTransport(limits=httpx2.Limits(max_connections=4))
        transport = AsyncTransport(
            routes_to(servers), until="first-byte", max_delay=1.0, seed=1, transport=sender
        )
        async with openai.AsyncOpenAI(
            api_key="unused",
            base_url="http://routed/v1",
            http_client=httpx2.AsyncClient(transport=transport),
        ) as client:

            async def ask() -> str:
                create: Any = client.chat.completions.create
                stream = await create(model="any", messages=HELLO, stream=True)
                return "".join([chunk.choices[0].delta.content async for chunk in stream])

            assert set(await asyncio.gather(*(ask() for _ in range(40)))) == {"hello world"}
            return transport.agent.counts, transport.agent.explain()["quick"].mean

    counts, mean = asyncio.run(main())
    assert (counts.returned, counts.closed, counts.failed) == (40, 0, 0)
    assert mean < 0.15
    assert len(servers[0].seen) > len(servers[1].seen)


def test_first_tokens_are_what_first_byte_measures(servers: list[Server]) -> None:
    """The head of a stream is there at once; the first token tells the providers apart."""
    delays: dict[str, dict[str, float]] = {}
    for until in ("headers", "first-byte"):
        delays[until] = {}
        for arm, route in routes_to(servers).items():
            transport = Transport({arm: route}, until=until, max_delay=1.0)
            with httpx2.Client(transport=transport) as client:
                answer = client.post(
                    "http://routed/v1/chat/completions", json={"model": "x", "stream": True}
                )
                delays[until][arm] = answer.extensions["tarry"].delay
    assert delays["headers"]["slow"] < 0.05
    assert delays["first-byte"]["slow"] > 0.055


def test_the_sdk_retries_what_a_busy_route_refuses() -> None:
    """After a 429 with `Retry-After` the SDK tries again, and finds the other route."""

    def busy(handler: Handler) -> None:
        handler.reply(429, b'{"error": {"message": "busy"}}', Retry_After="0.01")

    import openai

    with serving(busy, Model("k", "m", 0.0)) as [a, b]:
        routes = {
            "busy": Route(a.url),
            "good": Route(b.url + "/m", headers={"Authorization": "Bearer k"}),
        }
        policy = tarry.DelayedUCB()  # plays every arm once before it chooses
        agent = tarry.Agent(policy, arms=list(routes), payoff="cost", max_delay=1.0)
        transport = tarry.live.httpx.Transport(routes, agent=agent)
        with openai.OpenAI(
            api_key="unused",
            base_url="http://routed/v1",
            max_retries=5,
            http_client=httpx.Client(transport=transport),
        ) as client:
            for _ in range(4):
                answer = client.chat.completions.create(model="m", messages=HELLO)
                assert answer.choices[0].message.content == "hello world"
            assert transport.agent.counts.failed == len(a.seen) >= 1
