"""A connection to a service: requests that are repeated until they are answered, and errors.

Every request may be sent twice without harm: an ask has a key of its own, an end of a play counts
once, and all else says how things are to be. So whatever is lost on the way is sent again.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, urlsplit

from tarry.checks import check_number, check_positive, shortened
from tarry.errors import ConflictError, InputError, JournalError, MissingExtraError

try:
    import anyio
    import httpx
except ImportError as missing:
    raise MissingExtraError.of("tarry.connect", "httpx", "serve") from missing

from tarry.service.client.attempts import Attempts, RoleError, foreign, request, taken
from tarry.service.client.clients import Clients
from tarry.service.client.later import HURRY, Later

if TYPE_CHECKING:
    from tarry.policies.protocol import Policy
    from tarry.service.client.remote import RemoteAgent

INHERITED: list[Clients] = []  # of the process that this one was forked from: not to be closed


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
        self.patience = check_number("patience", patience, 0)
        headers = {} if key is None else {"authorization": f"Bearer {checked(key)}"}
        self._told = {"headers": headers, "timeout": check_positive("timeout", timeout)}
        self._start()

    def _start(self) -> None:
        self._clients = Clients(self._told)
        self._later = Later(self._clients)

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
        from tarry.service.client.wanted import wanted

        if not name or not isinstance(name, str):
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
        hurry: float | None = None,
        given_up: Callable[[], None] | None = None,
        client: httpx.Client | None = None,
    ) -> Any:
        """One request, repeated if need be; `done` is the problem of one that was done before.

        With `hurry`, there is one attempt, and each of its steps may last so many seconds.
        `given_up` is called if somebody stops waiting for an answer (Ctrl-C).
        """
        told, attempts = self._begun(method, path, body, headers, hurry)
        while True:
            try:
                with self._here().of_threads() if client is None else nullcontext(client) as used:
                    answer = used.request(**told)
            except httpx.HTTPError as error:
                pause: float | None = attempts.lost(error)
            except BaseException as error:
                if given_up is not None and not isinstance(error, Exception):
                    given_up()
                raise
            else:
                pause = attempts.put_off(answer)
            if pause is None:
                return taken(answer, done if attempts.count else "")
            time.sleep(pause)

    async def call_async(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        done: str = "",
        hurry: float | None = None,
        given_up: Callable[[], None] | None = None,
    ) -> Any:
        """As `call`; the event loop goes on."""
        told, attempts = self._begun(method, path, body, headers, hurry)
        while True:
            lane = await self._here().of_loop()
            async with lane.client() as client:
                try:
                    answer = await client.request(**told)
                except httpx.HTTPError as error:
                    pause: float | None = attempts.lost(error)
                except BaseException as error:
                    if given_up is not None and not isinstance(error, Exception):
                        given_up()
                    raise
                else:
                    pause = attempts.put_off(answer)
            if pause is None:
                return taken(answer, done if attempts.count else "")
            await anyio.sleep(pause)

    def later(self, job: Callable[[Callable[..., Any]], Any]) -> None:
        """Send in the background what `job` sends with the function that it is given."""
        self._here()
        self._later.do(lambda client: job(partial(self.call, hurry=HURRY, client=client)))

    def close(self) -> None:
        """Let go of the connection."""
        self._here().close()

    async def close_async(self) -> None:
        """Let go of the connections of this event loop."""
        await self._here().close_async()

    def _begun(
        self,
        method: str,
        path: str,
        body: Any,
        headers: Mapping[str, str] | None,
        hurry: float | None,
    ) -> tuple[dict[str, Any], Attempts]:
        """What to send, and how often it may be sent."""
        told = request(method, self.address + path, body, headers)
        attempts = Attempts(self.address, self.patience)
        if hurry is not None:
            told["timeout"] = hurry
            attempts.hurry()
        return told, attempts

    def _here(self) -> Clients:
        """The clients of this process: with those of its parent it would get others' answers."""
        if self._clients.process != os.getpid():
            INHERITED.append(self._clients)
            self._start()
        return self._clients

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

    def __reduce__(self) -> Any:
        """Refuse to be pickled: its sockets are of one process."""
        raise TypeError("A connection cannot be pickled or copied; make one in each process.")


def escaped(name: str) -> str:
    """A name as one piece of a path; "." and ".." must not be taken for folders."""
    return quote(name, safe="").replace(".", "%2E")


def checked(key: Any) -> str:
    """A key that a header can hold; the error does not show it."""
    text = key.strip() if isinstance(key, str) else ""  # a file may end with a new line
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise InputError("The key is none; give the text that 'tarry key' printed.")
    return text
