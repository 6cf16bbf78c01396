"""What an agent does under its lock: decide, record, apply, as one.

A change is recorded in the store and applied to the core. If it is interrupted half-way (Ctrl-C, a
signal handler that raises), the core is made anew from the store at the next call, so that a fact
is either there in full or not at all.

The lock may be taken again by the thread that has it: a signal handler reads the counts, or the
garbage collector ends a block with `with agent.play()`, in the middle of an ask. What such a
visitor wants to change is put off until the ask is done.
"""

import contextlib
import logging
import os
import secrets
import threading
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tarry.errors import ConflictError, JournalError, LiveError, TarryError, UnknownPlayError
from tarry.live import forking, refusals, restore, state
from tarry.live.censor import censor
from tarry.live.clock import TICKS, Ticker
from tarry.live.core import Core
from tarry.live.facts import (
    ADD,
    CANCEL,
    CENSOR,
    LISTEN,
    REPORT,
    RETURN,
    START,
    STOPPED,
    TIME,
    Fact,
    Row,
    apply,
)
from tarry.live.history import due_chunks
from tarry.live.ids import Ids, as_id, new_identity
from tarry.live.plays import Arm, Counts, Odd, Play, Told, new_play
from tarry.live.requests import taken_in
from tarry.live.store.protocol import Store
from tarry.policies.label import policy_label
from tarry.policies.protocol import Policy
from tarry.randomness import new_random

T = TypeVar("T")
COUNTED = (Told.RETURNED, Told.LATE)  # answers that are facts
log = logging.getLogger("tarry")


