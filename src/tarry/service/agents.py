"""The agents that a service has open, by name; making, opening and changing them."""

import asyncio
import logging
import math
import resource
import time
from pathlib import Path
from typing import Any, Literal

from msgspec import UNSET

from tarry.checks import check_shown
from tarry.errors import InputError, JournalError, TarryError
from tarry.live import Agent
from tarry.live.clock import to_seconds
from tarry.live.features import Features, same_features
from tarry.live.plays import Counts, Odd
from tarry.policies.from_text import parse_policy
from tarry.policies.label import policy_label
from tarry.service.features import as_sent, features_of
from tarry.service.messages import LONGEST_NAME, MOST_ARMS, AgentBody, Feature, is_name
from tarry.service.problems import RefusedError
from tarry.service.shares import Shares
from tarry.service.shelves import MOST_AGENTS, Shelf

MOST_CHANGES = 100  # arms that a PUT may add or take out
REMEMBERED = 50_000  # ended plays of which the answers are remembered: some seconds of full load
LOOK_AGAIN = 1.0  # seconds until a name that nobody knew is looked for again
RESTS = (
    600.0  # seconds after which an agent that nobody uses is let go, where others need the place
)
GRACE = 15.0  # seconds for those who have just begun to use it
FILES_FOR_CALLERS = 256  # of those that the process may have open
log = logging.getLogger("tarry.service")


class Served:
    """An open agent with what the service keeps beside it."""

    def __init__(self, name: str, agent: Agent, *, shared: bool = False) -> None:
        self.name = name
        self.agent = agent
        self.shared = shared  # with other processes
        self.asked_at = -math.inf  # by the clock of the event loop
        self.used_at = time.monotonic()
        self.writers: set[int] = set()  # processes whose plays were heard of here
        self.shares = Shares()
        self.drawing: asyncio.Future[bytes] | None = None  # its latest view
        self.drawn_at = 0.0

    def close(self) -> None:
        """Let go of the agent; what fails is said."""
        try:
            self.agent.close()
        except TarryError as error:
            log.error("%s", error)  # noqa: TRY400  # one sentence


