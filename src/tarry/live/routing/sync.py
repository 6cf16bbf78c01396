"""The transport for clients that wait."""

from collections.abc import Callable
from typing import Any

from tarry.live.routing.answers import retry_after
from tarry.live.routing.attempt import Attempt
from tarry.live.routing.gate import Gate, room_in
from tarry.live.routing.router import Router


class SyncRouter(Router):
    """Routes the requests of a `Client`; see `Router` for the arguments."""

    def __init__(self, routes: Any, **more: Any) -> None:
        super().__init__(routes, **more)
        self._gate = Gate(self.package.http, room_in(self._transport))

    def _sender(self) -> Any:
        return self.package.http.HTTPTransport()

    def handle_request(self, request: Any) -> Any:
        """Send the request along the route that the agent chooses, and tell it how that went."""
        self._gate.enter(request)
        delivery = None
        try:
            if self._is_routed(request):
                response, attempt = self._routed(request)
                delivery = self._delivery(attempt, response)
            else:
                response = self._transport.handle_request(request)
        except BaseException:
            self._gate.leave()
            raise
        response.stream = self.package.body(
            response.stream, delivery, self._book, self._readers, self._gate.leave
        )
        return response

    def close(self) -> None:
        """Close the connections, and the agent if the transport made it."""
        try:
            self._transport.close()
        finally:
            self._close_agent()

    def _routed(self, request: Any) -> tuple[Any, Attempt]:
        """The answer of the first arm that does not fail, or of the last one tried."""
        if self._absences.due():
            with self._book.going_on("resuming arms"):
                self._absences.wake()
        attempt = self._attempt(self.agent.ask())
        answer = None
        while True:
            answer = self._tried(request, attempt, answer)
            try:
                play = self._other(attempt) if self._may_retry(request, attempt) else None
            except BaseException:
                if not isinstance(answer, Exception):
                    answer.close()
                raise
            if play is None:
                if isinstance(answer, Exception):
                    raise answer
                return answer, attempt
            attempt = self._attempt(play, (*attempt.tried, attempt.play.arm))

    def _tried(self, request: Any, attempt: Attempt, before: Any) -> Any:
        """The answer along one route, or the error instead of it."""
        try:
            attempt.own_fault = True  # up to the sending, what fails is not the route
            if before is not None and not isinstance(before, Exception):
                before.close()
            trace = _traced(attempt, request.extensions.get("trace"))
            sent = self._sent(request, attempt, self.package.upload, trace)
            response = self._transport.handle_request(sent)
        except BaseException as error:
            self._book.write(attempt, attempt.ending_by(self.package.http, error))
            if not isinstance(error, Exception):
                raise
            return error
        try:
            ending = self._judged(attempt, response)
            if ending is not None:
                self._book.write(attempt, ending)
            if ending == "fail" and retry_after(response.headers):
                self._rest(attempt, response)
        except BaseException:
            response.close()
            self._book.write(attempt, "cancel")
            raise
        return response


def _traced(attempt: Attempt, theirs: Any) -> Callable[[str, Any], None]:
    """Notes when the request has a connection; a trace of the caller's own is served as well."""

    def trace(event: str, details: Any) -> None:
        attempt.waiting.connected()
        if theirs is not None:
            theirs(event, details)

    return trace
