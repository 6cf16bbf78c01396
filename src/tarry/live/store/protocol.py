"""What a store is: where the facts of an agent are kept, with its settings and its history.

A store keeps facts in one order and never changes them. An agent appends a fact and applies it to
its own evidence as one step; it answers its user once the fact is durable. Now and then it hands
over a snapshot of the evidence, so that a later process need not fold all facts again, and the
plays that ended long ago in chunks, which are the history.

The same tests hold for all stores: tests/live/test_stores.py.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tarry.live.facts import Fact, Row
from tarry.live.history import Chunk


class Kept(NamedTuple):
    """What a store has of an agent: evidence at some time, and the facts since."""

    snapshot: bytes | None
    facts: list[Fact]


class Store(Protocol):
    """One agent's facts. `append`, `take_snapshot` and `keep` are called one at a time."""

    settings: dict[str, Any]  # what the agent was made with

    @property
    def trouble(self) -> str:
        """Why facts cannot be made durable just now, empty if they can."""

    @property
    def failures(self) -> int:
        """How often that began."""

    @property
    def dropped(self) -> int:
        """Facts of which only what they led to is kept, since too many were waiting."""

    @property
    def appended(self) -> int:
        """How many facts there are."""

    @property
    def durable(self) -> int:
        """How many of them are safe."""

    def kept(self) -> Kept:
        """The latest snapshot and all facts after it, durable or not."""

    def append(self, fact: Row) -> int:
        """The next fact; returns its number, to be given to `wait`. Does not wait for anything."""

    def wait(self, number: int) -> None:
        """Return when this fact is durable; `JournalError` if it cannot be made so."""

    def is_busy(self) -> bool:
        """Whether this thread is inside `wait`: then it is a signal handler or a finaliser.

        Such a visitor's own `wait` returns at once, and is kept when the one around it returns.
        """

    def others(self) -> Sequence[Fact]:
        """Facts that other writers have appended since the last look; none where there is one."""

    def snapshot_due(self, plays: int) -> bool:
        """Whether it is time for a snapshot of evidence with so many plays in it."""

    def take_snapshot(self, body: bytes) -> None:
        """Evidence after all facts appended so far."""

    def keep(self, chunk: Chunk) -> None:
        """Plays for the history; those before the last `history` plays may go."""

    def chunks(self) -> list[Chunk]:
        """The history, the earliest chunk first."""

    def change(self, settings: dict[str, Any]) -> None:
        """From now on these are the settings; durable with the next fact."""

    def backup(self, path: Path) -> None:
        """A copy of everything that is durable, which can be opened in its own right."""

    def close(self) -> None:
        """Make everything durable, if that can be, and let go."""
