"""A block that is a play of an agent elsewhere."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

import anyio

from tarry.live.clock import to_seconds
from tarry.live.facts import CANCEL, FAIL, RETURN
from tarry.live.plays import Told
from tarry.live.timed import ActivePlay, Block

if TYPE_CHECKING:
    from tarry.service.client.remote import RemoteAgent

HURRY = 0.5  # seconds for each step of an attempt, while an exception waits to go on
log = logging.getLogger("tarry")


class RemoteBlock(Block):
    """What `agent.play()` returns; good for one `with` or `async with` block.

    As `tarry.live.timed.TimedPlay`. In an `async with`, an end that is told inside the block is
    sent when the block is left. An exception goes on after about a second at most, whether or not
    the service could be told; a task that is cancelled goes on at once.
    """

    def __init__(self, agent: "RemoteAgent", context: Mapping[str, Any] | None = None) -> None:
        super().__init__(agent, context)
        self._sends = True  # whether an end is sent at once
        self._end: tuple[int, int | None] | None = None  # how it ended, and after how long

    def is_over(self) -> bool:
        """Whether the end of the play was told in this block."""
        return self._end is not None

    def finish(self, kind: int, delay: int | None = None) -> Told | bool:
        """The play ended so; only the first end counts."""
        first = self._end is None
        if first:
            self._end = kind, delay
        if self._sends:
            return self._send(kind, delay)
        return kind == CANCEL or (Told.RETURNED if first else Told.REPEATED)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Tell how it ended, unless that was told in the block; an exception does not wait long."""
        if error is None:
            self._settle(None)
        elif not self.is_over():
            self._end = self._meant(error)
            with self._noted():
                self._agent.connection.call("POST", *self._ending(), hurry=HURRY)

    async def __aenter__(self) -> ActivePlay:
        """Ask; the event loop goes on."""
        self._check_new()
        self._sends = False
        return self._begin(await self._agent.ask_async(self._context))

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Tell how it ended; an exception does not wait long, and a cancelled task not at all."""
        self._end = self._end or self._meant(error)
        ending = self._ending()
        if error is not None and not isinstance(error, Exception):
            self._end_later(ending)
            return
        try:
            if error is None:
                await self._agent.connection.call_async("POST", *ending)
            else:
                await self._end_soon(ending)
        except BaseException as cut:
            if not isinstance(cut, Exception):
                self._end_later(ending)
            raise

    async def _end_soon(self, ending: Any) -> None:
        with self._noted():
            with anyio.move_on_after(2 * HURRY):
                await self._agent.connection.call_async("POST", *ending, hurry=HURRY)
                return
            self._end_later(ending)

    def _end_later(self, ending: Any) -> None:
        def job(send: Callable[..., Any]) -> None:
            with self._noted():
                send("POST", *ending)

        self._agent.connection.later(job)

    def _ending(self) -> tuple[str, dict[str, Any]]:
        kind, delay = self._end or (CANCEL, None)
        seconds = None if delay is None else to_seconds(delay)
        path, body = self._agent.ending(kind, self.play, seconds)
        return path, body

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """What goes wrong here must not stand in for what went wrong in the block."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  # whatever it is
            log.warning("The end of play %s was not taken by its service: %s", self.play.id, error)

    def _send(self, kind: int, delay: int | None) -> Told | bool:
        agent, play = self._agent, self.play
        if kind == RETURN:
            return agent.tell(play, None if delay is None else to_seconds(delay))
        return agent.fail(play) if kind == FAIL else agent.cancel(play)
