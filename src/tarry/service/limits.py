"""Limits: how often a caller may call, and how large a body may be."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from tarry.service.problems import RefusedError

MOST_CALLERS = 10_000  # that are remembered; who was not heard of for longest is forgotten


class Buckets:
    """A token bucket for each caller: `rate` calls per second, and `burst` at once."""

    def __init__(self, rate: float, burst: float | None = None) -> None:
        self.rate = rate
        self.burst = max(2 * rate, 1.0) if burst is None else burst
        self._left: OrderedDict[Any, tuple[float, float]] = OrderedDict()

    def take(self, caller: Any, now: float) -> None:
        """One call; refused if there were too many."""
        if self.rate <= 0:
            return
        left, then = self._left.get(caller, (self.burst, now))
        left = min(left + (now - then) * self.rate, self.burst)
        if left < 1.0:
            wait = (1.0 - left) / self.rate
            raise RefusedError(
                "rate",
                f"There were more than {self.rate:g} requests per second; try again in "
                f"{max(wait, 0.001):.3g} s.",
                {"retry-after": str(int(wait) + 1)},
            )
        self._left[caller] = left - 1.0, now
        self._left.move_to_end(caller)
        if len(self._left) > MOST_CALLERS:
            self._left.popitem(last=False)


async def read_body(
    receive: Callable[[], Awaitable[Any]], most: int, length: bytes | None
) -> bytes:
    """The body of a request, if it is not too large."""
    if length is not None and (not length.isdigit() or len(length) > 15 or int(length) > most):
        raise RefusedError("size", f"The body has more than {most} bytes.")
    message = await receive()
    body: bytes = message.get("body", b"")
    if message.get("more_body"):
        parts, size = [body], len(body)
        while message.get("more_body") and message["type"] == "http.request":
            message = await receive()
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > most:
                raise RefusedError("size", f"The body has more than {most} bytes.")
        body = b"".join(parts)
    if message["type"] == "http.disconnect":
        raise RefusedError("input", "The request was broken off.")
    if len(body) > most:
        raise RefusedError("size", f"The body has more than {most} bytes.")
    return body
