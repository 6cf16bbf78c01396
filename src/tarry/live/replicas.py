"""The replica that a process decides on: by the log, or alone while the database is away.

While the database is away the process goes on alone: what it would have sent is folded into its
own replica as well. When the database is back, the replica of before is taken up again, beside that
one, and the log is folded into it in its order, with what was sent late in it. Only when hardly
anything is left to send does it take the place of the other, which is thrown away: nobody waits for
what has piled up.
"""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tarry.live.desk import INTERPRETED
from tarry.live.facts import TIME, Row
from tarry.live.replica import STARTED, Outcome, Replica
from tarry.live.store.postgres.courier import READ
from tarry.live.store.postgres.store import PostgresStore

SLICE = 64  # facts that are folded before somebody else may decide
UNHEARD = 100_000  # outcomes that are kept for those who will ask for them
FEW = 200  # facts that are still to be sent when a process gives up being alone
GOES_ON = "The agent %s goes on from memory (%s)."
REFUSES = "The agent %s cannot be written (%s); it is tried again, and calls fail meanwhile."
log = logging.getLogger("tarry")

Restore = Callable[[bytes | None, int], Replica]


class Replicas:
    """`current`, which is decided on under `lock`; and what became of own facts in it."""

    def __init__(
        self, store: PostgresStore, replica: Replica, restore: Restore, *, insist: bool
    ) -> None:
        """With `insist`, calls fail while the database is away."""
        self.store = store
        self.current = replica
        self.restore = restore
        self.held: tuple[bytes | None, int] | None = None  # that of before, while this one is alone
        self._use_lock()
        self._insist = insist
        self._delivering = False
        self._outcomes: dict[int, Outcome] = {}  # of own facts
        self._next: Replica | None = None  # what follows the log while this process is still alone
        self._goal = self._pile = 0  # up to where facts are sent before it is, and how many
        self._unsaid: int | None = None  # when this fact is written, all that had piled up is

    def is_alone(self) -> bool:
        """Whether what is decided on is not what the log says."""
        return self.held is not None

    def knows(self, play: int) -> bool:
        """Whether the start of this play was read, or of a later one of the same process."""
        with self.lock:
            return self.current.knows(play)

    def send(self, fact: Row) -> int:
        """Append a fact; without a database it happens here at once. The caller has the lock."""
        seq = self.store.append(fact)
        if self.held is not None:
            self._note(seq, self.current.fold(fact))
        return seq

    def outcome(self, seq: int) -> Outcome | None:
        """What became of an own fact, said once; None if that is not known yet."""
        return self._outcomes.pop(seq, None)

    def go_on(self, now: int, *, closed: bool) -> None:
        """Go on alone if the database is away; if so, time goes on. The caller has the lock."""
        store, replica = self.store, self.current
        if self.held is None and store.trouble and not self._delivering and not closed:
            log.error(REFUSES if self._insist else GOES_ON, store.where, store.trouble)
            self.held = replica.dump(), replica.seq
            store.line.unhurried = not self._insist
            for seq, fact in store.line.unsent:
                outcome = replica.fold(fact)
                if seq not in self._outcomes:  # else it was read, though nobody has heard so yet
                    self._note(seq, outcome)
        if self.held is not None:
            replica.let_pass(max(now, replica.core.now))

    @contextlib.contextmanager
    def delivery(self) -> Iterator[None]:
        """A block in which the log is heard of, and nobody goes on alone."""
        with self.lock:  # who is just about to go on alone has done so, and comes back at once
            self._delivering = True
        try:
            yield
        finally:
            self._delivering = False

    def fold(self, facts: list[Row], own: dict[int, int]) -> Replica:
        """Facts of the log, in order: the replica into which they were folded."""
        replica = self._following()
        known = max(replica.seq - self.store.courier.cursor, 0)  # folded before an error
        for first in range(known, len(facts), SLICE):
            if self._next is not None:  # nobody decides on it yet, or asks what became of it
                for fact in facts[first : first + SLICE]:
                    replica.fold(fact)
                continue
            with self.lock:
                for place, fact in enumerate(facts[first : first + SLICE], first):
                    outcome = replica.fold(fact)
                    if place in own and outcome is not STARTED and fact[0] != TIME:
                        self._note(own[place], outcome)
        last = max(own.values(), default=self.store.durable)
        if self._next is not None and self._is_caught_up(len(facts), last):
            self._rejoin()
        self._say_all_is_written(last)
        return replica

    def begin_anew(self, db: Any) -> int:
        """The log is not what was read of it: fold it anew, from the newest snapshot on."""
        store = self.store
        log.warning("The agent %s: the database has lost its latest facts; read anew.", store.where)
        newest = store.snapshots(db)
        seq, body = newest[0] if newest else (0, None)
        store.check_facts_after(seq, db)
        replica = self._hastened(self.restore(body, seq))
        with self.lock:
            if self.held is None:
                self.current = replica
            else:
                self.held, self._next = (body, seq), None
        return replica.seq

    def go_on_as_another(self) -> None:
        """In a child of a fork: be another process, with what is known so far."""
        self._use_lock()
        self._delivering = False
        self._outcomes.clear()
        self._next = self._unsaid = None
        self.store.go_on_as_another(self.current.seq if self.held is None else self.held[1])
        self.store.line.unhurried = self.held is not None and not self._insist

    def _use_lock(self) -> None:
        self.lock = lock = threading.RLock()
        self.inside = lock._is_owned  # type: ignore[attr-defined]  # noqa: SLF001  # as Condition does

    def _note(self, seq: int, outcome: Outcome) -> None:
        self._outcomes[seq] = outcome
        while len(self._outcomes) > UNHEARD:
            del self._outcomes[next(iter(self._outcomes))]

    def _following(self) -> Replica:
        """The replica into which the log is folded; if the database is back, that of before."""
        held, line = self.held, self.store.line
        if held is None:
            return self.current
        if self._next is None:
            self._next = self._hastened(self.restore(held[0], held[1]))
            self._goal, self._pile = line.appended, line.appended - line.durable
            if self._insist:  # somebody waits for what is sent
                self._rejoin()
                return self.current
        return self._next

    def _is_caught_up(self, read: int, last: int) -> bool:
        """Whether hardly anything is left to send after own fact `last`, or it does not get less.

        Those who ask meanwhile append as well: each round has to leave half of what it found.
        """
        left = self.store.line.appended - last
        if read == READ:
            return False
        if left > FEW and last < self._goal:
            return False
        shrunk = 2 * left <= self._pile
        self._goal, self._pile = self.store.line.appended, left
        return left <= FEW or not shrunk

    def _rejoin(self) -> None:
        """What follows the log is decided on from now on."""
        with self.lock:
            replica = self._next
            if replica is not None:
                if replica.core.maker.steps is not self.current.core.maker.steps:
                    self._hastened(replica)
                self.current, self._next, self.held = replica, None, None
            self._unsaid = self.store.line.rejoined()

    def _say_all_is_written(self, last: int) -> None:
        if self._unsaid is not None and last >= self._unsaid:
            self._unsaid = None
            lost = self.store.dropped
            what = f"{lost} facts, too many to wait, are missing" if lost else "nothing is missing"
            log.warning("The agent %s is written again; %s.", self.store.where, what)

    def _hastened(self, replica: Replica) -> Replica:
        """The replica, with machine code if there is some already."""
        before, core = self.current.core, replica.core
        core.promise = before.promise
        if before.maker.steps is not INTERPRETED:
            core.maker.switch(core.desks(), before.maker.steps)
        elif core.promise is not None:
            core.hasten()
        return replica
