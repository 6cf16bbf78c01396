"""Answers to those who watch: explain, history, the dashboard's view, metrics, health."""

import asyncio
import contextlib
import math
import time
from typing import Any

import msgspec
from starlette.responses import Response, StreamingResponse

from tarry.errors import TarryError
from tarry.service.agents import Agents, Served, counted
from tarry.service.messages import ArmExplained, Explain, Explained, Health, History
from tarry.service.operations import Call, Role, operation
from tarry.service.problems import RefusedError
from tarry.service.view import view as view_of

AGENT = "/v1/agents/{name}"
MOST_PLAYS = 100_000  # in one answer
USUAL_PLAYS = 1000
EVERY = 1.0  # seconds between two views, at least
HEARTBEAT = 15.0  # seconds between two signs of life
FOLLOW = 2.0  # seconds between two looks at what was played, while nobody watches


@operation("GET", f"{AGENT}/explain", Role.DECIDE, gives=Explained, refuses=("agent", "store"))
async def explain(call: Call) -> Explained:
    """What is known of each arm, and why it is or is not chosen."""
    return await explained(call)


@operation(
    "POST",
    f"{AGENT}/explain",
    Role.DECIDE,
    takes=Explain,
    gives=Explained,
    refuses=("agent", "store"),
)
async def explain_request(call: Call) -> Explained:
    """What is known of each arm for a request with this context."""
    return await explained(call, call.body.context)


async def explained(call: Call, context: dict[str, Any] | None = None) -> Explained:
    """An explanation as a message."""
    served = await call.service.agents.get(call.words["name"])
    report = await asyncio.to_thread(served.agent.explain, context)
    arms = [
        ArmExplained(
            **{name: known(plain(getattr(row, name))) for name in ArmExplained.__struct_fields__}
        )
        for row in report.arms
    ]
    counts = counted(report.counts.with_odd(served.agent.counts.odd))
    payoff = served.agent.payoff
    return Explained(
        policy=report.policy,
        payoff="reward" if payoff == "reward" else "cost",
        counts=counts,
        probing=known(report.probing),
        warning=report.warning,
        arms=arms,
    )


@operation(
    "GET",
    f"{AGENT}/history",
    Role.DECIDE,
    gives=History,
    refuses=("agent", "store"),
    query={"limit": f"How many of the latest plays: 1 to {MOST_PLAYS}, {USUAL_PLAYS} by default."},
)
async def history(call: Call) -> History:
    """The latest plays, and what became of them."""
    served = await call.service.agents.get(call.words["name"])
    text = call.query.get("limit", str(USUAL_PLAYS))
    good = text.isascii() and text.isdigit() and len(text) < 10
    if not good or not 1 <= int(text) <= MOST_PLAYS:
        raise RefusedError(
            "input", f"The limit is {text[:20]!r}; give a whole number from 1 to {MOST_PLAYS}."
        )
    return await asyncio.to_thread(_history, served, int(text))


def _history(served: Served, limit: int) -> History:
    log = served.agent.history()
    first = max(len(log.times) - limit, 0)
    context = {name: list(values[first:]) for name, values in log.context.items()}
    status = [str(each) for each in context.pop("status")]
    starts = log.starts
    return History(
        arms=list(log.names),
        arm=[int(place) for place in log.arms[first:]],
        time=[float(x) for x in log.times[first:]],
        finished=[bool(x) for x in log.finished[first:]],
        start=[] if starts is None else [float(x) for x in starts[first:]],
        status=status,
        context={name: [known(plain(x)) for x in values] for name, values in context.items()},
        max_delay=served.agent.max_delay,
        total=len(log.times),
    )


@operation("GET", f"{AGENT}/view", Role.DECIDE, gives=dict[str, Any], refuses=("agent", "store"))
async def view(call: Call) -> Response:
    """What the dashboard draws of an agent."""
    served = await call.service.agents.get(call.words["name"])
    return Response(await drawn(served), media_type="application/json")


