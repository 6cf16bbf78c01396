"""What an agent does that many processes share: decide by itself, and send what happened.

A decision is made on the replica of this process. Its start goes to the log with whatever else
waits, and comes back from there with the facts of all others; only then is it evidence, here as
everywhere. So an answer becomes of an end what the log makes of it.

While the database is away the process goes on alone: what it would have sent is folded into its
own replica as well. When the database is back, the replica of before is taken up again, beside that
one, and the log is folded into it in its order, with what was sent late in it. Only when hardly
anything is left to send does it take the place of the other, which is thrown away: nobody waits for
what has piled up.
"""

import contextlib
import logging
import os
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

from tarry.errors import InputError, LiveError, TarryError, UnknownPlayError
from tarry.live import forking, refusals
from tarry.live.clock import TICKS
from tarry.live.core import Core
from tarry.live.desk import INTERPRETED
from tarry.live.facts import ADD, CANCEL, REPORT, RETURN, START, TIME, Row
from tarry.live.ids import as_id
from tarry.live.plays import Counts, Odd, Play, Told, new_play
from tarry.live.replica import SHIFT, STARTED, Before, Outcome, Replica, decision_keys
from tarry.live.requests import taken_in
from tarry.live.store.postgres.line import READ, Line
from tarry.live.store.postgres.store import PostgresStore, say_left, write_arms
from tarry.policies.label import policy_label
from tarry.policies.protocol import Policy

T = TypeVar("T")
SLICE = 64  # facts that are folded before somebody else may decide
PARTS = 64  # of D, in which time goes on by itself while plays are out
SHORTEST = TICKS // 50
LEASE_PARTS = 8  # of a lease, likewise, so that it is known that somebody listens
BEHIND = 4  # so many of these parts is too far behind to decide
CATCH_UP = 0.05  # seconds that a decision waits at most for a replica that is so far behind
UNHEARD = 100_000  # outcomes that are kept for those who will ask for them
HASTE = 1.0  # seconds for what waits, if an agent that nobody closed comes to its end
MOST_PLAYS = 2**SHIFT - 1  # of one process
FEW = 200  # facts that are still to be sent when a process gives up being alone
GOES_ON = "The agent %s goes on from memory (%s)."
REFUSES = "The agent %s cannot be written (%s); it is tried again, and calls fail meanwhile."
log = logging.getLogger("tarry")

Restore = Callable[[bytes | None, int], Replica]


class SharedTicker:
    """The time of the agent, which is the database's, as this process has last heard."""

    def __init__(self, line: Line, created: float) -> None:
        self.created = created
        self.line = line
        self._latest = 0

    def now(self) -> int:
        """The current tick; never less than at the last call."""
        line = self.line
        tick = round(line.local() * TICKS) + (line.low + line.high) // 2
        self._latest = max(self._latest, tick)
        return self._latest

    def utc(self, tick: int) -> float:
        """Seconds since the epoch at `tick`."""
        return self.created + tick / TICKS


