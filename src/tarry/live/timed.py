"""A block of code as a play: timed, and honest about failures."""

# ruff: noqa: SLF001  # an agent and its blocks are two halves of one thing

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from tarry.errors import LiveError
from tarry.live.clock import to_ticks
from tarry.live.facts import CANCEL, FAIL, RETURN
from tarry.live.plays import Play, Told
from tarry.live.settings import check_delay

if TYPE_CHECKING:
    from tarry.live.agent import Agent


class ActivePlay(str):
    """A play inside its block: the name of its arm, which can do more than a name.

    It formats, compares and hashes as the name. If its end is told inside the block, how the block
    ends makes no difference any more.
    """

    __slots__ = ("_block", "arm", "id", "time")

    _block: "Block"
    arm: str
    id: int
    time: float

    def __new__(cls, play: Play, block: "Block") -> Self:
        """The play of this block."""
        name = super().__new__(cls, play.arm)
        name._block = block
        name.id, name.arm, name.time = play
        return name

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """A copy, here or in another process, is the name alone."""
        return str, (self.arm,)

    def tell(self, delay: float | None = None) -> Told:
        """It came back just now, or took `delay` seconds."""
        block = self._block
        measured = None if block.is_over() else block.passed()
        told = block.finish(RETURN, measured if delay is None else check_delay(delay))
        return told if isinstance(told, Told) else Told.REPEATED

    def fail(self) -> Told:
        """It ended in failure: the worst payoff."""
        told = self._block.finish(FAIL)
        return told if isinstance(told, Told) else Told.REPEATED

    def cancel(self) -> bool:
        """Nobody watches it any longer; tells whether it was still out."""
        return self._block.finish(CANCEL) is True


class Block(ABC):
    """A block of code that is a play, of an agent here or elsewhere."""

    def __init__(self, agent: Any, context: Mapping[str, Any] | None = None) -> None:
        self._agent = agent
        self._context = context
        self._watch: Callable[[], float] = float
        self._play: Play | None = None

    @property
    def play(self) -> Play:
        """The play: its id, arm and time."""
        if self._play is None:
            raise LiveError("The play has not begun; enter the block with `with` first.")
        return self._play

    def cancel(self) -> None:
        """Stop watching from inside the block: how it ends no longer matters."""
        self.finish(CANCEL)

    def passed(self) -> int:
        """How long the block has lasted, in ticks."""
        return to_ticks(self._watch())

    @abstractmethod
    def is_over(self) -> bool:
        """Whether the end of the play was told."""

    @abstractmethod
    def finish(self, kind: int, delay: int | None = None) -> Told | bool:
        """The play ended so; only the first end counts."""

    def __enter__(self) -> ActivePlay:
        """Ask; the play, which is the name of the arm to use."""
        self._check_new()
        return self._begin(self._agent.ask(self._context))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Tell how it ended, unless that was told in the block."""
        self._settle(error)

    def _settle(self, error: BaseException | None) -> None:
        if not self.is_over():
            self.finish(*self._meant(error))

    def _begin(self, play: Play) -> ActivePlay:
        self._play = play
        self._watch = self._agent.stopwatch()
        return ActivePlay(play, self)

    def _check_new(self) -> None:
        if self._play is not None:
            raise LiveError("This block was entered before; call agent.play() for each play.")

    def _meant(self, error: BaseException | None) -> tuple[int, int | None]:
        """What the end of the block says of the play: how it ended, and after how long."""
        if error is None:
            return RETURN, self.passed()
        return (FAIL if isinstance(error, Exception) else CANCEL), None


class TimedPlay(Block):
    """What `agent.play()` returns; good for one `with` or `async with` block.

    Entering asks the agent and gives the play, which is the name of the arm as well (see
    `ActivePlay`). What the end of the block means, unless the play was told, failed or cancelled
    in it:

        no exception          the play came back; it took as long as the block
        an `Exception`        the play failed: the worst payoff, however fast it failed
        given up from outside (a cancelled task, Ctrl-C): the play is cancelled at its age
    """

    def __init__(self, agent: "Agent", context: Mapping[str, Any] | None = None) -> None:
        super().__init__(agent, context)
        self._over = False
        self._waits = True  # whether this thread may wait for the disk
        self._seq = 0  # the number of the fact that ended it

    def is_over(self) -> bool:
        """Whether the end of the play was told, of it or of its agent."""
        return self._over or self._agent._is_answered(self.play.id)

    def finish(self, kind: int, delay: int | None = None) -> Told | bool:
        """The play ended so; only the first end counts, and another answer is refused."""
        outcome, self._seq = self._agent._end(kind, self.play.id, delay)
        self._over = True
        if self._waits:
            self._agent._flush(self._seq)
        return self._agent._engine.outcome(outcome, self._seq, kind)

    async def __aenter__(self) -> ActivePlay:
        """Ask; the event loop goes on while the disk is written."""
        self._check_new()
        self._waits = False
        return self._begin(await self._agent.ask_async(self._context))

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Tell how it ended."""
        self._settle(error)
        if error is None or isinstance(error, Exception):  # else this is no time to wait
            await self._agent._flush_async(self._seq)

    def __del__(self) -> None:
        """A block that nobody can leave any more is given up, as one that was left from outside."""
        if self._play is not None and not self._over:
            self._waits = False  # this is no time to wait
            with contextlib.suppress(Exception):
                self.finish(CANCEL)
