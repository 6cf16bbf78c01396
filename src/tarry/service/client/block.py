"""A block that is a play of an agent elsewhere."""

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tarry.live.clock import to_seconds
from tarry.live.facts import CANCEL, FAIL, RETURN
from tarry.live.plays import Told
from tarry.live.timed import ActivePlay, Block

if TYPE_CHECKING:
    from tarry.service.client.remote import RemoteAgent


class RemoteBlock(Block):
    """What `agent.play()` returns; good for one `with` or `async with` block.

    As `tarry.live.timed.TimedPlay`. In an `async with`, an end that is told inside the block is
    sent when the block is left.
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
        """Tell how it ended."""
        how, delay = self._end or self._meant(error)
        agent, play = self._agent, self.play
        if how == RETURN:
            await agent.tell_async(play, None if delay is None else to_seconds(delay))
        elif how == FAIL:
            await agent.fail_async(play)
        else:
            await agent.cancel_async(play)

    def _send(self, kind: int, delay: int | None) -> Told | bool:
        agent, play = self._agent, self.play
        if kind == RETURN:
            return agent.tell(play, None if delay is None else to_seconds(delay))
        return agent.fail(play) if kind == FAIL else agent.cancel(play)