class Agents:
    """All agents of a service."""

    def __init__(self, shelf: Shelf, *, durability: Literal["full", "normal"] = "full") -> None:
        self.shelf = shelf
        self.open: dict[str, Served] = {}
        self._durability = durability
        self._unknown: dict[str, float] = {}  # names nobody knew, and when
        self._lock: asyncio.Lock | None = None
        self._rest: list[str] = []  # names that are to be opened yet
        self._resting: list[tuple[float, Served]] = []  # forgotten, and when to close them

    def open_all(self, patience: float = math.inf) -> None:
        """Open what is on the shelf, where nobody else serves it; `open_rest` does what is left.

        Of a database, which has few connections, no more than some: the others are opened when
        somebody asks for them. What cannot be opened is said and left alone, unless it is all
        there is.
        """
        self.shelf.hold()
        until = time.monotonic() + patience
        self._rest = self.shelf.names()[: self.shelf.at_once]
        while self._rest and time.monotonic() < until:
            try:
                self._open(self._rest.pop(0))
            except TarryError as error:
                if self.shelf.single:
                    raise InputError(str(error)) from error
                log.error("%s", error)  # noqa: TRY400  # one sentence

    async def open_rest(self) -> None:
        """Open what took too long to wait for."""
        while self._rest:
            try:
                await self.get(self._rest.pop(0))
            except TarryError as error:
                log.error("%s", error)  # noqa: TRY400  # one sentence

    async def names(self) -> list[str]:
        """The names of all agents, open or not."""
        there = await asyncio.to_thread(self.shelf.names)
        return sorted({*there, *self.open})

    async def get(self, name: str) -> Served:
        """The agent of this name, opened if it is not yet."""
        served = self.open.get(name)
        if served is not None:
            served.used_at = time.monotonic()
            return served
        if time.monotonic() - self._unknown.get(name, -LOOK_AGAIN) >= LOOK_AGAIN:
            async with self._alone():
                served = self.open.get(name) or await asyncio.to_thread(self._open, name)
            if served is None:
                self._remember_unknown(name)
        if served is None:
            raise unknown_agent(name)
        return served

    async def put(self, name: str, body: AgentBody) -> tuple[Served, bool]:
        """See to it that there is such an agent; whether it is new."""
        check_name(name)
        async with self._alone():
            return await asyncio.to_thread(self._put, name, body)

    def let_rest(self) -> list[Served]:
        """Forget shared agents that nobody uses, if there are many; those that can be closed now.

        Who had found one before it was forgotten may use it for a while yet.
        """
        now = time.monotonic()
        many = len(self.open) - self.shelf.at_once
        if self.shelf.kind == "postgres" and many > 0:
            idle = [served for served in self.open.values() if served.used_at < now - RESTS]
            for served in sorted(idle, key=lambda served: served.used_at)[:many]:
                self._resting.append((now + GRACE, self.open.pop(served.name)))
        over = [served for until, served in self._resting if until <= now]
        self._resting = [(until, served) for until, served in self._resting if until > now]
        return over

    def close(self) -> None:
        """Let go of all of them; what fails is said."""
        for served in [*self.open.values(), *(served for _, served in self._resting)]:
            served.close()
        self.open.clear()
        self._resting.clear()
        self.shelf.let_go()

    def _alone(self) -> asyncio.Lock:
        """Agents are opened and changed one at a time."""
        if self._lock is None:
            self._lock = asyncio.Lock()
        return self._lock

    def _remember_unknown(self, name: str) -> None:
        if len(self._unknown) > MOST_AGENTS:
            self._unknown.clear()
        self._unknown[name] = time.monotonic()

    def _open(self, name: str) -> Served | None:
        settings = self.shelf.settings(name)
        if settings is None:
            return None
        for part in ("policy", "payoff", "max_delay"):
            if part not in settings:
                raise JournalError(f"The agent {name!r} does not say its {part}; it is left alone.")
        return self._start(
            name,
            policy=parse_policy(settings["policy"]),
            payoff=settings["payoff"],
            max_delay=to_seconds(settings["max_delay"]),
            horizon=settings.get("horizon") or None,
        )

    def _start(self, name: str, **told: Any) -> Served:
        if len(self.open) >= MOST_AGENTS:
            raise RefusedError(
                "conflict", f"There are {MOST_AGENTS} agents already, which is the most."
            )
        if self.shelf.kind == "sqlite":
            check_files()
        agent = Agent(
            **told,
            **self.shelf.place(name),
            durability=self._durability,
            in_flight="keep",  # who plays is another program, which goes on
            remembered=REMEMBERED,
        )
        shared = self.shelf.kind == "postgres"
        served = self.open[name] = Served(name, agent, shared=shared)
        self._unknown.pop(name, None)
        return served

    def _put(self, name: str, body: AgentBody) -> tuple[Served, bool]:
        served = self.open.get(name) or self._open(name)
        if served is None:
            check_shown(body.arms)
            told: dict[str, Any] = {"arms": body.arms}
            for field in ("seed", "horizon", "lease", "heartbeat"):
                if getattr(body, field) is not UNSET and getattr(body, field) is not None:
                    told[field] = getattr(body, field)
            if body.policy is not UNSET:
                told["policy"] = parse_policy(body.policy)
            if body.features is not UNSET and body.features:
                told["features"] = features_of(body.features)
            told |= {"payoff": body.payoff, "max_delay": body.max_delay}
            return self._start(name, **told), True
        check_same(served, body)
        change_arms(served.agent, body.arms, keep=body.keep)
        return served, False


