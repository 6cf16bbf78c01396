"""One attempt to have a request served: its play, the time it took, and how it ended."""

import threading
from collections.abc import Callable
from typing import Any, Literal

from tarry.live.agent import Agent
from tarry.live.plays import Play
from tarry.live.routing.answers import not_the_route
from tarry.live.routing.route import Route

Until = Literal["headers", "first-byte", "body"]
Ending = Literal["tell", "fail", "cancel"]


class Waiting:
    """A clock that runs while the server is waited for.

    It begins with the first sign that the request has a connection, or with the sending where no
    signs are given; what the caller takes to produce the body of the request is taken off.
    `seconds` is the time at the last moment when something was waited for.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self.seconds = 0.0
        self._begin = now()
        self._connected = False
        self._away = 0.0

    def connected(self) -> None:
        """The request has a connection: if that was not known before, time begins."""
        if not self._connected:
            self._connected = True
            self._begin = self.now()

    def not_waiting(self, seconds: float) -> None:
        """So long it was the caller who was waited for."""
        self._away += seconds

    def arrived(self) -> None:
        """Something that was waited for is there now."""
        self.seconds = max(self.now() - self._begin - self._away, 0.0)


class Attempt:
    """A play that is a request; it ends once, whoever comes first."""

    def __init__(self, play: Play, route: Route, agent: Agent, tried: tuple[str, ...]) -> None:
        self.play = play
        self.route = route
        self.tried = tried  # arms that failed before, for the same request
        self.waiting = Waiting(agent.stopwatch())
        self.own_fault = False  # while, or after, the caller's own code failed
        self.ending: Ending | None = None
        self._lock = threading.Lock()

    def end(self, ending: Ending) -> bool:
        """Whether this is how it ends; False if it has ended before."""
        with self._lock:
            if self.ending is not None:
                return False
            self.ending = ending
            return True

    def ending_by(self, http: Any, error: BaseException) -> Ending:
        """How a play ends by an error; one that is not the route's is not held against it."""
        if not isinstance(error, Exception) or self.own_fault or not_the_route(http, error):
            return "cancel"
        return "fail"


class Served:
    """Who served a response, and why: `response.extensions["tarry"]`.

    Attributes:
        arm: The name of the route.
        play: The id of the play.
        tried: The arms that failed before, where the request was retried.
    """

    def __init__(self, attempt: Attempt, agent: Agent) -> None:
        self.arm = attempt.play.arm
        self.play = attempt.play.id
        self.tried = attempt.tried
        self._attempt = attempt
        self._agent = agent

    @property
    def delay(self) -> float:
        """Seconds that the server took so far; what is told to the agent when the play ends."""
        return self._attempt.waiting.seconds

    @property
    def outcome(self) -> str:
        """Where the play stands: "out", "told", "failed" or "cancelled"."""
        names = {None: "out", "tell": "told", "fail": "failed", "cancel": "cancelled"}
        return names[self._attempt.ending]

    @property
    def why(self) -> str:
        """What the agent has to say for this arm now, in words."""
        after = f"; tried after {', '.join(self.tried)}" if self.tried else ""
        report = self._agent.explain()
        return (report[self.arm].why if self.arm in report else "removed since") + after

    def __repr__(self) -> str:
        """A line a person can read."""
        return f"<Served by {self.arm!r}, play {self.play}, {self.outcome}, {self.delay:.3f} s>"
