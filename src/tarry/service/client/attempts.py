"""Requests as they are sent, when to send them again, and what their answers mean."""

import json
import math
import random
import time
from collections.abc import Mapping
from typing import Any

import httpx

from tarry.errors import (
    ConflictError,
    InputError,
    JournalError,
    LiveError,
    ServiceError,
    UnknownPlayError,
)

PAUSES = (0.05, 1.0)  # seconds before the next attempt, the first time and at most
LONGEST = 5.0  # seconds that a service may put somebody off
AGAIN = (429, 502, 503, 504)
PROBLEM = "urn:tarry:problem:"
CLASSES: dict[str, type[LiveError | InputError]] = {
    "input": InputError,
    "arm": InputError,
    "play": UnknownPlayError,
    "conflict": ConflictError,
    "state": LiveError,
    "store": JournalError,
}


class Attempts:
    """When to send a request again."""

    def __init__(self, address: str, patience: float) -> None:
        self.address = address
        self.count = 0  # of those that came to nothing
        self._end = time.monotonic() + patience
        self._pause = PAUSES[0]

    def hurry(self) -> None:
        """There is no time for a second one."""
        self._end = -math.inf

    def lost(self, error: Exception) -> float:
        """No answer came: how long to wait; an error if it is too late for that."""
        pause = self._next()
        if pause is None:
            why = str(error).rstrip(".") or type(error).__name__
            raise ServiceError(
                f"The service {self.address} cannot be reached ({why}); see that it runs."
            ) from error
        return pause

    def put_off(self, answer: httpx.Response) -> float | None:
        """How long to wait, if the answer is to come later; None if this is it."""
        if answer.status_code not in AGAIN:
            return None
        pause, said = self._next(), answer.headers.get("retry-after", "")
        if pause is not None and said.isdigit():
            pause = max(pause, min(float(said), LONGEST))
        return pause

    def _next(self) -> float | None:
        if time.monotonic() + self._pause > self._end:
            return None
        self.count += 1
        pause, self._pause = self._pause, min(2 * self._pause, PAUSES[1])
        return pause * (0.5 + random.random())


def foreign(where: str, what: str) -> ServiceError:
    """Something that is no service of ours was there."""
    return ServiceError(
        f"The service {where} answers with {what}, and not as tarry serve does; see what is at "
        f"this address."
    )


class RoleError(ServiceError):
    """The key may not do this."""


def request(method: str, url: str, body: Any, headers: Mapping[str, str] | None) -> dict[str, Any]:
    """What httpx is told of a request."""
    told: dict[str, Any] = {"method": method, "url": url, "headers": dict(headers or {})}
    if body is not None:
        try:
            told["content"] = json.dumps(body, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(
                f"What is given cannot be sent ({error}); give texts and finite numbers."
            ) from error
        told["headers"]["content-type"] = "application/json"
    return told


def taken(answer: httpx.Response, done: str) -> Any:
    """What was answered, or the error that it says."""
    if answer.is_success:
        try:
            return answer.json() if answer.content else None
        except ValueError as error:
            raise foreign(answer.url.host, "no JSON") from error
    try:
        told = answer.json()
        kind, sentence = str(told["type"]).removeprefix(PROBLEM), str(told["detail"])
    except (ValueError, KeyError, TypeError):
        raise foreign(answer.url.host, f"status {answer.status_code}") from None
    if done and kind == done:
        return None
    if kind == "role":
        raise RoleError(sentence)
    raise CLASSES.get(kind, ServiceError)(sentence)