def check_files() -> None:
    """Refuse another agent where it would leave no open files for those who call."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        free = most - len(list(Path("/proc/self/fd").iterdir()))
    except OSError:  # not on this system
        return
    if most != resource.RLIM_INFINITY and free < min(FILES_FOR_CALLERS, most // 4):
        raise JournalError(
            f"This process may have {most} files open and needs the last {free} for those who "
            f"call, so no more agents can be opened; raise the limit (ulimit -n, LimitNOFILE)."
        )


def check_name(name: str) -> None:
    """Refuse names that no address can hold."""
    if not is_name(name):
        raise RefusedError(
            "input",
            f"The name of an agent is 1 to {LONGEST_NAME} printable characters, and neither . "
            f"nor ..",
        )


def unknown_agent(name: str) -> RefusedError:
    """What to say of a name that nobody knows."""
    shown = repr(name) if len(name) <= LONGEST_NAME else f"{name[:20]!r}..."
    return RefusedError("agent", f"There is no agent {shown}; make it with PUT /v1/agents/NAME.")


def check_same(served: Served, body: AgentBody) -> None:
    """Refuse to take an agent for another one."""
    agent, made = served.agent, served.agent.made_with
    pairs: list[tuple[str, Any, Any]] = [
        ("payoff", agent.payoff, body.payoff),
        ("max_delay", agent.max_delay, round(body.max_delay, 6)),
    ]
    if body.policy is not UNSET:
        pairs.append(("policy", made["policy"], policy_label(parse_policy(body.policy))))
    if body.lease is not UNSET:
        pairs.append(("lease", agent.lease, body.lease))
    if body.heartbeat is not UNSET:
        pairs.append(("heartbeat", agent.heartbeat, body.heartbeat))
    if body.seed is not UNSET:
        pairs.append(("seed", made["seed"], body.seed))
    if body.horizon is not UNSET:
        pairs.append(("horizon", made["horizon"] or None, body.horizon))
    for what, have, given in pairs:
        if have != given and what == "seed":  # one that was drawn may be too large to be given
            raise RefusedError(
                "conflict",
                f"The agent {served.name!r} was made with another seed; leave it out, or give "
                f"another name.",
            )
        if have != given:
            told = ("null" if each is None else repr(each) for each in (have, given))
            raise made_otherwise(served, what, *told)
    if body.features is not UNSET:
        check_same_features(served, body.features)


def check_same_features(served: Served, given: dict[str, Feature]) -> None:
    """Refuse other features than those that an agent was made with, in whatever order."""
    there = served.agent.made_with.get("features", [])
    wanted = Features(features_of(given)).described() if given else []
    if not same_features(there, wanted):
        raise made_otherwise(served, "features", as_sent(there), as_sent(wanted))


def made_otherwise(served: Served, what: str, have: str, given: str) -> RefusedError:
    """What to say to who takes an agent for another one."""
    return RefusedError(
        "conflict",
        f"The agent {served.name!r} was made with {what} {have}, but {given} is given; give the "
        f"same, or another name.",
    )


def change_arms(agent: Agent, names: list[str], *, keep: bool = False) -> None:
    """Let the arms be these, or these and those that are there; another may have been quicker."""
    from tarry.live.settings import check_names

    check_names(names)
    here = agent.arms
    new = [name for name in names if name not in here]
    gone = [] if keep else [name for name in here if name not in names]
    check_shown(new)
    many = len(new) + len(gone)
    if many > MOST_CHANGES:  # each is durable by itself, and nobody else is served a new agent
        raise RefusedError(
            "conflict",
            f"{many} arms would come or go, and at most {MOST_CHANGES} do at once; go there in "
            f"steps, or make another agent.",
        )
    if len(here) + len(new) - len(gone) > MOST_ARMS:
        raise RefusedError("conflict", f"There would be more than {MOST_ARMS} arms, the most.")
    for name in [*new, *gone]:
        try:
            (agent.add_arm if name in names else agent.remove_arm)(name)
        except InputError:
            if (name in agent.arms) != (name in names):
                raise


def counted(counts: Counts) -> dict[str, int]:
    """Counts as a message has them."""
    odd = getattr(counts, "odd", Odd())
    found = counts._asdict() | odd._asdict()
    return {**found, "vanished": counts.vanished, "void": counts.void}
