"""A block of code as a play: timed, and honest about failures."""

# ruff: noqa: SLF001  # an agent and its blocks are two halves of one thing

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from tarry.errors import LiveError
from tarry.live.clock import to_ticks
from tarry.live.plays import Play
from tarry.live.store.sqlite import CANCEL, FAIL

if TYPE_CHECKING:
    from tarry.live.agent import Agent


class TimedPlay:
    """What `agent.play()` returns; good for one `with` or `async with` block.

    Entering asks the agent and gives the name of the arm. What the end of the block means:

        no exception          the play came back; it took as long as the block
        an `Exception`        the play failed: the worst payoff, however fast it failed
        given up from outside (a cancelled task, Ctrl-C): the play is cancelled at its age
    """

    def __init__(self, agent: "Agent") -> None:
        self._agent = agent
        self._watch: Callable[[], float] = float
        self._over = False
        self._play: Play | None = None

    @property
    def play(self) -> Play:
        """The play: its id, arm and time."""
        if self._play is None:
            raise LiveError("The play has not begun; enter the block with `with` first.")
        return self._play

    def cancel(self) -> None:
        """Stop watching from inside the block: how it ends no longer matters."""
        self._over = True
        self._agent.cancel(self.play.id)

    def __enter__(self) -> str:
        """Ask; the name of the arm to use."""
        self._check_new()
        self._play = self._agent.ask()
        self._watch = self._agent.stopwatch()
        return self._play.arm

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Tell how it ended."""
        seq = self._end(error)
        self._agent._flush(seq)

    async def __aenter__(self) -> str:
        """Ask; the event loop goes on while the disk is written."""
        self._check_new()
        agent = self._agent
        self._play, seq = agent._ask()
        try:
            await self._on_disk(seq)
        except BaseException:
            agent.cancel(self._play.id)
            raise
        self._watch = agent.stopwatch()
        return self._play.arm

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Tell how it ended."""
        await self._on_disk(self._end(error))

    def _check_new(self) -> None:
        if self._play is not None:
            raise LiveError("This block was entered before; call agent.play() for each play.")

    async def _on_disk(self, seq: int) -> None:
        if seq:
            await asyncio.to_thread(self._agent._flush, seq)

    def _end(self, error: BaseException | None) -> int:
        agent = self._agent
        if self._over:
            return 0
        self._over = True
        if error is None:
            return agent._tell(self.play.id, to_ticks(self._watch()))[1]
        kind = FAIL if isinstance(error, Exception) else CANCEL
        return agent._end(kind, self.play.id)[1]
