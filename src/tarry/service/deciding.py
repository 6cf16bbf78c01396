"""Answers to those who play: ask, tell, fail, cancel, alive."""

import asyncio
from typing import Any

from tarry.live.plays import Play
from tarry.live.replica import SHIFT
from tarry.service.agents import Served
from tarry.service.messages import Alive, Ask, Asked, Cancelled, StillOut, Tell, ToldAnswer, Which
from tarry.service.operations import Call, Role, operation

AGENT = "/v1/agents/{name}"
IDLE = 0.05  # seconds after which a replica may be behind
ENDS = ("agent", "play", "conflict", "store")


async def served_of(call: Call) -> Served:
    """The agent that is spoken of."""
    return await call.service.agents.get(call.words["name"])


@operation(
    "POST",
    f"{AGENT}/ask",
    Role.DECIDE,
    takes=Ask,
    gives=Asked,
    refuses=("agent", "conflict", "state", "store"),
    headers={
        "Idempotency-Key": "A text of your own for this request: who sends it again with the same "
        "text gets the same play."
    },
)
async def ask(call: Call) -> Asked:
    """Choose an arm and start a play of it; durable before it is answered."""
    served = await served_of(call)
    play = await chosen(served, call.body.context, idempotency_key(call))
    return Asked(str(play.id), play.arm, play.time)


async def chosen(served: Served, context: Any, key: str | None = None) -> Play:
    """A play."""
    agent = served.agent
    now = asyncio.get_running_loop().time()
    idle = served.shared and now - served.asked_at > IDLE
    served.asked_at = now
    if idle or agent.trouble:  # it may have to catch up, or to wait for its store
        return await asyncio.to_thread(agent.ask, context, key=key)
    return await agent.ask_async(context, key=key)


async def ended(served: Served, verb: str, text: str | int, *more: Any) -> Any:
    """What became of a play, by a verb of the agent."""
    agent, play = served.agent, int(text)
    writer = play >> SHIFT
    if served.shared and writer not in served.writers:  # the database is asked who that is
        told = await asyncio.to_thread(getattr(agent, verb), play, *more)
        served.writers.add(writer)
        return told
    return await getattr(agent, f"{verb}_async")(play, *more)


def idempotency_key(call: Call) -> str | None:
    """What the caller calls this request."""
    key = call.headers.get(b"idempotency-key")
    return None if key is None else key.strip(b" \t").decode("latin-1")  # blanks are no part of it


@operation("POST", f"{AGENT}/tell", Role.DECIDE, takes=Tell, gives=ToldAnswer, refuses=ENDS)
async def tell(call: Call) -> ToldAnswer:
    """A play came back just now, or took `delay` seconds; a repeated tell changes nothing."""
    served = await served_of(call)
    told = await ended(served, "tell", call.body.play, call.body.delay)
    return ToldAnswer(told.value)


@operation("POST", f"{AGENT}/fail", Role.DECIDE, takes=Which, gives=ToldAnswer, refuses=ENDS)
async def fail(call: Call) -> ToldAnswer:
    """A play ended in failure: booked with the worst payoff."""
    served = await served_of(call)
    told = await ended(served, "fail", call.body.play)
    return ToldAnswer(told.value)


@operation("POST", f"{AGENT}/cancel", Role.DECIDE, takes=Which, gives=Cancelled, refuses=ENDS)
async def cancel(call: Call) -> Cancelled:
    """Nobody watches this play any longer."""
    served = await served_of(call)
    return Cancelled(await ended(served, "cancel", call.body.play))


@operation(
    "POST",
    f"{AGENT}/alive",
    Role.DECIDE,
    takes=Alive,
    gives=StillOut,
    refuses=(*ENDS, "state"),
)
async def alive(call: Call) -> StillOut:
    """A play has lasted so many seconds in all, and goes on; needs an agent with a lease."""
    served = await served_of(call)
    return StillOut(await ended(served, "alive", call.body.play, call.body.seconds))