async def drawn(served: Served) -> bytes:
    """The view as JSON, made at most once per second however many look at it."""
    now = asyncio.get_running_loop().time()
    served.used_at = time.monotonic()
    if served.drawing is None or now - served.drawn_at >= EVERY:
        served.drawn_at = now
        served.drawing = asyncio.ensure_future(asyncio.to_thread(_drawn, served))
    return await asyncio.shield(served.drawing)


def _drawn(served: Served) -> bytes:
    document = view_of(served.agent, served.shares)
    return msgspec.json.encode({**document, "name": served.name})


@operation(
    "GET",
    "/v1/events",
    Role.DECIDE,
    gives=str,
    refuses=("agent", "store", "input"),
    query={"agent": "The name of the agent."},
)
async def events(call: Call) -> Response:
    """The dashboard's view as server-sent events, whenever it has changed."""
    name = call.query.get("agent", "")
    if not call.key.is_for(name):
        raise RefusedError("role", "This key is for other agents.")
    served = await call.service.agents.get(name)
    return StreamingResponse(
        stream(served, call.service.over),
        media_type="text/event-stream",
        headers={"cache-control": "no-store", "x-accel-buffering": "no"},
    )


async def stream(served: Served, over: asyncio.Event) -> Any:
    """Views as they change, and signs of life."""
    loop = asyncio.get_running_loop()
    before, said = b"", loop.time()
    ending = asyncio.ensure_future(over.wait())
    try:
        while not over.is_set():
            document = await drawn(served)
            if unchanging(document) != before:
                before, said = unchanging(document), loop.time()
                yield b"event: view\ndata: " + document + b"\n\n"
            elif loop.time() - said > HEARTBEAT:
                said = loop.time()
                yield b": here\n\n"
            await asyncio.wait([ending], timeout=EVERY)
    finally:
        ending.cancel()


async def keep_following(agents: Agents, over: asyncio.Event) -> None:
    """Note what is played of each agent now and then, so that who looks later sees how it began.

    Agents of a database that nobody uses are let go, if there are many.
    """

    def follow(resting: list[Served]) -> None:
        for served in resting:
            served.close()
        for served in list(agents.open.values()):
            with contextlib.suppress(TarryError):  # it was closed just now, say
                served.shares.follow(served.agent)

    while not over.is_set():
        await asyncio.to_thread(follow, agents.let_rest())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(over.wait(), FOLLOW)


def unchanging(document: bytes) -> bytes:
    """The document without what changes by itself: its time, and the middle of the last share."""
    fields = msgspec.json.decode(document, type=dict[str, msgspec.Raw])
    fields.pop("now", None)
    shares = msgspec.json.decode(fields.pop("shares"), type=dict[str, msgspec.Raw])
    shares.pop("time", None)
    return msgspec.json.encode((fields, shares))


@operation("GET", "/metrics", Role.DECIDE, gives=str)
async def metrics(call: Call) -> Response:
    """Numbers for Prometheus, of the agents that the key is for."""
    text = await asyncio.to_thread(call.service.metrics.text, call.key.is_for)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


@operation("GET", "/health", Role.OPEN, gives=Health)
async def health(call: Call) -> Health:
    """Whether the service works, and can write what it decides."""
    served = list(call.service.agents.open.values())
    behind = any(each.agent.trouble for each in served)
    return Health("behind" if behind else "ok", len(served))


@operation("GET", "/openapi.json", Role.OPEN, gives=dict[str, Any])
async def openapi(call: Call) -> Response:
    """This interface as an OpenAPI document."""
    from tarry.service.openapi import document

    return Response(document(), media_type="application/json")


def known(value: Any) -> Any:
    """A value that JSON can hold: what is no number is null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def plain(value: Any) -> Any:
    """A value without NumPy."""
    return value.item() if hasattr(value, "item") else value
