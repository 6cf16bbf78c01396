"""What an agent does under its lock: decide, record, apply, as one.

What it knows and what is recorded are kept in step by `tarry.live.recorded`.

The lock may be taken again by the thread that has it: a signal handler reads the counts, or the
garbage collector ends a block with `with agent.play()`, in the middle of an ask. What such a
visitor wants to change is put off until the ask is done.
"""

import contextlib
import logging
import os
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tarry.errors import ConflictError, JournalError, LiveError, TarryError, UnknownPlayError
from tarry.live import coming_and_going, forking, refusals, restore
from tarry.live.clock import TICKS, Ticker
from tarry.live.core import Core
from tarry.live.facts import CANCEL, REPORT, RETURN, START, STOPPED, TIME, Fact, apply, check_end
from tarry.live.ids import as_id
from tarry.live.plays import Arm, Counts, Play, Told, new_play, odd_of
from tarry.live.recorded import Recorded
from tarry.live.requests import numbers_of, taken_in
from tarry.policies.label import policy_label
from tarry.policies.protocol import Policy

T = TypeVar("T")
COUNTED = (Told.RETURNED, Told.LATE)  # answers that are facts
log = logging.getLogger("tarry")


class Engine:
    """The lock of an agent, and what is done under it."""

    def __init__(
        self, policy: Policy, recorded: Recorded, ticker: Ticker, path: Path | None
    ) -> None:
        self.policy = policy
        self.store = recorded.store
        self.ticker = ticker
        self.path = path
        self.closed = False
        self.ids, self.odd = recorded.ids, recorded.odd
        self.features = recorded.core.requests.features
        self._recorded = recorded
        self._append = self.store.append
        self._use_lock(threading.RLock())
        self._put_off: deque[tuple[int, int, int | None]] = deque()
        self._process = os.getpid()
        forking.watch(self)

    def ask(self, context: Any = None, key: str | None = None) -> tuple[Play, int]:
        """Decide, and start a play: the play, and the number of its fact.

        With a key that an earlier ask had, it is the play of that one.
        """
        text = ""
        numbers: list[float] = []
        if context is not None or key is not None or self.features:
            text, numbers = taken_in(self.features, context, self.odd, key)
        if self.path is not None or self._inside():
            self._check_free("asked")
        with self._lock:
            recorded = self._recorded
            core = self._ready() if recorded.dirty or self.closed else recorded.core
            if key is not None and core.requests.known(text):
                return self._made_before(core, core.requests.known(text)), self.store.appended
            now = self.ticker.now()
            number = core.register.last + 1
            recorded.dirty = True
            if self.features or key is not None or core.requests.key:
                core.requests.expect(text, numbers)
            quick = core.open.is_quick
            arm = core.decide_and_start(now) if quick else self._decide(core, now)
            if arm is None:
                recorded.record((START, now, None, STOPPED, text or None))
                recorded.dirty = False
                self.odd["undecided"] += 1
                raise refusals.stopped(policy_label(self.policy))
            try:
                if not quick:
                    core.start(arm, now)  # first: where a rule fails at this, there is no play
                seq = self._append((START, now, number, arm.slot, text or None))
                recorded.dirty = False
            except BaseException as error:  # nobody will hear of this play
                self._call_off(number, error)
                raise
            if seq % restore.LOOK == 0:
                recorded.look_after()
        if self._put_off:
            seq = self.catch_up()
        utc = self.ticker.created + now / TICKS
        return new_play((self.ids.base + number, arm.name, utc)), seq

    def end(self, kind: int, number: int, delay: int | None) -> tuple[Told | bool, int]:
        """A play came back, failed or is given up: what became of that, and the fact's number."""
        if self.path is not None:
            self.check_process()
        recorded = self._recorded
        check_end(recorded.core, kind, delay)
        if self._inside():
            return self._defer(kind, number, delay), 0
        with self._lock:
            core = self._ready() if recorded.dirty or self.closed else recorded.core
            now = self.ticker.now()
            if kind == REPORT and not self._is_news(core, number, delay or 0, now):
                return core.is_out(number), self.store.appended
            was_out = kind != RETURN and core.is_out(number)
            fact = (kind, now, number, delay, None)
            recorded.dirty = True
            try:
                told = kind == RETURN
                outcome = core.tell(number, delay, now) if told else apply(core, Fact._make(fact))
            except TarryError as error:  # it was refused, and nothing has changed
                recorded.dirty = False
                self.odd["conflicts"] += isinstance(error, ConflictError)
                raise
            if was_out or outcome in COUNTED:
                seq = self._append(fact)
                if seq % restore.LOOK == 0:
                    recorded.look_after()
                self.odd["reported_late"] += kind == REPORT and core.is_silenced(number)
            else:
                seq = self.store.appended  # the first answer may still be on its way to the disk
                self.odd[str(outcome)] += isinstance(outcome, Told)
            recorded.dirty = False
        if self._put_off:
            seq = self.catch_up()
        return outcome, seq

    def chosen(self, play: Play, seq: int) -> Play:
        """The play of an ask with a key, once it is durable; here it was known before."""
        return play

    def outcome(self, told: Told | bool, seq: int, kind: int) -> Told | bool:
        """What became of an end, once it is durable; here it was known before."""
        return told

    def is_answered(self, number: int) -> bool:
        """Whether an answer of this play is known."""
        return self.look(lambda core, _: core.is_answered(number))

    def changed_arms(self, seq: int) -> None:
        """The change of arms with this number is durable."""

    def change_arms(self, kind: int, name: str) -> int:
        """Arms come, go or pause; the number of the fact."""
        self._check_free("changed")
        with self._lock:
            self._ready()
            seq = self._recorded.change_arms(Fact(kind, self.ticker.now(), name=name))
        return self.catch_up() if self._put_off else seq

    def look(self, view: Callable[[Core, int], T]) -> T:
        """What `view` sees of the core at this moment; also from within a change."""
        self.check_process()
        inside = self._inside()
        with self._lock:
            core = self._recorded.core if inside else self._recorded.whole()
            return view(core, self.ticker.now())

    def counts(self) -> Counts:
        """The numbers of plays, and of all that was not normal; a rule that fails changes none."""
        self.check_process()
        store = self.store
        waiting = store.appended - store.durable if store.trouble else 0
        odd = odd_of(self.odd, store, waiting, self._recorded.core.maker.unheard)
        try:
            counts = self.look(lambda core, now: core.counts(now))
        except Exception:  # noqa: BLE001  # a user's rule fails while the state is made anew
            with self._lock:
                counts = restore.without_rule(store).counts(self.ticker.now())
        return counts.with_odd(odd)

    def is_alone(self) -> bool:
        """Whether facts cannot be written just now."""
        return bool(self.store.trouble)

    def flush(self, seq: int, *, insist: bool) -> None:
        """Return when the fact is durable; or, unless one insists, when it cannot be made so."""
        store = self.store
        if store.durable >= seq:
            return
        if insist:
            store.wait(seq)
        elif not store.trouble:
            try:
                store.wait(seq)
            except JournalError:
                store.keeper.look()  # type: ignore[attr-defined]  # only a store with one can fail

    def number_of(self, play: Any) -> int:
        """The number of a play, from what `ask` returned or from its id."""
        whole = play.id if type(play) is Play else play
        if type(whole) is int:
            number: int = whole - self.ids.base
            if self.ids.first <= number <= self._recorded.core.register.last:  # nearly always
                return number
        else:
            whole = as_id(getattr(play, "id", play))
        self.check_process()
        try:
            if whole is None:
                raise refusals.no_id(play)
            return self.ids.number_of(whole, self._recorded.core.asked)
        except UnknownPlayError:
            self.odd["unknown"] += 1
            raise

    def catch_up(self) -> int:
        """Do what was put off; the number of the latest fact."""
        with contextlib.suppress(IndexError):  # nothing is left, or another thread took it
            while True:
                what = self._put_off.popleft()
                try:
                    self.end(*what)
                except TarryError as error:  # who told it has gone
                    log.warning("%s", error)
        return self.store.appended

    def close(self) -> None:
        """Write down the state and let go; in a forked child, do nothing."""
        if self.is_foreign():
            return
        self._check_free("closed")
        with self._lock:
            if self.closed:
                return
            self.closed = True
            try:
                if self.path is not None:
                    coming_and_going.watch_until(self._recorded, self.ticker.now())
                    self._recorded.snapshot()
            finally:
                self.store.close()

    def backup(self, path: Path) -> None:
        """A copy of the store."""
        self._check_free("copied")
        self.check_file()
        self.store.backup(path)

    def check_file(self) -> None:
        """Refuse what needs a file that was let go."""
        if self.closed and self.path is not None:
            raise refusals.closed()

    def check_process(self) -> None:
        """Refuse everything in a child of a fork: the file is the parent's."""
        if self.is_foreign():
            raise refusals.forked(self.path)

    def is_foreign(self) -> bool:
        """Whether this is a child of the process that opened the file."""
        return os.getpid() != self._process

    def before_fork(self) -> None:
        """See `tarry.live.forking`."""
        self._lock.acquire()

    def after_fork_in_parent(self) -> None:
        """See `tarry.live.forking`."""
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """See `tarry.live.forking`: without a file, go on as another agent."""
        self._use_lock(threading.RLock())
        if self.path is not None:
            self.store.after_fork()  # type: ignore[attr-defined]  # a store with a file
            return
        self._process = os.getpid()
        coming_and_going.become_another(self._recorded)

    def numbers_of(self, context: Any) -> list[float]:
        """The numbers of a context that nobody asks for."""
        return numbers_of(self.features, context)

    def _made_before(self, core: Core, number: int) -> Play:
        """A play of the past that is remembered, for who asks for it again."""
        self.odd["asked_again"] += 1
        register = core.register
        row = number & register.mask
        utc = self.ticker.created + register.start[row] / TICKS
        name = core.slots[register.slot[row]].name
        return new_play((self.ids.known_as(number), name, utc))

    def _call_off(self, number: int, error: BaseException) -> None:
        """A play failed to begin: if its start is a fact nevertheless, it is cancelled."""
        if [fact.play for fact in self.store.kept().facts[-1:]] == [number]:
            self._put_off.append((CANCEL, number, None))
        self.odd["undecided"] += isinstance(error, Exception)

    def _decide(self, core: Core, now: int) -> Arm | None:
        """The choice of the policy; if that fails, only the time has gone on."""
        try:
            return core.decide(now)
        except LiveError:  # no arm is open, and nothing has changed
            self._recorded.dirty = False
            raise
        except Exception:
            self._recorded.record(Fact(TIME, now))
            self._recorded.dirty = False
            self.odd["undecided"] += 1
            raise

    def _use_lock(self, lock: Any) -> None:
        self._lock = lock
        self._inside = lock._is_owned  # noqa: SLF001  # as Condition does

    def _ready(self) -> Core:
        """The core, to be changed; an error if that cannot be."""
        if self.closed:
            raise refusals.closed()
        return self._recorded.whole()

    def _defer(self, kind: int, number: int, delay: int | None) -> Told | bool:
        """Put an end off until the change is done in whose middle it came; what it will do."""
        core = self._recorded.core
        out = core.is_out(number)
        if delay is None and kind == RETURN and out:
            start = core.register.start[number & core.register.mask]
            delay = max(self.ticker.now() - start, 0)
        self._put_off.append((kind, number, delay))
        if kind in (CANCEL, REPORT):
            return out
        return Told.RETURNED if out else Told.REPEATED

    def _is_news(self, core: Core, number: int, lasted: int, now: int) -> bool:
        """Whether a report changes anything; one of a play that had vanished is counted."""
        if core.leases is not None and core.is_out(number):
            return core.leases.is_news(number, lasted, now)
        self.odd["reported_late"] += core.is_silenced(number)
        return False

    def _check_free(self, what: str) -> None:
        self.check_process()
        if self._inside() or self.store.is_busy():
            raise refusals.in_the_middle(what)
