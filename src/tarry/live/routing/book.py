"""Telling the agent how plays ended, without ever losing an answer over it."""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import anyio.to_thread

from tarry.live.agent import Agent
from tarry.live.plays import Play
from tarry.live.routing.attempt import Attempt, Ending

log = logging.getLogger("tarry")


class Book:
    """Writes down how attempts end.

    The answer of a server is worth more than the note about it. If the agent cannot take the note
    (a full disk, a closed agent), that is counted in `unbooked` and logged, one line when it
    begins and one when it is over, and the answer goes to the caller.
    """

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.unbooked = 0
        self._without: set[str] = set()
        self._since = 0  # notes lost since the last one that was taken
        self._lock = threading.RLock()  # answers may end inside the garbage collector

    def write(self, attempt: Attempt, ending: Ending) -> None:
        """The attempt ends so, unless it has ended before."""
        if attempt.end(ending):
            with self.minding():
                getattr(self.agent, ending)(*_arguments(attempt, ending))

    async def write_async(self, attempt: Attempt, ending: Ending) -> None:
        """The same, from an event loop; also from a task that is being cancelled."""
        if attempt.end(ending):
            with self.minding(), anyio.CancelScope(shield=True):
                await verb(self.agent, ending)(*_arguments(attempt, ending))

    @contextlib.contextmanager
    def going_on(self, without: str) -> Iterator[None]:
        """Log the first error in a block that is for `without`, and go on."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  # whatever a rule or a store raises
            with self._lock:
                known = without in self._without
                self._without.add(without)
            if not known:
                log.warning("Requests go on without %s: %s", without, error)

    @contextlib.contextmanager
    def minding(self) -> Iterator[None]:
        """Count and log an error in this block, and go on."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  # whatever a store raises
            self._missed(error)
        else:
            if self._since:
                self._took()

    def _missed(self, error: Exception) -> None:
        with self._lock:
            self.unbooked += 1
            self._since += 1
            if self._since == 1:
                log.error("An answer was passed on, but the agent could not note it: %s", error)

    def _took(self) -> None:
        with self._lock:
            lost, self._since = self._since, 0
            if lost:
                log.warning("The agent notes answers again; it could not note %d.", lost)


def verb(agent: Agent, name: str) -> Callable[..., Any]:
    """The method of the agent for event loops: its own, or one that waits in another thread."""
    own = getattr(agent, f"{name}_async", None)

    async def elsewhere(*arguments: Any) -> Any:
        return await off_loop(agent, getattr(agent, name), *arguments)

    return elsewhere if own is None else own


async def off_loop(agent: Agent, call: Callable[..., Any], *arguments: Any) -> Any:
    """Call it; in another thread where it waits for the disk."""
    if agent.path is None:
        return call(*arguments)
    return await anyio.to_thread.run_sync(call, *arguments)


async def play_off_loop(agent: Agent, ask: Callable[[], Any]) -> Any:
    """Ask; a play that comes when the task was cancelled meanwhile is cancelled."""
    lock = threading.Lock()
    given_up = False
    play: Play | None = None

    def run() -> Play | None:
        nonlocal play
        mine = ask()
        with lock:
            play = mine
            unwanted = given_up and play is not None
        if unwanted and mine is not None:
            agent.cancel(mine)
        return mine

    try:
        return await off_loop(agent, run)
    except BaseException:
        with lock:
            given_up = True
            unwanted = play
        if unwanted is not None:
            agent.cancel(unwanted)
        raise


def _arguments(attempt: Attempt, ending: Ending) -> tuple[Any, ...]:
    return (attempt.play, attempt.waiting.seconds) if ending == "tell" else (attempt.play,)
