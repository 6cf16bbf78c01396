"""The transport for event loops, asyncio's and trio's."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from tarry.live.plays import Play
from tarry.live.routing.answers import retry_after
from tarry.live.routing.attempt import Attempt
from tarry.live.routing.book import off_loop, play_off_loop
from tarry.live.routing.gate import AsyncGate, room_in
from tarry.live.routing.router import Router


class AsyncRouter(Router):
    """Routes the requests of an `AsyncClient`; see `Router` for the arguments."""

    def __init__(self, routes: Any, **more: Any) -> None:
        super().__init__(routes, **more)
        self._gate = AsyncGate(self.package.http, room_in(self._transport))

    def _sender(self) -> Any:
        return self.package.http.AsyncHTTPTransport()

    async def handle_async_request(self, request: Any) -> Any:
        """Send the request along the route that the agent chooses, and tell it how that went."""
        await self._gate.enter(request)
        delivery = None
        try:
            if self._is_routed(request):
                response, attempt = await self._routed(request)
                delivery = self._delivery(attempt, response)
            else:
                response = await self._transport.handle_async_request(request)
        except BaseException:
            self._gate.leave()
            raise
        response.stream = self.package.async_body(
            response.stream, delivery, self._book, self._readers, self._gate.leave
        )
        return response

    async def aclose(self) -> None:
        """Close the connections, and the agent if the transport made it."""
        try:
            await self._transport.aclose()
        finally:
            with anyio.CancelScope(shield=True):
                await off_loop(self.agent, self._close_agent)

    async def _routed(self, request: Any) -> tuple[Any, Attempt]:
        """The answer of the first arm that does not fail, or of the last one tried."""
        if self._absences.due():
            with self._book.going_on("resuming arms"):
                await off_loop(self.agent, self._absences.wake)
        attempt = self._attempt(await self._asked())
        answer = None
        while True:
            answer = await self._tried(request, attempt, answer)
            try:
                play = await self._another(request, attempt)
            except BaseException:
                if not isinstance(answer, Exception):
                    with anyio.CancelScope(shield=True):
                        await answer.aclose()
                raise
            if play is None:
                if isinstance(answer, Exception):
                    raise answer
                return answer, attempt
            attempt = self._attempt(play, (*attempt.tried, attempt.play.arm))

    async def _asked(self) -> Play:
        own = getattr(self.agent, "ask_async", None)
        play: Play = await (own() if own else play_off_loop(self.agent, self.agent.ask))
        return play

    async def _another(self, request: Any, attempt: Attempt) -> Play | None:
        if not self._may_retry(request, attempt):
            return None
        return await play_off_loop(self.agent, lambda: self._other(attempt))

    async def _tried(self, request: Any, attempt: Attempt, before: Any) -> Any:
        """The answer along one route, or the error instead of it."""
        try:
            attempt.own_fault = True  # up to the sending, what fails is not the route
            if before is not None and not isinstance(before, Exception):
                await before.aclose()
            trace = _traced(attempt, request.extensions.get("trace"))
            sent = self._sent(request, attempt, self.package.async_upload, trace)
            response = await self._transport.handle_async_request(sent)
        except BaseException as error:
            await self._book.write_async(attempt, attempt.ending_by(self.package.http, error))
            if not isinstance(error, Exception):
                raise
            return error
        try:
            ending = self._judged(attempt, response)
            if ending is not None:
                await self._book.write_async(attempt, ending)
            if ending == "fail" and retry_after(response.headers):
                await off_loop(self.agent, self._rest, attempt, response)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await response.aclose()
            await self._book.write_async(attempt, "cancel")
            raise
        return response


def _traced(attempt: Attempt, theirs: Any) -> Callable[[str, Any], Awaitable[None]]:
    """Notes when the request has a connection; a trace of the caller's own is served as well."""

    async def trace(event: str, details: Any) -> None:
        attempt.waiting.connected()
        if theirs is not None:
            await theirs(event, details)

    return trace