class SharedEngine:
    """The replica, the store and the lock of an agent in one of its processes."""

    def __init__(
        self,
        policy: Policy,
        store: PostgresStore,
        ticker: SharedTicker,
        replica: Replica,
        restore: Restore,
        *,
        insist: bool = False,
    ) -> None:
        """With `insist`, calls fail while the database is away."""
        self.policy, self.store, self.ticker = policy, store, ticker
        self.path = store.where
        self.closed = False
        self.odd: Counter[str] = Counter()
        self.features = replica.core.requests.features
        self._replica = replica
        self._restore = restore
        self._use_lock()
        self._held: tuple[bytes | None, int] | None = (
            None  # the replica while this process is alone
        )
        self._delivering = False
        self._outcomes: dict[int, Outcome] = {}  # of own facts
        self._writers: set[int] = set()  # processes of this agent
        self._tick = _part(replica.core)
        self._insist = insist
        self._next: Replica | None = None  # what follows the log while this process is still alone
        self._goal = self._pile = 0  # up to where facts are sent before it is, and how many
        self._unsaid: int | None = None  # when this fact is written, all that had piled up is
        self._at_work = False
        self._begin()
        forking.watch(self)

    def ask(self, context: Any = None, key: str | None = None) -> tuple[Play, int]:
        """Decide, and start a play: the play, and the number of its fact.

        If it has a key, the log says whether there is a play with that key already: see `chosen`.
        """
        text = ""
        numbers: list[float] = []
        if context is not None or key is not None or self.features:
            text, numbers = taken_in(self.features, context, self.odd, key)
        self._ready("asked")
        if self.ticker.now() - self._replica.core.now > BEHIND * self._tick:
            self._catch_up_briefly()
        with self._lock:
            now = self._alone_or_not()
            try:
                arm = self._replica.decide(text, numbers, next(self._keys))
            except LiveError:  # no arm is open
                raise
            except Exception:
                self.odd["undecided"] += 1
                raise
            if arm is None:
                self.odd["undecided"] += 1
                raise refusals.stopped(policy_label(self.policy))
            if self._count >= MOST_PLAYS:
                raise LiveError("This process has made all plays that it can; make a new agent.")
            self._count += 1
            play = (self.store.writer << SHIFT) + self._count
            seq = self._send((START, now, play, arm.slot, text or None))
        return new_play((play, arm.name, self.ticker.utc(now))), seq

    def chosen(self, play: Play, seq: int) -> Play:
        """The play of an ask with a key, once it is safe: that of the first start with the key."""
        found = self._outcomes.pop(seq, None)
        if isinstance(found, TarryError):
            self.odd["conflicts"] += 1
            raise found
        if not isinstance(found, Before):
            return play
        self.odd["asked_again"] += 1
        return new_play((found.play, found.arm, self.ticker.utc(found.time)))

    def end(self, kind: int, play: int, delay: int | None) -> tuple[Any, int]:
        """A play came back, failed or is given up: what became of that, and the fact's number.

        What became of it is None if the log will tell: see `outcome`.
        """
        self._ready(None)
        self._check_lease(kind, delay)
        if kind == REPORT and not self._is_news(play, delay or 0):
            return self._replica.is_out(play), 0
        fact = (kind, self.ticker.now(), play, delay, None)
        if self._inside():  # a signal handler, or a finaliser, in the middle of something else
            return self._guess(kind), self.store.append(fact)
        with self._lock:
            self._alone_or_not()
            seq = self._send(fact)
            return None, seq

    def outcome(self, told: Told | bool | None, seq: int, kind: int) -> Told | bool:
        """What became of the end that was sent with this number, once it is safe or cannot be."""
        if told is not None:
            return told
        found: Any = self._outcomes.pop(seq, None)
        if found is None:  # the database has just gone away
            with self._lock:
                self._alone_or_not()
                found = self._outcomes.pop(seq, None)
        if found is None:
            return self._guess(kind)
        if isinstance(found, TarryError):
            self.odd["conflicts"] += 1
            raise found
        if found in (Told.REPEATED, Told.FORGOTTEN):
            self.odd[str(found)] += 1
        return found

    def change_arms(self, kind: int, name: str) -> int:
        """Arms come, go or pause; the number of the fact."""
        self._ready("changed")
        if "\0" in name:
            raise InputError(f"The arm {name!r} has a NUL in it; give proper text.")
        with self._lock:
            now = self._alone_or_not()
            core = self._replica.core
            core.maker.check_movable(core.open.rule)
            if kind != ADD:
                core.arm(name)
            elif name in core.arms:
                raise InputError(f"There is an arm {name!r} already; give a name not in use.")
            return self._send((kind, now, None, None, name))

    def is_answered(self, play: int) -> bool:
        """Whether an answer of this play has come back from the log."""
        with self._lock:
            return self._replica.is_answered(play)

    def changed_arms(self, seq: int) -> None:
        """After `change_arms` is safe: the error if another process was quicker."""
        found = self._outcomes.pop(seq, None)
        if isinstance(found, TarryError):
            raise found
        with self._lock:
            names = [arm.name for arm in self._replica.core.slots]
        self.store.line.do(lambda db: write_arms(db, self.store.agent, names))

    def look(self, view: Callable[[Core, int], T]) -> T:
        """What `view` sees of the core at this moment."""
        self._ready(None, even_closed=True)
        with self._lock:
            self._alone_or_not()
            core = self._replica.core
            return view(core, max(self.ticker.now(), core.now))

    def counts(self) -> Counts:
        """The numbers of plays of all processes, and of all that was not normal in this one."""
        counts = self.look(lambda core, now: core.counts(now))
        store = self.store
        waiting = store.line.undurable
        odd = {name: self.odd[name] for name in Odd._fields}
        odd |= {"store_failures": store.failures, "undurable": waiting, "dropped": store.dropped}
        odd["unheard"] += self._replica.core.maker.unheard
        return counts.with_odd(Odd(**odd))

    def flush(self, seq: int, *, insist: bool) -> None:
        """Return when the fact is safe; or, unless one insists, when it cannot be made so."""
        if insist:
            self.store.wait(seq)
        elif not self.is_alone():
            self.store.line.wait(seq, 60.0, through_trouble=False)

    def is_alone(self) -> bool:
        """Whether facts cannot be written at once, or wait behind many others."""
        return bool(self.store.trouble) or self._held is not None

    def number_of(self, play: Any) -> int:
        """The id of a play, from what `ask` returned or from its id."""
        whole = play.id if type(play) is Play else as_id(getattr(play, "id", play))
        if whole is None:
            self.odd["unknown"] += 1
            raise refusals.no_id(play)
        if 0 < whole < 2**62:
            writer, count = whole >> SHIFT, whole & MOST_PLAYS
            if writer == self.store.writer:
                if 0 < count <= self._count:
                    return whole
            elif count and self._knows(whole, writer):
                return whole
        self.odd["unknown"] += 1
        raise unknown(play)

    def numbers_of(self, context: Any) -> list[float]:
        """The numbers of a context that nobody asks for."""
        if self.features is None:
            raise refusals.no_features(context)
        return self.features.numbers(self.features.checked(context))[0]

    def check_process(self) -> None:
        """Nothing to check: a child of a fork is a process of its own."""

    def is_foreign(self) -> bool:
        """Never: see `check_process`."""
        return False

    def check_file(self) -> None:
        """Refuse what needs a database that was let go."""
        if self.closed:
            raise refusals.closed()

    def backup(self, path: Any) -> None:
        """A copy of the store, which says how it is copied."""
        self.store.backup(path)

    def close(self) -> None:
        """Send what waits, if that can be, and let go."""
        if self.closed:
            return
        self.closed = True
        if self._at_work:
            self._ended.detach()
        self.store.close()

    def before_fork(self) -> None:
        """See `tarry.live.forking`."""
        self._lock.acquire()
        self.store.line.lock.acquire()

    def after_fork_in_parent(self) -> None:
        """See `tarry.live.forking`."""
        self.store.line.lock.release()
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """See `tarry.live.forking`: go on as another process, with what is known so far."""
        self._use_lock()
        self._ended.detach()
        self._at_work = self._delivering = False
        self._outcomes.clear()
        self._next = self._unsaid = None
        known = self._replica.seq if self._held is None else self._held[1]
        self.store.go_on_as_another(known)
        self.store.line.unhurried = self._held is not None and not self._insist
        self.ticker.line = self.store.line

    def _begin(self) -> None:
        """Start the thread that speaks with the database, as the process that this is."""
        store = self.store
        self._writers.add(store.writer)
        self._count = 0
        self._keys = decision_keys(self._replica.core.seed, store.writer)
        deliver, lost = weakref.WeakMethod(self._deliver), weakref.WeakMethod(self._lost)

        def take(facts: list[Row], own: dict[int, int]) -> None:
            call = deliver()
            if call is not None:
                call(facts, own)

        def begin_anew(db: Any) -> int:
            call = lost()
            return 0 if call is None else call(db)

        store.begin(take, begin_anew)
        self._at_work = True
        self._ended = weakref.finalize(self, _let_go, store.line, store.where, os.getpid())

    def _ready(self, what: str | None, *, even_closed: bool = False) -> None:
        """Be able to work: in a child of a fork, with a thread of its own."""
        if self.closed:
            if even_closed:
                return
            raise refusals.closed()
        if what is not None and self._inside():
            raise refusals.in_the_middle(what)
        if not self._at_work:
            with self._lock:
                if not self._at_work:
                    self._begin()

    def _use_lock(self) -> None:
        self._lock = lock = threading.RLock()
        self._inside = lock._is_owned  # type: ignore[attr-defined]  # noqa: SLF001  # as Condition does

    def _knows(self, play: int, writer: int) -> bool:
        """Whether a process of this agent has made, or may have made, this play."""
        with self._lock:
            if self._replica.knows(play):
                return True
        if writer not in self._writers and self.store.knows_writer(writer):
            self._writers.add(writer)
        return writer in self._writers

    def _send(self, fact: Row) -> int:
        """Append a fact; without a database it happens here at once. The caller has the lock."""
        seq = self.store.append(fact)
        if self._held is not None:
            self._note(seq, self._replica.fold(fact))
        return seq

    def _note(self, seq: int, outcome: Outcome) -> None:
        self._outcomes[seq] = outcome
        while len(self._outcomes) > UNHEARD:
            del self._outcomes[next(iter(self._outcomes))]

    def _guess(self, kind: int) -> Told | bool:
        """What an end will probably have been."""
        return True if kind in (CANCEL, REPORT) else Told.RETURNED

    def _check_lease(self, kind: int, delay: int | None) -> None:
        """Refuse a report without a lease, and with one an end whose time is to be measured."""
        leased = self._replica.core.leases is not None
        if kind == REPORT and not leased:
            raise refusals.no_lease()
        if kind == RETURN and delay is None and leased:
            raise refusals.no_delay()

    def _is_news(self, play: int, lasted: int) -> bool:
        """Whether a report may change anything, as far as is known here."""
        with self._lock:
            core, number = self._replica.core, self._replica.numbers.get(play)
            if number is None or core.leases is None:
                return not self._replica.knows(play)
            if core.is_out(number):
                return core.leases.is_news(number, lasted, self.ticker.now())
            self.odd["reported_late"] += core.is_silenced(number)
            return False

    def _alone_or_not(self) -> int:
        """Go on alone if the database is away; the time. The caller has the lock."""
        now = self.ticker.now()
        if self._held is None and self.store.trouble and not self._delivering and not self.closed:
            log.error(REFUSES if self._insist else GOES_ON, self.path, self.store.trouble)
            self._held = self._replica.dump(), self._replica.seq
            self.store.line.unhurried = not self._insist
            for seq, fact in self.store.line.unsent:
                outcome = self._replica.fold(fact)
                if seq not in self._outcomes:  # else it was read, though nobody has heard so yet
                    self._note(seq, outcome)
        if self._held is not None:
            self._replica.let_pass(max(now, self._replica.core.now))
        return now

    def _following(self) -> Replica:
        """The replica into which the log is folded; if the database is back, that of before."""
        held, line = self._held, self.store.line
        if held is None:
            return self._replica
        if self._next is None:
            self._next = self._hastened(self._restore(held[0], held[1]))
            self._goal, self._pile = line.appended, line.appended - line.durable
            if self._insist:  # somebody waits for what is sent
                self._rejoin()
                return self._replica
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
        with self._lock:
            replica = self._next
            if replica is not None:
                if replica.core.maker.steps is not self._replica.core.maker.steps:
                    self._hastened(replica)
                self._replica, self._next, self._held = replica, None, None
            self._unsaid = self.store.line.rejoined()

    def _say_all_is_written(self, last: int) -> None:
        if self._unsaid is not None and last >= self._unsaid:
            self._unsaid = None
            lost = self.store.dropped
            what = f"{lost} facts, too many to wait, are missing" if lost else "nothing is missing"
            log.warning("The agent %s is written again; %s.", self.path, what)

    def _hastened(self, replica: Replica) -> Replica:
        """The replica, with machine code if there is some already."""
        before, core = self._replica.core, replica.core
        core.promise = before.promise
        if before.maker.steps is not INTERPRETED:
            core.maker.switch(core.desks(), before.maker.steps)
        elif core.promise is not None:
            core.hasten()
        return replica

    def _catch_up_briefly(self) -> None:
        """Let time go on before a decision, if that takes no longer than it may."""
        store = self.store
        if self._held is None and not store.trouble and self._replica.core.out:
            seq = store.append((TIME, self.ticker.now(), None, None, None))
            store.line.wait(seq, CATCH_UP, through_trouble=False)

    def _deliver(self, facts: list[Row], own: dict[int, int]) -> None:
        """Facts of the log, in order: fold them, and see to what is due."""
        with self._lock:  # who is just about to go on alone has done so, and comes back at once
            self._delivering = True
        try:
            replica = self._following()
            known = max(replica.seq - self.store.line.cursor, 0)  # folded before an error
            for first in range(known, len(facts), SLICE):
                if self._next is not None:  # nobody decides on it yet, or asks what became of it
                    for fact in facts[first : first + SLICE]:
                        replica.fold(fact)
                    continue
                with self._lock:
                    for place, fact in enumerate(facts[first : first + SLICE], first):
                        outcome = replica.fold(fact)
                        if place in own and outcome is not STARTED and fact[0] != TIME:
                            self._note(own[place], outcome)
            last = max(own.values(), default=self.store.durable)
            if self._next is not None and self._is_caught_up(len(facts), last):
                self._rejoin()
            self._say_all_is_written(last)
            self._look_after(replica, own)  # nobody can go on alone: this is what the log says
        finally:
            self._delivering = False

    def _look_after(self, replica: Replica, own: dict[int, int]) -> None:
        store = self.store
        chunks, replica.chunks = replica.chunks, []
        for chunk in chunks:
            store.keep(chunk)
        if self._next is None and store.snapshot_due(
            replica.core.asked - replica.core.register.oldest
        ):
            with self._lock:
                seq, body = replica.seq, replica.dump()
                names = [arm.name for arm in replica.core.slots]
            store.tidy_up(lambda: store.write_snapshot(seq, body, names))
        line = store.line
        late = self.ticker.now() - replica.core.now
        awake = line.in_use or replica.core.leases is not None
        if not own and replica.core.out and awake and late > self._tick and not line.unsent:
            store.append((TIME, self.ticker.now(), None, None, None))

    def _lost(self, db: Any) -> int:
        """The log is not what was read of it: fold it anew, from the newest snapshot on."""
        log.warning("The agent %s: the database has lost its latest facts; read anew.", self.path)
        newest = self.store.snapshots(db)
        seq, body = newest[0] if newest else (0, None)
        self.store.check_facts_after(seq, db)
        replica = self._hastened(self._restore(body, seq))
        with self._lock:
            if self._held is None:
                self._replica = replica
            else:
                self._held, self._next = (body, seq), None
            self.odd["repaired"] += 1
        return replica.seq


def _part(core: Core) -> int:
    """The time after which a process writes that it has passed, while plays are out."""
    longest = core.max_delay // PARTS
    if core.leases is not None:
        longest = min(longest, core.leases.lease.length // LEASE_PARTS)
    return max(longest, SHORTEST)


def unknown(play: object) -> UnknownPlayError:
    """An id that no process of this agent has given out."""
    return UnknownPlayError(
        f"There is no play with id {play!r}; no process of this agent has given it out."
    )


def _let_go(line: Line, where: str, process: int) -> None:
    """End the thread of an agent that nobody closed."""
    if os.getpid() == process:
        with contextlib.suppress(Exception):
            say_left(where, line.stop(HASTE), line.trouble)
