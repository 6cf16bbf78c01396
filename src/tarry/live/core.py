"""The deterministic heart of an agent: asks, tells and time in, choices out.

No clock, no file, no lock: every method takes the tick at which it happens, and the same calls
lead to the same state and the same choices, which is what lets a journal be replayed.

What becomes known between two asks is booked in the order of the simulator: answers as they are
told; then plays that reached age D are closed, the earliest first; then plays that are D old are
complete; then plays still out have crossed the edges that the rule wants to hear of.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from tarry.errors import ConflictError, InputError, LiveError, PolicyError, UnknownPlayError
from tarry.live.desk import Desk, Maker, is_tuple
from tarry.live.plays import Arm, Counts, Entry, Status, Told
from tarry.policies.check import check_rule
from tarry.policies.label import policy_label
from tarry.policies.protocol import STOP, Policy, Setting
from tarry.policies.elimination.sweep import Sweep

REMEMBERED = 10_000  # ended plays whose answers are kept, beyond those younger than D
RECENT = 100  # choices that count as recent
OUT = Status.OUT  # looked at for every play and edge


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
        self.rng = np.random.Generator(
            np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(1,)))
        )
        self.maker = Maker(policy, lambda arms: policy.start(setting._replace(arms=arms)))
        check_rule(self.maker.rule(1), policy)
        self.slots = 0
        self.arms: dict[str, Arm] = {}
        for name in names:
            self._new_arm(name)
        self.open = self.maker.fresh(list(self.arms.values())).seat()
        self.paused: Desk | None = None
        rule = self.open.rule
        self.edges = [int(age) for age in getattr(rule, "edges", ())] if self.open.outlived else []
        self.paced = peak and (not self.maker.ours or _has_sweep(rule))
        self.entries: dict[int, Entry] = {}  # by id: ended ones remembered, then those in time
        self.out: dict[int, Entry] = {}  # those still out, the oldest first
        self.crossed = [1] * len(self.edges)  # per edge: the first play that is younger
        self.completed = 1  # the first play that is not complete
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
        self._settle(now)
        chosen = desk.rule.select(desk.ledger, self.asked + 1, now, self.rng)
        self._follow_phase()
        if chosen < 0 or chosen >= len(desk.arms):
            if chosen != STOP:
                raise PolicyError(
                    f"{policy_label(self.policy)} chose arm {chosen} of {len(desk.arms)}; "
                    f"`select` returns the number of an arm, or -1 to stop."
                )
            return None
        arm: Arm = desk.arms[chosen]
        self.asked += 1
        entry = Entry(self.asked, arm, now)
        self.entries[entry.id] = self.out[entry.id] = entry
        arm.plays += 1
        self.recent.append(arm.slot)
        desk.ledger.book_play(arm.index, now)
        if self.paced:
            desk.ledger.spacing[arm.index] = arm.pace.add(now)
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

        All that is known is that it takes longer than its age. A rule that follows survival is
        told nothing more. One that lives on sums cannot hold "at least so long": its ledger gets
        the mean delay of this arm's plays that last that long, so that long plays are not lost.
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
        if self.edges:
            self._cross(entry, desk, age)
        booked = desk.ledger.book_return(entry.id, arm.index, entry.start, entry.delay)
        if booked and not self.edges and desk.returned is not None:
            desk.returned(arm.index, entry.delay, self.rng)
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
        self.now = now
        self._new_arm(name)
        self._regroup()

    def remove_arm(self, name: str, now: int) -> None:
        """Forget an arm; answers of its plays are still accepted, and change nothing."""
        self.arm(name).desk = None
        self.now = now
        del self.arms[name]
        self._regroup()

    def pause_arm(self, name: str, now: int, *, paused: bool) -> None:
        """Choose this arm no longer, or again; what its plays bring counts all the time."""
        self.arm(name).paused = paused
        self.now = now
        self._regroup()

    def arm(self, name: str) -> Arm:
        """The arm of this name."""
        if name not in self.arms:
            raise InputError(f"There is no arm {name!r}; the arms are {', '.join(self.arms)}.")
        return self.arms[name]

    def _new_arm(self, name: str) -> None:
        self.arms[name] = Arm(self.slots, name, self.max_delay)
        self.slots += 1

    def _regroup(self) -> None:
        """Give both desks the arms that belong there now."""
        arms = self.arms.values()
        donor = self.open
        opened = [a for a in arms if not a.paused]
        resting = [a for a in arms if a.paused]
        desk = self.maker.moved(opened, donor) if opened else Desk((), donor.rule, donor.ledger)
        self.paused = self.maker.moved(resting, donor).seat() if resting else None
        self.open = desk.seat()

    def _follow_phase(self) -> None:
        """Paused arms forget a failed phase together with the open ones."""
        if self.paused is not None:
            phase = int(self.open.ledger.phase[0])
            if int(self.paused.ledger.phase[0]) != phase:
                self.paused.ledger.restart(phase)

    def _settle(self, now: int) -> None:
        """Book what became known since the last ask."""
        self.now = now
        entries, end = self.entries, self.asked
        limit = now - self.max_delay
        while self.ended <= end and entries[self.ended].start < limit:
            if entries[self.ended].status is OUT:
                self._close(entries[self.ended])
            self.ended += 1
        while self.completed <= end and entries[self.completed].start <= limit:
            self._complete(entries[self.completed])
            self.completed += 1
        crossed = self.crossed
        for edge, age in enumerate(self.edges):
            limit = now - age
            at = crossed[edge]
            while at <= end:
                entry = entries[at]
                if entry.start > limit:
                    break
                if entry.status is OUT:
                    desk = entry.arm.desk
                    if desk is not None and at >= desk.ledger.phase[0]:
                        desk.outlived(entry.arm.index, edge)
                at += 1
            crossed[edge] = at
        while self.oldest < self.ended - self.remembered:
            del entries[self.oldest]
            self.oldest += 1

    def _complete(self, entry: Entry) -> None:
        desk = entry.arm.desk
        if desk is not None:
            delay = self.max_delay if entry.status is OUT else entry.delay
            desk.ledger.book_complete(entry.id, entry.arm.index, entry.start, delay)

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
        if self.edges:
            self._cross(entry, desk, delay)
        booked = desk.ledger.book_return(entry.id, arm.index, entry.start, delay)
        if booked and desk.returned is not None:
            desk.returned(arm.index, delay, self.rng)

    def _cross(self, entry: Entry, desk: Desk, delay: int) -> None:
        """Tell the rule of exactly those edges that lie within `delay`.

        Those passed since the last ask are still to be told; those passed after the answer came
        back, but before it was told, are withdrawn.
        """
        if entry.id < desk.ledger.phase[0]:
            return
        for edge, age in enumerate(self.edges):
            told = self.crossed[edge] > entry.id
            if age <= delay and not told:
                desk.outlived(entry.arm.index, edge)
            elif age > delay and told and desk.withdrawn is not None:
                desk.withdrawn(entry.arm.index, edge)


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
