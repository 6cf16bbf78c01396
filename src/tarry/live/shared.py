"""What an agent does that many processes share: decide by itself, and send what happened.

A decision is made on the replica of this process. Its start goes to the log with whatever else
waits, and comes back from there with the facts of all others; only then is it evidence, here as
everywhere. So an answer becomes of an end what the log makes of it.

What becomes of decisions while the database is away is in `tarry.live.replicas`.
"""

import contextlib
import os
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

from tarry.errors import InputError, LiveError, TarryError
from tarry.live import forking, refusals
from tarry.live.arms import arm_named
from tarry.live.core import Core
from tarry.live.facts import ADD, CANCEL, REPORT, START, TIME, Row, check_end
from tarry.live.ids import as_id
from tarry.live.plays import Counts, Play, Told, new_play, odd_of
from tarry.live.replica import Before, Replica, decision_keys
from tarry.live.replicas import Replicas, Restore
from tarry.live.requests import numbers_of, taken_in
from tarry.live.shared_ids import SharedIds
from tarry.live.shared_ticker import SharedTicker, longest_silence
from tarry.live.store.postgres import rows
from tarry.live.store.postgres.courier import Courier
from tarry.live.store.postgres.store import PostgresStore, say_left
from tarry.policies.label import policy_label
from tarry.policies.protocol import Policy

