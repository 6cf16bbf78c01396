"""An httpx transport that sends each request to one of several base URLs, chosen by an agent.

    import httpx
    from tarry.live.httpx import Transport

    routes = {"fra": "https://fra.example.org", "ams": "https://ams.example.org"}
    client = httpx.Client(transport=Transport(routes, max_delay=2.0))
    client.get("http://routed/items/7")     # scheme and host are those of the chosen route

Needs `pip install tarry[live]`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, Literal

from tarry.errors import InputError, MissingExtraError
from tarry.live.agent import Agent
from tarry.policies.check import check_choice

try:
    import httpx
except ModuleNotFoundError as error:
    raise MissingExtraError.of("Choosing among HTTP routes", "httpx", "live") from error

Until = Literal["headers", "body"]


def server_error(response: httpx.Response) -> bool:
    """Whether the status is 500 or above."""
    return response.status_code >= 500


class _Routes:
    """What the two transports share: the agent, the routes, and what counts as a failure."""

    def __init__(
        self,
        routes: Mapping[str, str],
        *,
        agent: Agent | None = None,
        until: Until = "headers",
        failed: Callable[[httpx.Response], bool] = server_error,
        **settings: Any,
    ) -> None:
        """See `Transport`."""
        check_choice("until", until, ("headers", "body"))
        if agent is None:
            agent = Agent(arms=list(routes), payoff="cost", **settings)
        elif settings:
            raise InputError(
                f"Both an agent and settings for a new one ({', '.join(settings)}) are given; "
                f"give one or the other."
            )
        self.agent = agent
        self.urls = {name: httpx.URL(url) for name, url in routes.items()}
        missing = [name for name in agent.arms if name not in self.urls]
        if missing:
            raise InputError(
                f"The arm {missing[0]!r} of the agent has no URL; routes are given for "
                f"{', '.join(routes)}."
            )
        self._until = until
        self._failed = failed

    def add_route(self, name: str, url: str) -> None:
        """A new route, which can be chosen from now on."""
        self.urls[name] = httpx.URL(url)
        self.agent.add_arm(name)

    def _sent_to(self, request: httpx.Request, arm: str) -> httpx.Request:
        """The same request for the base URL of `arm`."""
        base = self.urls[arm]
        path = base.raw_path.rstrip(b"/") + request.url.raw_path
        url = base.copy_with(raw_path=path)
        headers = request.headers.copy()
        headers["Host"] = url.netloc.decode("ascii")
        return httpx.Request(
            request.method,
            url,
            headers=headers,
            stream=request.stream,
            extensions=request.extensions,
        )


class Transport(_Routes, httpx.BaseTransport):
    """Routes the requests of an `httpx.Client`.

    Args:
        routes: Base URL of each arm. The path of a request is appended to it.
        agent: The agent that chooses; its payoff should be "cost". By default one is made from
            the further `settings`, of which `max_delay` is required and `path` makes it durable.
        until: "headers" takes the time until the head of the response is there, "body" until its
            last byte was read.
        failed: Which responses are failures, to be booked as the worst cost; status 500 and above
            by default. An exception (no connection, a timeout) always is one.
        transport: What sends the request in the end; `httpx.HTTPTransport()` by default.
    """

    def __init__(
        self,
        routes: Mapping[str, str],
        *,
        transport: httpx.BaseTransport | None = None,
        **more: Any,
    ) -> None:
        super().__init__(routes, **more)
        self._transport = transport or httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request along the route that the agent chooses, and tell it how that went."""
        play = self.agent.ask()
        clock = self.agent.stopwatch()
        try:
            response = self._transport.handle_request(self._sent_to(request, play.arm))
        except Exception:
            self.agent.fail(play.id)
            raise
        except BaseException:
            self.agent.cancel(play.id)
            raise
        if self._failed(response):
            self.agent.fail(play.id)
        elif self._until == "headers":
            self.agent.tell(play.id, clock())
        else:
            response.stream = _Body(response.stream, self.agent, play.id, clock)
        return response

    def close(self) -> None:
        """Close the connections, and the agent."""
        self._transport.close()
        self.agent.close()


class AsyncTransport(_Routes, httpx.AsyncBaseTransport):
    """Routes the requests of an `httpx.AsyncClient`; the arguments are those of `Transport`."""

    def __init__(
        self,
        routes: Mapping[str, str],
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        **more: Any,
    ) -> None:
        super().__init__(routes, **more)
        self._transport = transport or httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request along the route that the agent chooses, and tell it how that went."""
        play = await self._off_loop(self.agent.ask)
        clock = self.agent.stopwatch()
        try:
            response = await self._transport.handle_async_request(self._sent_to(request, play.arm))
        except Exception:
            await self._off_loop(self.agent.fail, play.id)
            raise
        except BaseException:  # the task was cancelled: this is no time to wait for the disk
            self.agent.cancel(play.id)
            raise
        if self._failed(response):
            await self._off_loop(self.agent.fail, play.id)
        elif self._until == "headers":
            await self._off_loop(self.agent.tell, play.id, clock())
        else:
            response.stream = _AsyncBody(response.stream, self.agent, play.id, clock)
        return response

    async def aclose(self) -> None:
        """Close the connections, and the agent."""
        await self._transport.aclose()
        self.agent.close()

    async def _off_loop(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Call it; in another thread where it waits for the disk."""
        if self.agent.path is None:
            return call(*arguments)
        return await asyncio.to_thread(call, *arguments)


class _Watched:
    """A body whose end is the end of the play; one given up before is a cancelled play."""

    def __init__(self, stream: Any, agent: Agent, number: int, clock: Callable[[], float]) -> None:
        self._stream = stream
        self._agent = agent
        self._id = number
        self._clock = clock
        self._over = False

    def _finish(self, error: BaseException | None = None) -> None:
        if self._over:
            return
        self._over = True
        if error is None:
            self._agent.tell(self._id, self._clock())
        elif isinstance(error, Exception):
            self._agent.fail(self._id)
        else:
            self._agent.cancel(self._id)


class _Body(_Watched, httpx.SyncByteStream):
    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._stream
        except BaseException as error:
            self._finish(error)
            raise
        self._finish()

    def close(self) -> None:
        self._finish(GeneratorExit())
        self._stream.close()


class _AsyncBody(_Watched, httpx.AsyncByteStream):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._stream:
                yield chunk
        except BaseException as error:
            self._finish(error)
            raise
        self._finish()

    async def aclose(self) -> None:
        self._finish(GeneratorExit())
        await self._stream.aclose()
