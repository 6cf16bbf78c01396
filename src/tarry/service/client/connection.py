"""A connection to a service: requests that are repeated until they are answered, and errors.

Every request may be sent twice without harm: an ask has a key of its own, an end of a play counts
once, and all else says how things are to be. So whatever is lost on the way is sent again.
"""

import asyncio
import json
import random
import time
import weakref
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, urlsplit

from tarry.checks import shortened
from tarry.errors import (
    ConflictError,
    InputError,
    JournalError,
    LiveError,
    MissingExtraError,
    ServiceError,
    UnknownPlayError,
)

try:
    import httpx
except ImportError as missing:
    raise MissingExtraError.of("tarry.connect", "httpx", "serve") from missing

if TYPE_CHECKING:
    from tarry.policies.protocol import Policy
    from tarry.service.client.remote import RemoteAgent

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


class Connection:
    """A service, made by `tarry.connect`; its agents are used like those of this process."""

    def __init__(self, address: str, key: str | None, patience: float, timeout: float) -> None:
        parts = urlsplit(str(address))
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise InputError(
                f"The address is {shortened(address)}; give that of a service, such as "
                f"'http://127.0.0.1:8090'."
            )
        self.address = str(address).rstrip("/")
        self.patience = patience
        headers = {} if key is None else {"authorization": f"Bearer {checked(key)}"}
        self._told: dict[str, Any] = {"headers": headers, "timeout": timeout}
        self._client: httpx.Client | None = None
        # A client belongs to the event loop in which it was first used.
        self._clients: weakref.WeakKeyDictionary[Any, httpx.AsyncClient] = (
            weakref.WeakKeyDictionary()
        )

    def agent(
        self,
        name: str,
        policy: "Policy | str | None" = None,
        *,
        arms: Sequence[str] | None = None,
        payoff: str | None = None,
        max_delay: float | None = None,
        **more: Any,
    ) -> "RemoteAgent":
        """The agent of this name: made if there is none, else it gets the arms that it lacks.

        Arms that it has beside these stay: `remove_arm` takes them out. Without arms, payoff and
        max_delay it must be there. `more` is what `tarry.Agent` takes as well: lease, heartbeat,
        features, seed, horizon.
        """
        from tarry.service.client.remote import wanted

        if not name:
            raise InputError(f"The name of the agent is {shortened(name)}; give some text.")
        path = f"/v1/agents/{escaped(name)}"
        if arms is None and payoff is None and max_delay is None:
            return self._opened(path, self.call("GET", path))
        if arms is None or payoff is None or max_delay is None:
            raise InputError("To make an agent give arms=, payoff= and max_delay=, all of them.")
        body = wanted(policy, arms, payoff, max_delay, more)
        try:
            return self._opened(path, self.call("PUT", path, {**body, "keep": True}))
        except ConflictError as error:  # as an agent says it of its own store
            raise JournalError(str(error)) from error
        except RoleError:  # a key that may decide, but not manage: then it must be there
            return self._opened(path, self.call("GET", path)).checked(body)

    def _opened(self, path: str, shown: Any) -> "RemoteAgent":
        from tarry.service.client.remote import RemoteAgent

        try:
            return RemoteAgent(self, path, shown)
        except (KeyError, TypeError) as error:
            raise foreign(self.address, "something else") from error

    def agents(self) -> list[str]:
        """The names of the agents that are there."""
        names: list[str] = self.call("GET", "/v1/agents")["agents"]
        return names

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        done: str = "",
    ) -> Any:
        """One request, repeated if need be; `done` is the problem of one that was done before."""
        told = _request(method, self.address + path, body, headers)
        if self._client is None:
            self._client = httpx.Client(**self._told)
        attempts = Attempts(self.address, self.patience)
        while True:
            try:
                answer = self._client.request(**told)
            except httpx.HTTPError as error:
                pause: float | None = attempts.lost(error)
            else:
                pause = attempts.put_off(answer)
            if pause is None:
                return _taken(answer, done if attempts.count else "")
            time.sleep(pause)

    async def call_async(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        done: str = "",
    ) -> Any:
        """As `call`; the event loop goes on."""
        told = _request(method, self.address + path, body, headers)
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = httpx.AsyncClient(**self._told)
        attempts = Attempts(self.address, self.patience)
        while True:
            try:
                answer = await client.request(**told)
            except httpx.HTTPError as error:
                pause: float | None = attempts.lost(error)
            else:
                pause = attempts.put_off(answer)
            if pause is None:
                return _taken(answer, done if attempts.count else "")
            await asyncio.sleep(pause)

    def close(self) -> None:
        """Let go of the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    async def close_async(self) -> None:
        """Let go of the connections of this event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    def __enter__(self) -> Self:
        """The connection; it is closed at the end of the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    async def __aenter__(self) -> Self:
        """The connection; what this event loop has of it is closed at the end of the block."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        await self.close_async()
        self.close()

    def __repr__(self) -> str:
        """Where it leads."""
        return f"<Connection to {self.address}>"


class Attempts:
    """When to send a request again."""

    def __init__(self, address: str, patience: float) -> None:
        self.address = address
        self.count = 0  # of those that came to nothing
        self._end = time.monotonic() + patience
        self._pause = PAUSES[0]

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


def escaped(name: str) -> str:
    """A name as one piece of a path; "." and ".." must not be taken for folders."""
    return quote(name, safe="").replace(".", "%2E")


def checked(key: Any) -> str:
    """A key that a header can hold; the error does not show it."""
    text = key.strip() if isinstance(key, str) else ""  # a file may end with a new line
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise InputError("The key is none; give the text that 'tarry key' printed.")
    return text


def foreign(where: str, what: str) -> ServiceError:
    """Something that is no service of ours was there."""
    return ServiceError(
        f"The service {where} answers with {what}, and not as tarry serve does; see what is at "
        f"this address."
    )


class RoleError(ServiceError):
    """The key may not do this."""


def _request(method: str, url: str, body: Any, headers: Mapping[str, str] | None) -> dict[str, Any]:
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


def _taken(answer: httpx.Response, done: str) -> Any:
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
