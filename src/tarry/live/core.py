"""The deterministic heart of an agent: asks, tells and time in, choices out.

No clock, no file, no lock: every method takes the tick at which it happens, and the same calls
lead to the same state and the same choices, which is what lets a journal be replayed.

What becomes known between two asks is booked in the order of `tarry.policies.driver`: answers as
they are told; then plays that reached age D are closed, the earliest first; then plays that are D
old are complete; then plays have reached the ages that the rule wants to hear of.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

from tarry.arrays import is_tuple
from tarry.errors import ConflictError, InputError, LiveError, UnknownPlayError
from tarry.live.desk import Desk, grow
from tarry.live.machine import promised
from tarry.live.maker import Maker
from tarry.live.plays import Arm, Counts, Entry, Status, Told
from tarry.policies.elimination.sweep import Sweep
from tarry.policies.protocol import STOP, Policy, Setting
from tarry.randomness import new_random

REMEMBERED = 10_000  # ended plays whose answers are kept, beyond those younger than D
RECENT = 100  # choices that count as recent
OUT = Status.OUT  # looked at for every play


class Core:
    """The state of an agent."""

    def __init__(
        self,
        policy: Policy,
        names: Sequence[str],
        setting: Setting,
        seed: int,
        *,
        peak: bool = True,
        remembered: int = REMEMBERED,
    ) -> None:
        """`setting.arms` does not matter; `peak` asks for L3 by peak play density."""
        self.policy = policy
        self.setting = setting
        self.max_delay = setting.max_delay
        self.remembered = remembered
        self.maker = Maker(
            policy,
            setting.max_delay,
            lambda arms: policy.start(setting._replace(arms=arms)),
            new_random(seed),
        )
        self.slots = 0
        self.arms: dict[str, Arm] = {}
        for name in names:
            self._new_arm(name)
        self.promise = promised(self.maker)
        self.open = self.maker.desk(list(self.arms.values())).seat()
        self.paused: Desk | None = None
        self.paced = peak and (not self.maker.ours or _has_sweep(self.open.rule))
        self.entries: dict[int, Entry] = {}  # by id: ended ones remembered, then those in time
        self.out: dict[int, Entry] = {}  # those still out, the oldest first
        self.failures = 0  # failed phases of the rule
        self.ended = 1  # the first play not older than D
        self.oldest = 1  # the first play still remembered
        self.recent: deque[int] = deque(maxlen=RECENT)  # slots of the latest choices
        self.now = 0
        self.asked = self.returned = self.closed = 0
        self.cancelled = self.late = self.failed = 0

    def counts(self, now: int) -> Counts:
        """The numbers at tick `now`: plays that have reached age D count as closed by then."""
        overdue = 0
        for entry in self.out.values():
            if now - entry.start < self.max_delay:
                break
            overdue += 1
        return Counts(
            asked=self.asked,
            returned=self.returned,
            pending=len(self.out) - overdue,
            closed=self.closed + overdue,
            cancelled=self.cancelled,
            late=self.late,
            failed=self.failed,
        )

    def ask(self, now: int) -> Entry | None:
        """Choose and start a play; None if the rule has stopped."""
        desk = self.open
        if not desk.arms:
            raise LiveError(
                "No arm is open: all were removed or paused; add or resume one before asking."
            )
        if self.promise is not None:
            self._speed_up()
        self._settle(now)
        self._make_room()
        number = self.asked + 1
        chosen = desk.choose(number, now)
        self._follow_phase()
        if chosen == STOP:
            return None
        arm: Arm = desk.arms[chosen]
        self.asked = number
        entry = Entry(number, arm, now)
        self.entries[number] = self.out[number] = entry
        arm.plays += 1
        self.recent.append(arm.slot)
        desk.start(number, chosen, now)
        if self.paused is not None:
            self.paused.disown(number)
        if self.paced:
            desk.ledger.spacing[chosen] = arm.pace.add(now)
        return entry

    def tell(self, number: int, delay: int | None, now: int) -> Told:
        """The answer of a play: it took `delay`, or came back just now."""
        entry = self.find(number)
        if entry is None:
            return Told.FORGOTTEN
        known = entry.delay if entry.status is Status.RETURNED else entry.late
        if known >= 0 and entry.status is not OUT:
            _same(entry, known, delay, self.max_delay)
            return Told.REPEATED
        self.now = now
        age = now - entry.start
        taken = min(age if delay is None else delay, self.max_delay)
        if entry.status is OUT:
            if age < self.max_delay:
                self._return(entry, taken)
                return Told.RETURNED
            self._close(entry)
        entry.late = taken
        entry.arm.late += 1
        self.late += 1
        return Told.LATE

    def fail(self, number: int, now: int) -> Told:
        """A play ended in failure: the worst payoff, D as a cost and 0 as a reward."""
        entry = self.find(number)
        told = self.tell(number, 0 if self.setting.reward else self.max_delay, now)
        if entry is not None and told is Told.RETURNED:
            entry.arm.failed += 1
            self.failed += 1
        return told

    def cancel(self, number: int, now: int) -> bool:
        """Nobody watches this play any longer; tells whether it was still out.

        All that is known is that it takes longer than its age. A rule that follows ages is told
        which it has reached, and nothing more. One that lives on sums cannot hold "at least so
        long": its ledger gets the mean delay of this arm's plays that last that long, so that long
        plays are not lost.
        """
        entry = self.find(number)
        if entry is None or entry.status is not OUT:
            return False
        self.now = now
        age = now - entry.start
        if age >= self.max_delay:
            self._close(entry)
            return False
        entry.status = Status.CANCELLED
        del self.out[entry.id]
        arm, desk = entry.arm, entry.arm.desk
        self.cancelled += 1
        arm.cancelled += 1
        entry.delay = age
        if desk is None:
            return True
        entry.delay = arm.curve.expected_beyond(age, self.ages(arm, now))
        arm.curve.cancelled(age)
        desk.cancel(number, age, entry.delay, now)
        return True

    def find(self, number: int) -> Entry | None:
        """The play with this id, None if it is forgotten."""
        entry = self.entries.get(number)
        if entry is None and not 1 <= number <= self.asked:
            raise unknown_play(number, self.asked)
        return entry

    def ages(self, arm: Arm, now: int) -> list[int]:
        """The ages of the plays of `arm` that are still out."""
        return [now - e.start for e in self.out.values() if e.arm is arm]

    def add_arm(self, name: str, now: int) -> None:
        """A new arm, open from now on."""
        if name in self.arms:
            raise InputError(f"There is an arm {name!r} already; give a name that is not in use.")
        self.maker.check_movable(self.open.rule)
        self.now = now
        self._new_arm(name)
        self._regroup()

    def remove_arm(self, name: str, now: int) -> None:
        """Forget an arm; answers of its plays are still accepted, and change nothing."""
        arm = self.arm(name)
        self.maker.check_movable(self.open.rule)
        arm.desk = None
        self.now = now
        del self.arms[name]
        self._regroup()

    def pause_arm(self, name: str, now: int, *, paused: bool) -> None:
        """Choose this arm no longer, or again; what its plays bring counts all the time."""
        arm = self.arm(name)
        self.maker.check_movable(self.open.rule)
        arm.paused = paused
        self.now = now
        self._regroup()

    def arm(self, name: str) -> Arm:
        """The arm of this name."""
        if name not in self.arms:
            raise InputError(f"There is no arm {name!r}; the arms are {', '.join(self.arms)}.")
        return self.arms[name]

    def desks(self) -> list[Desk]:
        """The desk of the open arms, and that of the paused ones if there are any."""
        return [self.open] if self.paused is None else [self.open, self.paused]

    def _new_arm(self, name: str) -> None:
        self.arms[name] = Arm(self.slots, name, self.max_delay)
        self.slots += 1

    def _regroup(self) -> None:
        """Give both desks the arms that belong there now."""
        arms = self.arms.values()
        resting = [a for a in arms if a.paused]
        opened = self.maker.moved([a for a in arms if not a.paused], self.open)
        self.paused = self.maker.moved(resting, self.open).seat() if resting else None
        self.open = opened.seat()

    def _follow_phase(self) -> None:
        """Begin the ledger anew if the rule has; paused arms forget a failed phase as well."""
        self.failures = self.open.follow_phase(self.failures)
        if self.paused is not None:
            phase = self.open.ledger.phase[0]
            if self.paused.ledger.phase[0] != phase:
                self.paused.ledger.restart(phase)

    def _make_room(self) -> None:
        """See to it that the next play has a row that no play needs which may bring something."""
        if self.asked + 1 - self.ended >= len(self.open.plays.number):
            grow(self.desks())

    def _speed_up(self) -> None:
        """Go over to machine code, if it is there."""
        if self.promise is not None and self.promise.over:
            if self.promise.steps is not None:
                self.maker.switch(self.desks(), self.promise.steps)
            self.promise = None
        elif self.promise is not None:
            self.promise.look(self.asked)

    def _settle(self, now: int) -> None:
        """Book what became known since the last ask."""
        self.now = now
        entries, end = self.entries, self.asked
        limit = now - self.max_delay
        while self.ended <= end and entries[self.ended].start < limit:
            if entries[self.ended].status is OUT:
                self._close(entries[self.ended])
            self.ended += 1
        for desk in self.desks():
            desk.settle(end, now)
        while self.oldest < self.ended - self.remembered:
            del entries[self.oldest]
            self.oldest += 1

    def _close(self, entry: Entry) -> None:
        self._book(entry, Status.CLOSED, self.max_delay)
        entry.arm.closed += 1
        self.closed += 1

    def _return(self, entry: Entry, delay: int) -> None:
        self._book(entry, Status.RETURNED, delay)
        entry.arm.returned += 1
        self.returned += 1

    def _book(self, entry: Entry, status: Status, delay: int) -> None:
        """The delay of a play is known."""
        entry.status = status
        entry.delay = delay
        del self.out[entry.id]
        arm, desk = entry.arm, entry.arm.desk
        if desk is None:
            return
        arm.curve.came_back(delay)
        desk.answer(entry.id, delay, self.now)


def unknown_play(number: object, asked: int) -> UnknownPlayError:
    """What to say of an id that was never given out."""
    made = f"the plays 1 to {asked}" if asked else "no plays yet"
    return UnknownPlayError(f"There is no play with id {number!r}; this agent made {made}.")


def _same(entry: Entry, known: int, delay: int | None, max_delay: int) -> None:
    """Refuse a second answer that differs from the first."""
    if delay is not None and min(delay, max_delay) != known:
        raise ConflictError(
            f"Play {entry.id} was told with delay {known / 1e6:g} s before and now with "
            f"{delay / 1e6:g} s; a play has one answer."
        )


def _has_sweep(rule: Any) -> bool:
    return isinstance(rule, Sweep) or (is_tuple(rule) and any(_has_sweep(f) for f in rule))
