"""What a transport is made of, whichever package it serves: routes, an agent, and rules."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from tarry.checks import check_positive, check_whole, shortened
from tarry.errors import InputError, LiveError
from tarry.live.agent import Agent
from tarry.live.plays import Play
from tarry.live.routing.absence import Absences, resume_all
from tarry.live.routing.answers import REFUSED, failed_status, retry_after
from tarry.live.routing.attempt import Attempt, Ending, Served, Until
from tarry.live.routing.book import Book, log
from tarry.live.routing.delivery import Delivery, Readers
from tarry.live.routing.package import Package
from tarry.live.routing.route import Route, addressed, as_route, content_of
from tarry.policies.check import check_choice

IDEMPOTENT = ("GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE")


class RouteCounts(NamedTuple):
    """What a transport did; see `Transport.counts`."""

    routed: int  # requests sent along a route
    left_alone: int  # requests for other hosts
    retried: int  # attempts on another arm after a failure
    rested: int  # times a server asked to be left alone
    slow_readers: int  # plays cancelled because their body lay unread
    unbooked: int  # endings that the agent could not take


def idempotent_method(request: Any) -> bool:
    """Whether the request may be sent twice, by its method."""
    return request.method in IDEMPOTENT


def _check_kinds(
    routes: object, agent: object, host: object, settings: Mapping[str, object]
) -> None:
    """Refuse what a transport cannot be made of."""
    if not isinstance(routes, Mapping) or not routes:
        raise InputError(
            f"routes is {shortened(routes)}; give a URL, or a Route, for the name of each arm."
        )
    if agent is not None and not hasattr(agent, "ask"):
        raise InputError(f"agent is {shortened(agent)}; give a tarry.Agent, or leave it out.")
    if settings.get("payoff", getattr(agent, "payoff", "cost")) != "cost":
        raise InputError(
            "The payoff of a transport is the time that a route takes, and a cost; give "
            "an agent with payoff='cost'."
        )
    if host is not None and not isinstance(host, str):
        raise InputError(f"host is {shortened(host)}; give the name of one, or None for all.")


class Router:
    """Routes the requests of a client.

    Args:
        routes: The route of each arm: a `Route`, or its base URL alone.
        agent: The agent that chooses; its payoff should be "cost". By default one is made from
            the further `settings`, of which `max_delay` is required and `path` makes it durable,
            and closed with the transport. An agent that is given is left open.
        host: Requests for this host are routed, and others are left alone; None routes all that
            reach the transport, for one that is mounted.
        until: "headers" takes the time until the head of the answer is there, "first-byte" until
            its first byte has come, "body" until its last.
        failed: Which answers are failures, to be booked as the worst cost; by default those with
            status 408, 429, 500 or above, and 401 or 403 where the route sets headers of its own.
            An error of connection or server and a timeout always are.
        retry: On how many other arms a request is tried that failed, if it can be sent twice.
        idempotent: Which requests can be; by default by their method, so not POST.
        longest_pause: How long an arm is left alone at most, whatever its `Retry-After` says.
        transport: What sends the request in the end; that of the package by default. It is closed
            with this one.
    """

    package: ClassVar[Package]

    def __init__(
        self,
        routes: Mapping[str, Route | str],
        *,
        agent: Agent | None = None,
        host: str | None = "routed",
        until: Until = "headers",
        failed: Callable[[Any], bool] | None = None,
        retry: int = 0,
        idempotent: Callable[[Any], bool] = idempotent_method,
        longest_pause: float = 3600.0,
        transport: Any = None,
        **settings: Any,
    ) -> None:
        check_choice("until", until, ("headers", "first-byte", "body"))
        self._retry = check_whole("number of retries", retry, 0)
        check_positive("longest_pause", longest_pause)
        _check_kinds(routes, agent, host, settings)
        self.routes = {name: as_route(route) for name, route in routes.items()}
        if agent is not None and settings:
            raise InputError(
                f"Both an agent and settings for a new one ({', '.join(settings)}) are given; "
                f"give one or the other."
            )
        self._made = agent is None
        self.agent = self._agent(settings) if agent is None else agent
        self._check_arms()
        self._transport = self._sender() if transport is None else transport
        self._host = None if host is None else host.lower()
        self._until: Until = until
        self._failed = failed
        self._idempotent = idempotent
        self._book = Book(self.agent)
        self._readers = Readers(self._book)
        self._absences = Absences(self.agent, longest_pause)
        self._tally: Counter[str] = Counter()
        self._lock = threading.Lock()

    def _agent(self, settings: dict[str, Any]) -> Agent:
        """An agent of the transport's own."""
        agent = Agent(**{"arms": list(self.routes), "payoff": "cost", **settings})
        if agent.path is not None:
            resume_all(agent)
        return agent

    def _check_arms(self) -> None:
        missing = [name for name in self.agent.arms if name not in self.routes]
        if missing:
            if self._made:
                self.agent.close()
            raise InputError(
                f"The arm {missing[0]!r} of the agent has no URL; routes are given for "
                f"{', '.join(self.routes)}."
            )

    def _count(self, what: str) -> None:
        with self._lock:
            self._tally[what] += 1

    def _sender(self) -> Any:
        raise NotImplementedError

    @property
    def urls(self) -> dict[str, Any]:
        """The base URL of each arm."""
        return {name: self.package.http.URL(route.url) for name, route in self.routes.items()}

    @property
    def counts(self) -> RouteCounts:
        """What was done, and what was not normal."""
        tally = self._tally
        return RouteCounts(
            routed=tally["routed"],
            left_alone=tally["left alone"],
            retried=tally["retried"],
            rested=tally["rested"],
            slow_readers=self._readers.left,
            unbooked=self._book.unbooked,
        )

    @property
    def resting(self) -> tuple[str, ...]:
        """The arms that are left alone because their server asked for it."""
        return self._absences.resting

    def add_route(self, name: str, route: Route | str) -> None:
        """A new route, which can be chosen from now on."""
        route = as_route(route)
        if name in self.agent.arms:
            raise InputError(f"There is an arm {name!r} already; give a name that is not in use.")
        self.routes[name] = route
        self.agent.add_arm(name)

    def _is_routed(self, request: Any) -> bool:
        """Whether the request is for the routed host."""
        routed = self._host is None or request.url.host == self._host
        self._count("routed" if routed else "left alone")
        if not routed and not self._tally["routed"] and self._tally["left alone"] == 1:
            log.warning(
                "A request for %s is not for the routed host, %s, and is left alone; "
                "host= names the host whose requests are routed.",
                request.url.host,
                self._host,
            )
        return routed

    def _attempt(self, play: Play, tried: tuple[str, ...] = ()) -> Attempt:
        """The attempt that begins with a play."""
        route = self.routes.get(play.arm)
        if route is None:
            self.agent.cancel(play)
            raise LiveError(f"The arm {play.arm!r} has no route; add arms with add_route.")
        return Attempt(play, route, self.agent, tried)

    def _sent(self, request: Any, attempt: Attempt, upload: Any, trace: Any) -> Any:
        """The request for the route of an attempt, watched while it is sent."""
        sent = addressed(self.package.http, request, attempt.route)
        attempt.own_fault = False
        if content_of(self.package.http, sent) is None:
            sent.stream = upload(sent.stream, attempt)
        sent.extensions = {**sent.extensions, "trace": trace}
        return sent

    def _judged(self, attempt: Attempt, response: Any) -> Ending | None:
        """How the play ends with the head of its answer; None if the body decides."""
        attempt.waiting.arrived()
        response.extensions["tarry"] = Served(attempt, self.agent)
        if self._failed is None:
            refused = response.status_code in REFUSED and attempt.route.headers
            failed = bool(failed_status(response) or refused)
        else:
            failed = self._failed(response)
        if failed:
            return "fail"
        return "tell" if self._until == "headers" else None

    def _delivery(self, attempt: Attempt, response: Any) -> Delivery | None:
        """Who follows the body; nobody if the play is over."""
        if attempt.ending is not None:
            return None
        delivery = Delivery(attempt, self._until, response)
        with self._book.going_on("looking after slow readers"):
            self._readers.add(delivery)
        return delivery

    def _rest(self, attempt: Attempt, response: Any) -> None:
        """Leave the arm alone for as long as its server asks for."""
        with self._book.going_on("pausing arms"):
            if self._absences.rest(attempt.play.arm, retry_after(response.headers)):
                self._count("rested")

    def _may_retry(self, request: Any, attempt: Attempt) -> bool:
        return (
            attempt.ending == "fail"
            and len(attempt.tried) < self._retry
            and content_of(self.package.http, request) is not None
            and self._idempotent(request)
        )

    def _other(self, attempt: Attempt) -> Play | None:
        """A play of an arm that this request was not tried on; None if there is none."""
        play = None
        with self._book.going_on("trying other arms"):
            play = self._absences.ask_without((*attempt.tried, attempt.play.arm))
        if play is not None:
            self._count("retried")
        return play

    def _close_agent(self) -> None:
        """End the rests; close the agent if it was made here."""
        with self._book.going_on("resuming arms"):
            self._absences.wake(everything=True)
        if self._made:
            self.agent.close()
