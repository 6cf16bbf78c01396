"""Answers to managers: agents and their arms."""

import asyncio
from collections.abc import Callable

from tarry.checks import check_shown
from tarry.live import Agent
from tarry.service.agents import Served, counted
from tarry.service.features import features_shown
from tarry.service.messages import MOST_ARMS, AgentBody, AgentNames, AgentShown, Arm, ArmBody
from tarry.service.operations import Answer, Call, Role, operation
from tarry.service.problems import RefusedError

AGENT = "/v1/agents/{name}"


@operation(
    "PUT",
    AGENT,
    Role.MANAGE,
    takes=AgentBody,
    gives=AgentShown,
    refuses=("conflict", "store"),
    statuses={200: "It was there, and has these arms now.", 201: "It was made."},
)
async def put_agent(call: Call) -> Answer:
    """See to it that there is an agent like this one, with these arms."""
    served, is_new = await call.service.agents.put(call.words["name"], call.body)
    return Answer(await shown(served), 201 if is_new else 200)


@operation("GET", "/v1/agents", Role.DECIDE, gives=AgentNames, refuses=("store",))
async def list_agents(call: Call) -> AgentNames:
    """The names of the agents."""
    names = await call.service.agents.names()
    return AgentNames([name for name in names if call.key.is_for(name)])


@operation("GET", AGENT, Role.DECIDE, gives=AgentShown, refuses=("agent", "store"))
async def get_agent(call: Call) -> AgentShown:
    """An agent: its arms, settings and counts."""
    return await shown(await call.service.agents.get(call.words["name"]))


@operation(
    "POST",
    f"{AGENT}/arms",
    Role.MANAGE,
    takes=ArmBody,
    gives=AgentShown,
    refuses=("agent", "conflict", "store"),
    statuses={201: "It is there now."},
)
async def add_arm(call: Call) -> Answer:
    """Add an arm, which can be chosen from now on."""
    served = await call.service.agents.get(call.words["name"])
    name = call.body.arm
    if name in served.agent.arms:
        raise RefusedError("conflict", f"There is an arm {name!r} already; give a name not in use.")
    check_shown([name])
    if len(served.agent.arms) >= MOST_ARMS:
        raise RefusedError("conflict", f"There are {MOST_ARMS} arms already, which is the most.")
    await asyncio.to_thread(served.agent.add_arm, name)
    return Answer(await shown(served), 201)


ARM = f"{AGENT}/arms/{{arm}}"
OF_ARMS = ("agent", "arm", "state", "store")


@operation("DELETE", ARM, Role.MANAGE, gives=AgentShown, refuses=OF_ARMS)
async def remove_arm(call: Call) -> AgentShown:
    """Take an arm out for good; answers of its plays are still accepted and change nothing."""
    return await changed(call, lambda agent: agent.remove_arm)


@operation("POST", f"{ARM}/pause", Role.MANAGE, gives=AgentShown, refuses=OF_ARMS)
async def pause_arm(call: Call) -> AgentShown:
    """Do not choose this arm until it is resumed."""
    return await changed(call, lambda agent: agent.pause_arm)


@operation("POST", f"{ARM}/resume", Role.MANAGE, gives=AgentShown, refuses=OF_ARMS)
async def resume_arm(call: Call) -> AgentShown:
    """Choose among this arm and the others again."""
    return await changed(call, lambda agent: agent.resume_arm)


async def changed(call: Call, verb: Callable[[Agent], Callable[[str], None]]) -> AgentShown:
    """What the agent is like after something was done to an arm."""
    served = await call.service.agents.get(call.words["name"])
    name = call.words["arm"]
    if name not in served.agent.arms:
        raise RefusedError("arm", f"There is no arm {name[:200]!r} at this agent.")
    await asyncio.to_thread(verb(served.agent), name)
    return await shown(served)


async def shown(served: Served) -> AgentShown:
    """An agent as a message."""
    return await asyncio.to_thread(_shown, served)


def _shown(served: Served) -> AgentShown:
    agent = served.agent
    made = agent.made_with
    paused = agent.paused
    return AgentShown(
        name=served.name,
        arms=[Arm(name, name in paused) for name in agent.arms],
        payoff="reward" if agent.payoff == "reward" else "cost",
        max_delay=agent.max_delay,
        lease=agent.lease,
        heartbeat=agent.heartbeat,
        policy=made["policy"],
        features=features_shown(made.get("features", [])),
        counts=counted(agent.counts),
        store=agent.trouble,
    )