class Engine:
    """The core, the store and the lock of an agent."""

    def __init__(
        self, policy: Policy, store: Store, ticker: Ticker, core: Core, path: Path | None
    ) -> None:
        self.policy = policy
        self.store = store
        self.ticker = ticker
        self.path = path
        self.ids = Ids(store.settings["ids"])
        self._append = store.append
        self.closed = False
        self.odd: Counter[str] = Counter()
        self._core = self._made(core)
        self.features = core.requests.features
        self._use_lock(threading.RLock())
        self._dirty = False  # whether a change has begun and has not ended
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
            core = self._ready() if self._dirty or self.closed else self._core
            if key is not None and core.requests.known(text):
                return self._made_before(core, core.requests.known(text)), self.store.appended
            now = self.ticker.now()
            number = core.register.last + 1
            self._dirty = True
            if self.features or key is not None or core.requests.key:
                core.requests.expect(text, numbers)
            quick = core.open.is_quick
            arm = core.decide_and_start(now) if quick else self._decide(core, now)
            if arm is None:
                self._record(core, (START, now, None, STOPPED, text or None))
                self._dirty = False
                self.odd["undecided"] += 1
                raise refusals.stopped(policy_label(self.policy))
            try:
                if not quick:
                    core.start(arm, now)  # first: where a rule fails at this, there is no play
                seq = self._append((START, now, number, arm.slot, text or None))
                self._dirty = False
            except BaseException as error:  # nobody will hear of this play
                self._call_off(number, error)
                raise
            if seq % restore.LOOK == 0:
                self._look_after(core)
        if self._put_off:
            seq = self.catch_up()
        utc = self.ticker.created + now / TICKS
        return new_play((self.ids.base + number, arm.name, utc)), seq

    def end(self, kind: int, number: int, delay: int | None) -> tuple[Told | bool, int]:
        """A play came back, failed or is given up: what became of that, and the fact's number."""
        if self.path is not None:
            self.check_process()
        self.check_lease(kind, delay)
        if self._inside():
            return self._defer(kind, number, delay), 0
        with self._lock:
            core = self._ready() if self._dirty or self.closed else self._core
            now = self.ticker.now()
            if kind == REPORT and not self._is_news(core, number, delay or 0, now):
                return core.is_out(number), self.store.appended
            was_out = kind != RETURN and core.is_out(number)
            fact = (kind, now, number, delay, None)
            self._dirty = True
            try:
                told = kind == RETURN
                outcome = core.tell(number, delay, now) if told else apply(core, Fact._make(fact))
            except TarryError as error:  # it was refused, and nothing has changed
                self._dirty = False
                self.odd["conflicts"] += isinstance(error, ConflictError)
                raise
            if was_out or outcome in COUNTED:
                seq = self._append(fact)
                if seq % restore.LOOK == 0:
                    self._look_after(core)
                self.odd["reported_late"] += kind == REPORT and core.is_silenced(number)
            else:
                seq = self.store.appended  # the first answer may still be on its way to the disk
                self.odd[str(outcome)] += isinstance(outcome, Told)
            self._dirty = False
        if self._put_off:
            seq = self.catch_up()
        return outcome, seq

    def check_lease(self, kind: int, delay: int | None) -> None:
        """Refuse a report without a lease, and with one an end whose time is to be measured."""
        if kind == REPORT and self._core.leases is None:
            raise refusals.no_lease()
        if kind == RETURN and delay is None and self._core.leases is not None:
            raise refusals.no_delay()

    def listen(self) -> int:
        """What was said while no process had the store open was not heard; the fact's number."""
        with self._lock:
            core, fact = self._core, Fact(LISTEN, self.ticker.now())
            if core.leases is None or not core.out:
                return 0
            apply(core, fact)
            return self._record(core, fact)

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
            core = self._ready()
            fact = Fact(kind, self.ticker.now(), name=name)
            self._dirty = True
            try:
                apply(core, fact)
            except TarryError:
                self._dirty = False
                raise
            if kind == ADD:
                names = [arm.name for arm in core.slots]
                self.store.change(self._revised(slots=names))
            seq = self._record(core, fact)
            self._dirty = False
        return self.catch_up() if self._put_off else seq

    def look(self, view: Callable[[Core, int], T]) -> T:
        """What `view` sees of the core at this moment; also from within a change."""
        self.check_process()
        inside = self._inside()
        with self._lock:
            core = self._core if inside else self._whole()
            return view(core, self.ticker.now())

    def counts(self) -> Counts:
        """The numbers of plays, and of all that was not normal; a rule that fails changes none."""
        self.check_process()
        store = self.store
        waiting = store.appended - store.durable if store.trouble else 0
        odd = {name: self.odd[name] for name in Odd._fields}
        odd |= {"store_failures": store.failures, "undurable": waiting, "dropped": store.dropped}
        odd["unheard"] += self._core.maker.unheard
        try:
            counts = self.look(lambda core, now: core.counts(now))
        except Exception:  # noqa: BLE001  # a user's rule fails while the state is made anew
            with self._lock:
                counts = restore.without_rule(store).counts(self.ticker.now())
        return counts.with_odd(Odd(**odd))

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
            if self.ids.first <= number <= self._core.register.last:  # nearly always
                return number
        else:
            whole = as_id(getattr(play, "id", play))
        self.check_process()
        try:
            if whole is None:
                raise refusals.no_id(play)
            return self.ids.number_of(whole, self._core.asked)
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

    def censor_all(self) -> int:
        """Plays that an earlier process left out are cancelled at the last moment known."""
        with self._lock:
            core = self._core
            if not core.out:
                return 0
            self.odd["censored"] += censor(core, core.now)
            return self._record(core, Fact(CENSOR, core.now))  # some may have been D old

    def snapshot(self) -> None:
        """Hand the state over to the store."""
        with self._lock:
            self.store.take_snapshot(state.dump(self._ready()))

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
                    self._watch_until_now()
                    self.store.take_snapshot(state.dump(self._whole()))
            finally:
                self.store.close()

    def _watch_until_now(self) -> None:
        """Plays out were watched until this moment: who goes on later is to know how old they are.

        A rule that fails at this fails again when it goes on, and is no reason to lose the rest.
        """
        core, fact = self._whole(), Fact(TIME, self.ticker.now())
        if not core.out:
            return
        self._dirty = True
        with contextlib.suppress(Exception):
            apply(core, fact)
            self._record(core, fact)
            self._dirty = False

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
        core, seed = self._whole(), secrets.randbits(64)
        core.seed = seed
        for place, key in enumerate(new_random(seed).words[:2].tolist()):
            core.maker.rng.words[place] = key
        self.ids.begin(new_identity(), core.asked + 1)
        self.store.change(self._revised(seed=seed, ids=self.ids.pieces))
        self.store.take_snapshot(state.dump(core))

    def numbers_of(self, context: Any) -> list[float]:
        """The numbers of a context that nobody asks for."""
        if self.features is None:
            raise refusals.no_features(context)
        return self.features.numbers(self.features.checked(context))[0]

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
            self._dirty = False
            raise
        except Exception:
            self._record(core, Fact(TIME, now))
            self._dirty = False
            self.odd["undecided"] += 1
            raise

    def _use_lock(self, lock: Any) -> None:
        self._lock = lock
        self._inside = lock._is_owned  # noqa: SLF001  # as Condition does

    def _record(self, core: Core, fact: Row) -> int:
        """Append a fact that has been applied; its number."""
        seq = self.store.append(fact)
        if seq % restore.LOOK == 0:
            self._look_after(core)
        return seq

    def _look_after(self, core: Core) -> None:
        """Hand over what the store is to have now and then."""
        for chunk in due_chunks(core):
            self.store.keep(chunk)
        if self.store.snapshot_due(core.asked - core.register.oldest):
            self._dirty = True  # a look at everything brings some of it up to date
            body = state.dump(core)
            self._dirty = False
            self.store.take_snapshot(body)

    def _ready(self) -> Core:
        """The core, to be changed; an error if that cannot be."""
        if self.closed:
            raise refusals.closed()
        return self._whole() if self._dirty else self._core

    def _whole(self) -> Core:
        """The core; made anew from the store if a change was interrupted."""
        if self._dirty:
            name = "The agent" if self.path is None else f"The journal {self.path}"
            self.odd["unheard"] += self._core.maker.unheard
            core = restore.restored(self.policy, self.store.settings, self.store, name)
            core.maker.unheard = 0  # those of the past were counted when they happened
            self._core = self._made(core)
            self._dirty = False
            self.odd["repaired"] += 1
            log.warning("%s: a change was interrupted; its state was made anew.", name)
        return self._core

    def _made(self, core: Core) -> Core:
        core.id_of = self.ids.known_as
        return core.hasten()

    def _defer(self, kind: int, number: int, delay: int | None) -> Told | bool:
        """Put an end off until the change is done in whose middle it came; what it will do."""
        core = self._core
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

    def _revised(self, **more: Any) -> dict[str, Any]:
        """The settings with these changes."""
        settings = self.store.settings
        return settings | more | {"revision": settings.get("revision", 0) + 1}
