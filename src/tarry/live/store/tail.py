"""The latest facts, in memory: what is not durable yet, and what came after the last snapshot.

Every change is one assignment or one `append`, so that it happens or does not, whatever interrupts
the thread that makes it; and no lock is needed to read.

Facts are kept as plain tuples of numbers. The garbage collector stops to look at those, where it
would look at thousands of objects of any class of ours again and again, and at all others of the
program each time that they have become many more.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tarry.live.facts import Fact, Row
from tarry.live.store.protocol import Kept


class Snapshot(NamedTuple):
    """The evidence after fact number `number`."""

    number: int
    body: bytes | None


class Tail:
    """Facts from some number on, and the latest snapshot."""

    def __init__(self, snapshot: Snapshot, facts: Sequence[Row]) -> None:
        self.snapshot = snapshot
        rows: list[Row] = list(map(tuple, facts))  # type: ignore[arg-type]  # of the same length
        self._facts = snapshot.number, rows  # the number of the fact before, and those after it

    @property
    def appended(self) -> int:
        """The number of the latest fact."""
        before, facts = self._facts
        return before + len(facts)

    def append(self, fact: Row) -> int:
        """One more; returns its number."""
        before, facts = self._facts
        facts.append(fact)
        return before + len(facts)

    @property
    def forgotten(self) -> int:
        """The number of the latest fact that was let go."""
        return self._facts[0]

    def after(self, number: int) -> list[Row]:
        """The facts after this one."""
        before, facts = self._facts
        return facts[max(number - before, 0) :]

    def since(self, number: int) -> tuple[list[Row], int]:
        """The facts after this one that are still here, and the number of the first of them."""
        before, facts = self._facts
        skipped = max(number - before, 0)
        return facts[skipped:], before + skipped + 1

    def since_snapshot(self) -> Kept:
        """The latest snapshot and the facts after it."""
        return Kept(self.snapshot.body, list(map(Fact._make, self.after(self.snapshot.number))))

    def take_snapshot(self, body: bytes) -> Snapshot:
        """Evidence after all facts so far."""
        self.snapshot = Snapshot(self.appended, body)
        return self.snapshot

    def forget(self, number: int) -> None:
        """Let go of facts up to this one that the snapshot holds."""
        before, facts = self._facts
        number = min(number, self.snapshot.number)
        if number > before:
            self._facts = number, facts[number - before :]
