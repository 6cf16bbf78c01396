"""`RemoteAgent`: an agent of a service, with the methods of `tarry.Agent`."""

import math
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from tarry.errors import ConflictError, InputError, JournalError, LiveError
from tarry.live.explain import ArmReport, Explanation
from tarry.live.facts import CANCEL, FAIL, RETURN
from tarry.live.ids import as_id
from tarry.live.plays import Counts, Odd, Play, PlayCounts, Told
from tarry.live.refusals import no_features, no_id
from tarry.live.requests import check_key
from tarry.live.settings import check_delay, check_names
from tarry.live.timed import ActivePlay
from tarry.service.client.block import RemoteBlock
from tarry.service.client.connection import Connection, escaped
from tarry.service.client.wanted import features_there

if TYPE_CHECKING:
    from tarry.logs.log import Log

MOST_PLAYS = 100_000  # of a history
WATCHED = 10_000  # plays asked for here whose beginning is remembered


class RemoteAgent:
    """An agent of a service; made by `tarry.connect(...).agent(...)`.

    Its methods are those of `tarry.Agent`. The time of a play runs from when the answer to `ask`
    is here until `tell` is called here, so the way to the service and back is no part of it.
    """

    def __init__(self, connection: Connection, path: str, shown: Mapping[str, Any]) -> None:
        self.connection = connection
        self.name: str = shown["name"]
        self.payoff: str = shown["payoff"]
        self.max_delay: float = shown["max_delay"]
        self.lease: float | None = shown["lease"]
        self.heartbeat: float | None = shown["heartbeat"]
        self.policy: str = shown["policy"]
        self._path = path
        self._shown = shown
        self._features = features_there(shown["features"])
        self._began: OrderedDict[int, float] = OrderedDict()
        self._closed = False

    def checked(self, wanted: Mapping[str, Any]) -> Self:
        """Refuse if it is another agent than the one that is wanted."""
        have = dict(self._shown)
        have["arms"] = [arm["name"] for arm in have["arms"]]
        for what, given in wanted.items():
            there = have.get(what, given)
            if not {*given} <= {*there} if what == "arms" else there != given:
                raise JournalError(
                    f"The agent {self.name!r} has {what} {there!r}, but {given!r} is given, and "
                    f"the key may not change it; give the same."
                )
        return self

    def ask(self, context: Mapping[str, Any] | None = None, *, key: str | None = None) -> Play:
        """Choose an arm and start a play of it; see `tarry.Agent.ask`."""
        call = self._asking(context, key)
        return self._asked(self.connection.call("POST", **call))

    def tell(self, play: Play | ActivePlay | int, delay: float | None = None) -> Told:
        """The play came back just now, or took `delay` seconds; see `tarry.Agent.tell`."""
        return Told(self.connection.call("POST", *self.ending(RETURN, play, delay))["told"])

    def fail(self, play: Play | ActivePlay | int) -> Told:
        """The play ended in failure; see `tarry.Agent.fail`."""
        return Told(self.connection.call("POST", *self.ending(FAIL, play))["told"])

    def cancel(self, play: Play | ActivePlay | int) -> bool:
        """Nobody watches this play any longer; see `tarry.Agent.cancel`."""
        return bool(self.connection.call("POST", *self.ending(CANCEL, play))["cancelled"])

    def alive(self, play: Play | ActivePlay | int, seconds: float) -> bool:
        """The play has lasted so long, and goes on; see `tarry.Agent.alive`."""
        body = self._reporting(play, seconds)
        return bool(self.connection.call("POST", f"{self._path}/alive", body)["out"])

    async def ask_async(
        self, context: Mapping[str, Any] | None = None, *, key: str | None = None
    ) -> Play:
        """As `ask`; the event loop goes on.

        If nobody waits for the choice any longer, its play is cancelled in the background.
        """
        call = self._asking(context, key)
        return self._asked(await self.connection.call_async("POST", **call))

    async def tell_async(self, play: Play | ActivePlay | int, delay: float | None = None) -> Told:
        """As `tell`; the event loop goes on."""
        answer = await self.connection.call_async("POST", *self.ending(RETURN, play, delay))
        return Told(answer["told"])

    async def fail_async(self, play: Play | ActivePlay | int) -> Told:
        """As `fail`; the event loop goes on."""
        answer = await self.connection.call_async("POST", *self.ending(FAIL, play))
        return Told(answer["told"])

    async def cancel_async(self, play: Play | ActivePlay | int) -> bool:
        """As `cancel`; the event loop goes on."""
        answer = await self.connection.call_async("POST", *self.ending(CANCEL, play))
        return bool(answer["cancelled"])

    async def alive_async(self, play: Play | ActivePlay | int, seconds: float) -> bool:
        """As `alive`; the event loop goes on."""
        body = self._reporting(play, seconds)
        answer = await self.connection.call_async("POST", f"{self._path}/alive", body)
        return bool(answer["out"])

    def play(self, context: Mapping[str, Any] | None = None) -> RemoteBlock:
        """A block that is a play: `with agent.play() as play:`, or `async with`."""
        return RemoteBlock(self, context)

    def add_arm(self, name: str) -> None:
        """A new arm, which can be chosen from now on."""
        self._check_open()
        check_names([name])
        try:
            self.connection.call("POST", f"{self._path}/arms", {"arm": name}, done="conflict")
        except ConflictError as error:  # as an agent says it
            raise InputError(str(error)) from error

    def remove_arm(self, name: str) -> None:
        """Take an arm out for good."""
        self.connection.call("DELETE", self._arm(name), done="arm")

    def pause_arm(self, name: str) -> None:
        """Do not choose this arm until it is resumed."""
        self.connection.call("POST", f"{self._arm(name)}/pause")

    def resume_arm(self, name: str) -> None:
        """Choose among this arm and the others again."""
        self.connection.call("POST", f"{self._arm(name)}/resume")

    def stopwatch(self) -> Callable[[], float]:
        """A function that returns the seconds since now, for `tell`."""
        begin = time.monotonic()
        return lambda: time.monotonic() - begin

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms, paused ones included."""
        return tuple(arm["name"] for arm in self._look()["arms"])

    @property
    def paused(self) -> tuple[str, ...]:
        """The names of the arms that are paused."""
        return tuple(arm["name"] for arm in self._look()["arms"] if arm["paused"])

    @property
    def counts(self) -> Counts:
        """How many plays were asked, returned, are pending, and so on."""
        return _counts(self._look()["counts"])

    @property
    def trouble(self) -> str:
        """Why the service cannot make facts durable just now; empty if it can."""
        return str(self._look()["store"])

    def explain(self, context: Mapping[str, Any] | None = None) -> Explanation:
        """What is known of each arm, and why it is or is not chosen; prints as a table."""
        body = self._request(context)
        told = self.connection.call("POST", f"{self._path}/explain", body)
        known = {field.name for field in fields(ArmReport)}
        rows = [
            ArmReport(**{name: _number(name, x) for name, x in row.items() if name in known})
            for row in told["arms"]
        ]
        counts = _counts(told["counts"])
        by_request = told["probing"] is None
        parts = told["policy"], told["payoff"], counts, tuple(rows), told["warning"]
        return Explanation(*parts, by_request=by_request)

    def history(self) -> "Log":
        """The latest plays, at most 100 000 of them, as a `tarry.Log`."""
        import numpy as np

        from tarry.logs.log import Log

        told = self.connection.call("GET", f"{self._path}/history?limit={MOST_PLAYS}")
        return Log(
            names=tuple(told["arms"]),
            arms=np.array(told["arm"], np.int64),
            times=np.array(told["time"], np.float64),
            finished=np.array(told["finished"], bool),
            max_delay=told["max_delay"],
            starts=np.array(told["start"], np.float64),
            context={"status": told["status"], **told["context"]},
        )

    def backup(self, path: Any) -> None:
        """The store is where the service is."""
        raise LiveError(
            f"The agent {self.name!r} is kept by a service, so nothing is copied to {path}; copy "
            f"its store there."
        )

    def close(self) -> None:
        """Let nothing be asked or told here any more; the connection and the agent go on."""
        self._closed = True

    def __enter__(self) -> Self:
        """The agent itself; it is closed at the end of the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def __repr__(self) -> str:
        """A line a person can read, without asking the service."""
        where = self.connection.address
        return f"<RemoteAgent {self.name!r} of {self.policy}, {self.payoff}, at {where}>"

    def __reduce__(self) -> Any:
        """Refuse to be pickled, as an agent of this process does."""
        raise TypeError(
            "An agent cannot be pickled or copied; make one in each process, or send play ids."
        )

    def ending(
        self, kind: int, play: Play | ActivePlay | int, delay: float | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Where to say that a play ended so, and what."""
        if kind == RETURN:
            return f"{self._path}/tell", self._telling(play, delay)
        return f"{self._path}/{'fail' if kind == FAIL else 'cancel'}", self._which(play)

    def _look(self) -> Any:
        return self.connection.call("GET", self._path)

    def _check_open(self) -> None:
        if self._closed:
            raise LiveError(
                f"The agent is closed; open it again with connection.agent({self.name!r})."
            )

    def _arm(self, name: str) -> str:
        self._check_open()
        check_names([name])
        return f"{self._path}/arms/{escaped(name)}"

    def _request(self, context: Any) -> dict[str, Any]:
        """The body with a context in plain values, checked as an agent here does it."""
        if context is None:
            return {}
        if self._features is None:
            raise no_features(context)
        return {"context": self._features.checked(context)}

    def _asking(self, context: Mapping[str, Any] | None, key: str | None) -> dict[str, Any]:
        self._check_open()
        body = self._request(context)
        if key is not None:
            check_key(key)
            if key != key.strip():
                raise InputError(
                    f"The key is {key!r}; on the way to a service blanks at its ends are lost, so "
                    f"leave them out."
                )
        headers = {"idempotency-key": secrets.token_urlsafe(16) if key is None else key}
        call = {"path": f"{self._path}/ask", "body": body, "headers": headers}
        if key is not None:  # who has a key may ask again
            return call
        return {**call, "given_up": lambda: self.connection.later(partial(self._take_back, call))}

    def _take_back(self, call: dict[str, Any], send: Callable[..., Any]) -> None:
        """Cancel the play of an ask that nobody waits for: asked again, it is the same play."""
        play = send("POST", **call)["play"]
        send("POST", f"{self._path}/cancel", {"play": play})

    def _asked(self, answer: Any) -> Play:
        play = Play(int(answer["play"]), answer["arm"], answer["time"])
        if self.lease is None:
            self._began[play.id] = time.monotonic()
            if len(self._began) > WATCHED:
                self._began.popitem(last=False)
        return play

    def _telling(self, play: Any, delay: float | None) -> dict[str, Any]:
        body = self._which(play)
        began = self._began.pop(int(body["play"]), None)
        if delay is not None:
            body["delay"] = check_delay(delay) / 1e6
        elif began is not None:
            body["delay"] = round(time.monotonic() - began, 6)
        return body

    def _reporting(self, play: Any, seconds: float) -> dict[str, Any]:
        return {**self._which(play), "seconds": check_delay(seconds, "time reported") / 1e6}

    def _which(self, play: Any) -> dict[str, Any]:
        self._check_open()
        whole = as_id(getattr(play, "id", play))
        if whole is None or not 0 <= whole < 2**63:
            raise no_id(play)
        return {"play": str(whole)}


def _number(name: str, value: Any) -> Any:
    return math.nan if value is None and name in ("mean", "low", "high") else value


def _counts(told: Mapping[str, int]) -> Counts:
    odd = Odd(**{name: told[name] for name in Odd._fields if name in told})
    counts = Counts(*(told[name] for name in PlayCounts._fields)).with_odd(odd)
    return counts.with_leases(told["vanished"], told["void"])