T = TypeVar("T")
BEHIND = 4  # parts of time, as `longest_silence`, that are too far behind to decide
CATCH_UP = 0.05  # seconds that a decision waits at most for a replica that is so far behind
HASTE = 1.0  # seconds for what waits, if an agent that nobody closed comes to its end


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
        self._replicas = Replicas(store, replica, restore, insist=insist)
        self._ids = SharedIds(store)
        self._part = longest_silence(replica.core)
        self._at_work = False
        self._begin()
        forking.watch(self)

    @property
    def _replica(self) -> Replica:
        """What is decided on."""
        return self._replicas.current

    def ask(self, context: Any = None, key: str | None = None) -> tuple[Play, int]:
        """Decide, and start a play: the play, and the number of its fact.

        If it has a key, the log says whether there is a play with that key already: see `chosen`.
        """
        text = ""
        numbers: list[float] = []
        if context is not None or key is not None or self.features:
            text, numbers = taken_in(self.features, context, self.odd, key)
        self._ready("asked")
        if self.ticker.now() - self._replica.core.now > BEHIND * self._part:
            self._catch_up_briefly()
        with self._replicas.lock:
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
            play = self._ids.new()
            seq = self._replicas.send((START, now, play, arm.slot, text or None))
        return new_play((play, arm.name, self.ticker.utc(now))), seq

    def chosen(self, play: Play, seq: int) -> Play:
        """The play of an ask with a key, once it is safe: that of the first start with the key."""
        found = self._replicas.outcome(seq)
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
        check_end(self._replica.core, kind, delay)
        if kind == REPORT and not self._is_news(play, delay or 0):
            return self._replica.is_out(play), 0
        fact = (kind, self.ticker.now(), play, delay, None)
        if self._replicas.inside():  # a signal handler or a finaliser, within something else
            return self._guess(kind), self.store.append(fact)
        with self._replicas.lock:
            self._alone_or_not()
            seq = self._replicas.send(fact)
            return None, seq

    def outcome(self, told: Told | bool | None, seq: int, kind: int) -> Told | bool:
        """What became of the end that was sent with this number, once it is safe or cannot be."""
        if told is not None:
            return told
        found: Any = self._replicas.outcome(seq)
        if found is None:  # the database has just gone away
            with self._replicas.lock:
                self._alone_or_not()
                found = self._replicas.outcome(seq)
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
        with self._replicas.lock:
            now = self._alone_or_not()
            core = self._replica.core
            core.maker.check_movable(core.open.rule)
            if kind != ADD:
                arm_named(core, name)
            elif name in core.arms:
                raise InputError(f"There is an arm {name!r} already; give a name not in use.")
            return self._replicas.send((kind, now, None, None, name))

    def is_answered(self, play: int) -> bool:
        """Whether an answer of this play has come back from the log."""
        with self._replicas.lock:
            return self._replica.is_answered(play)

    def changed_arms(self, seq: int) -> None:
        """After `change_arms` is safe: the error if another process was quicker."""
        found = self._replicas.outcome(seq)
        if isinstance(found, TarryError):
            raise found
        with self._replicas.lock:
            names = [arm.name for arm in self._replica.core.slots]
        self.store.line.do(lambda db: rows.write_arms(db, self.store.agent, names))

    def look(self, view: Callable[[Core, int], T]) -> T:
        """What `view` sees of the core at this moment."""
        self._ready(None, even_closed=True)
        with self._replicas.lock:
            self._alone_or_not()
            core = self._replica.core
            return view(core, max(self.ticker.now(), core.now))

    def counts(self) -> Counts:
        """The numbers of plays of all processes, and of all that was not normal in this one."""
        counts = self.look(lambda core, now: core.counts(now))
        undurable, unheard = self.store.line.undurable, self._replica.core.maker.unheard
        return counts.with_odd(odd_of(self.odd, self.store, undurable, unheard))

    def flush(self, seq: int, *, insist: bool) -> None:
        """Return when the fact is safe; or, unless one insists, when it cannot be made so."""
        if insist:
            self.store.wait(seq)
        elif not self.is_alone():
            self.store.line.wait(seq, 60.0, through_trouble=False)

    def is_alone(self) -> bool:
        """Whether facts cannot be written at once, or wait behind many others."""
        return bool(self.store.trouble) or self._replicas.is_alone()

    def number_of(self, play: Any) -> int:
        """The id of a play, from what `ask` returned or from its id."""
        whole = play.id if type(play) is Play else as_id(getattr(play, "id", play))
        if whole is not None and self._ids.has(whole, self._replicas.knows):
            return whole
        self.odd["unknown"] += 1
        raise refusals.no_id(play) if whole is None else refusals.unknown_to_all(play)

    def numbers_of(self, context: Any) -> list[float]:
        """The numbers of a context that nobody asks for."""
        return numbers_of(self.features, context)

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
        self._replicas.lock.acquire()
        self.store.line.lock.acquire()

    def after_fork_in_parent(self) -> None:
        """See `tarry.live.forking`."""
        self.store.line.lock.release()
        self._replicas.lock.release()

    def after_fork_in_child(self) -> None:
        """See `tarry.live.forking`: go on as another process, with what is known so far."""
        self._ended.detach()
        self._at_work = False
        self._replicas.go_on_as_another()
        self.ticker.line = self.store.line

    def _begin(self) -> None:
        """Start the thread that speaks with the database, as the process that this is."""
        store = self.store
        self._ids.begin()
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
        self._ended = weakref.finalize(self, _let_go, store.courier, store.where, os.getpid())

    def _ready(self, what: str | None, *, even_closed: bool = False) -> None:
        """Be able to work: in a child of a fork, with a thread of its own."""
        if self.closed:
            if even_closed:
                return
            raise refusals.closed()
        if what is not None and self._replicas.inside():
            raise refusals.in_the_middle(what)
        if not self._at_work:
            with self._replicas.lock:
                if not self._at_work:
                    self._begin()

    def _guess(self, kind: int) -> Told | bool:
        """What an end will probably have been."""
        return True if kind in (CANCEL, REPORT) else Told.RETURNED

    def _is_news(self, play: int, lasted: int) -> bool:
        """Whether a report may change anything, as far as is known here."""
        with self._replicas.lock:
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
        self._replicas.go_on(now, closed=self.closed)
        return now

    def _catch_up_briefly(self) -> None:
        """Let time go on before a decision, if that takes no longer than it may."""
        store = self.store
        if not self.is_alone() and self._replica.core.out:
            seq = store.append((TIME, self.ticker.now(), None, None, None))
            store.line.wait(seq, CATCH_UP, through_trouble=False)

    def _deliver(self, facts: list[Row], own: dict[int, int]) -> None:
        """Facts of the log, in order: fold them, and see to what is due."""
        with self._replicas.delivery():
            self._look_after(self._replicas.fold(facts, own), own)

    def _look_after(self, replica: Replica, own: dict[int, int]) -> None:
        """See to what is due, of what the log says."""
        store = self.store
        chunks, replica.chunks = replica.chunks, []
        for chunk in chunks:
            store.keep(chunk)
        plays = replica.core.asked - replica.core.register.oldest
        if replica is self._replica and store.snapshot_due(plays):
            with self._replicas.lock:
                seq, body = replica.seq, replica.dump()
                names = [arm.name for arm in replica.core.slots]
            store.tidying.do(lambda: store.write_snapshot(seq, body, names))
        line = store.line
        late = self.ticker.now() - replica.core.now
        awake = line.in_use or replica.core.leases is not None
        if not own and replica.core.out and awake and late > self._part and not line.unsent:
            store.append((TIME, self.ticker.now(), None, None, None))

    def _lost(self, db: Any) -> int:
        """The log is not what was read of it."""
        seq = self._replicas.begin_anew(db)
        self.odd["repaired"] += 1
        return seq


def _let_go(courier: Courier, where: str, process: int) -> None:
    """End the thread of an agent that nobody closed."""
    if os.getpid() == process:
        with contextlib.suppress(Exception):
            say_left(where, courier.stop(HASTE), courier.line.trouble)
