"""The deterministic heart of an agent: asks, tells and time in, choices out.

No clock, no file, no lock: every method takes the tick at which it happens, and the same facts
lead to the same state and the same choices, which is what lets a store be replayed.

What becomes known between two asks is booked in the order of `tarry.policies.driver`: answers as
they are told; then plays that reached age D are closed, the earliest first; then plays that are D
old are complete; then plays have reached the ages that the rule wants to hear of. Of each of these
an ask books `AT_ONCE` plays at most: after a long pause, the asks that follow do the rest.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Self

from tarry.live.arms import new_arm
from tarry.live.cancelling import cancel_play
from tarry.live.desk import Desk
from tarry.live.features import Features
from tarry.live.inside import find_inside
from tarry.live.lease import Lease, Leases
from tarry.live.machine import Promise, promised
from tarry.live.maker import Maker
from tarry.live.passing import let_pass
from tarry.live.plays import Arm, Counts, Told
from tarry.live.refusals import check_same_answer, no_open_arm, unknown_play
from tarry.live.register import (
    BLOCK,
    CANCELLED,
    CLOSED,
    FAILED,
    OUT,
    RETURNED,
    VANISHED,
    VOID,
    Register,
)
from tarry.live.requests import Requests
from tarry.live.tally import Tally
from tarry.policies.elimination.sweep import Sweep
from tarry.policies.protocol import STOP, Policy, Setting
from tarry.randomness import new_random

REMEMBERED = 10_000  # ended plays whose answers are kept, beyond those younger than D
RECENT = 100  # choices that count as recent


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
        features: Features | None = None,
        lease: Lease | None = None,
    ) -> None:
        """`setting.arms` does not matter; `peak` asks for L3 by peak play density."""
        self.policy = policy
        self.id_of: Callable[[int], int] = int  # what users call the play with a number
        self.setting = setting
        self.seed = seed
        self.max_delay = setting.max_delay
        self.remembered = remembered
        self.leases = None if lease is None else Leases(self, lease)
        self.maker = Maker(
            policy,
            setting.max_delay,
            lambda arms: policy.start(setting._replace(arms=arms)),
            new_random(seed),
            setting.features,
            self.leases,
        )
        self.requests = Requests(features)
        self.slots: list[Arm] = []  # all arms there ever were
        self.arms: dict[str, Arm] = {}
        for name in names:
            new_arm(self, name)
        self.promise: Promise | None = None  # of machine code; see `hasten`
        self.open = self.maker.desk(list(self.arms.values())).seat()
        self.paused: Desk | None = None
        self.paced = peak and (
            not self.maker.ours or find_inside(self.open.rule, Sweep) is not None
        )
        self.register = Register()
        self.tally = Tally()
        self.grace = 0  # ticks for which the rows of plays are kept when they are D old
        self.kept = 0  # plays up to this number are in the history, and may be forgotten here
        self.failures = 0  # failed phases of the rule
        self.ended = 1  # no play before this one can bring anything any more
        self.watched = 1  # no play before this one is out
        self.due = 0  # no play that is out is older than D before this tick
        self.recent: deque[int] = deque(maxlen=RECENT)  # slots of the latest choices
        self.now = 0
        self.returned = self.closed = self.cancelled = self.late = self.failed = 0
        self.vanished = self.void = 0

    @property
    def asked(self) -> int:
        """How many plays there were."""
        return self.register.last

    @property
    def out(self) -> int:
        """Plays neither answered, nor closed, nor cancelled when time was last settled."""
        return self.asked - self.returned - self.closed - self.cancelled - self.void

    def counts(self, now: int) -> Counts:
        """The numbers at tick `now`: plays that have reached age D count as closed by then."""
        asked, returned, cancelled = self.register.last, self.returned, self.cancelled
        if self.leases is not None:
            gone, void = self.leases.gone_and_void(now)
            ended = returned + gone, self.out - gone - void, self.closed, cancelled
            counts = Counts(asked, *ended, self.late, self.failed)
            return counts.with_leases(self.vanished + gone, self.void + void)
        closed = self.closed + self.register.overdue(self.ended, now - self.max_delay)
        pending = asked - returned - closed - cancelled
        return Counts(asked, returned, pending, closed, cancelled, self.late, self.failed)

    def decide(self, now: int) -> Arm | None:
        """The arm of the next play; None if the rule has stopped. Nothing but that is decided."""
        desk = self.open
        if not desk.arms:
            raise no_open_arm()
        if self.promise is not None:
            self.promise = self.promise.look(self.desks())
        let_pass(self, now)
        self.requests.show(desk.plays, self.register.last + 1)
        chosen = desk.choose(self.register.last + 1, now)
        if desk.phased:
            self._follow_phase()
        return None if chosen == STOP else desk.arms[chosen]

    def decide_and_start(self, now: int) -> Arm | None:
        """`decide`, and `start` of what was chosen, at a desk that can do both at once."""
        desk, number = self.open, self.register.last + 1
        if now > self.due or number % BLOCK == 0 or self.paused is not None:
            let_pass(self, now)
        self.now = now
        if self.requests.numbers:
            self.requests.show(desk.plays, number)
        chosen = desk.at_once(number, now)
        if chosen == STOP:
            return None
        arm: Arm = desk.arms[chosen]
        register = self.register
        row = number & register.mask
        register.slot[row] = arm.slot
        register.start[row] = now
        register.last = number
        self.requests.keep(number)
        arm.plays += 1
        self.recent.append(arm.slot)
        if self.paced:
            desk.ledger.spacing[chosen] = arm.pace.add(now)
        if self.paused is not None:
            self.paused.disown(number)
        if self.leases is not None:
            self.leases.begin(number, now)
        return arm

    def recall(self, now: int) -> None:
        """A decision of the past: its outcome is known, but what it left in the rule is not.

        The rule decides again for its own sake, with the same evidence and the same random
        numbers. If this version of it would choose otherwise, or fails, that makes no difference
        to what was played.
        """
        try:
            self.decide(now)
        except Exception:  # noqa: BLE001  # a user's rule can raise anything, and has been told so
            self.settle(now)
        self.open.enter(self.register.last + 1, now)
        self.requests.show(self.open.plays, self.register.last + 1)

    def start(self, arm: Arm, now: int) -> int:
        """Play `arm`, as was decided or recalled just before at this `now`; its number."""
        number = self.register.add(arm.slot, now)
        self.requests.keep(number)
        arm.plays += 1
        self.recent.append(arm.slot)
        desk = arm.desk
        if desk is not self.open:  # it was closed by another version of the policy, say
            self.open.disown(number)
        if desk is not None:
            desk.start(number, arm.index, now)
            if self.paced:
                desk.ledger.spacing[arm.index] = arm.pace.add(now)
        if self.paused is not None and desk is not self.paused:
            self.paused.disown(number)
        if self.leases is not None:
            self.leases.begin(number, now)
        return number

    def tell(self, number: int, delay: int | None, now: int, status: int = RETURNED) -> Told:
        """The answer of a play: it took `delay`, or came back just now."""
        register = self.register
        if not register.oldest <= number <= register.last and not self.knows(number):
            return Told.FORGOTTEN
        row = number & register.mask
        here = register.status[row]
        if self.leases is not None:
            delay = self.leases.taken(row, delay, status)
        if here != OUT:
            known = register.told(row)
            if known >= 0:
                play = self.id_of(number)
                check_same_answer(play, known, here, delay, status, self.max_delay)
                return Told.REPEATED
        self.now = now
        age = now - register.start[row]
        taken = min(age if delay is None else delay, self.max_delay)
        if here == OUT and self.leases is not None:
            return self.leases.tell(number, status, taken, now)
        if here == OUT:
            if age < self.max_delay:
                self.book(number, status, taken)
                return Told.RETURNED
            self.book(number, CLOSED, self.max_delay)
        return self.note_late(row, taken)

    def note_late(self, row: int, taken: int) -> Told:
        """An answer comes too late to count: it is kept, and moves nothing."""
        self.register.late[row] = taken
        self.slots[self.register.slot[row]].late += 1
        self.late += 1
        return Told.LATE

    def fail(self, number: int, now: int) -> Told:
        """A play ended in failure: the worst payoff, D as a cost and 0 as a reward."""
        return self.tell(number, 0 if self.setting.reward else self.max_delay, now, FAILED)

    def cancel(self, number: int, now: int, age: int | None = None) -> bool:
        """Nobody watches this play any longer, `age` old; tells whether it was still out.

        What it is booked with is in `tarry.live.cancelling`.
        """
        if not self.is_out(number):
            return False
        register = self.register
        row = number & register.mask
        self.now = now
        if self.leases is not None:
            if self.leases.is_silent(number, now):
                self.leases.end_silent(number)
                return False
            age = max(register.watched[row], 0)
        age = now - register.start[row] if age is None else age
        if age >= self.max_delay:
            self.book(number, CLOSED, self.max_delay)
            return False
        cancel_play(self, number, age, now)
        return True

    def report(self, number: int, lasted: int, now: int) -> bool:
        """A play is said to have lasted so long, and to go on; whether it is still out."""
        if self.leases is None:
            raise ValueError("a report where ages are measured")
        return self.leases.report(number, lasted, now)

    def listen(self, now: int) -> None:
        """Nothing could be heard for a while, until `now`."""
        if self.leases is not None:
            self.leases.listen(now)

    def knows(self, number: int) -> bool:
        """Whether the play is remembered; one that was never made is an error."""
        if self.register.oldest <= number <= self.register.last:
            return True
        if 1 <= number <= self.register.last:
            return False
        raise unknown_play(number, self.asked)

    def is_out(self, number: int) -> bool:
        """Whether the play is out, as far as was noticed."""
        return self.knows(number) and self.register.status[number & self.register.mask] == OUT

    def is_silenced(self, number: int) -> bool:
        """Whether the play ended since its lease ran out."""
        ends = (VANISHED, VOID)
        return self.knows(number) and self.register.status[number & self.register.mask] in ends

    def is_answered(self, number: int) -> bool:
        """Whether somebody said how the play ended, or gave it up."""
        ends = (RETURNED, FAILED, CANCELLED)
        return self.knows(number) and self.register.status[number & self.register.mask] in ends

    def desks(self) -> list[Desk]:
        """The desk of the open arms, and that of the paused ones if there are any."""
        return [self.open] if self.paused is None else [self.open, self.paused]

    def settle(self, now: int) -> None:
        """Book what became known since the last ask."""
        let_pass(self, now)
        self.open.settle(self.register.last, now)

    def _follow_phase(self) -> None:
        """Where the rule has begun anew, the ledger begins anew; paused arms forget as well."""
        failures = self.open.follow_phase(self.failures)
        if failures == self.failures:
            return
        self.failures = failures
        if self.paused is not None:
            phase = int(self.open.ledger.phase[0])
            if self.paused.ledger.phase[0] != phase:
                self.paused.ledger.restart(phase)

    def hasten(self) -> Self:
        """From now on asks are real, and many of them are worth machine code."""
        self.promise = promised(self.maker)
        return self

    def book(self, number: int, status: int, delay: int) -> None:
        """The delay of a play is known."""
        register = self.register
        row = number & register.mask
        arm = self.slots[register.slot[row]]
        if status == CLOSED:
            arm.closed += 1
            self.closed += 1
        else:
            arm.returned += 1
            self.returned += 1
            if status == FAILED:
                arm.failed += 1
                self.failed += 1
            elif status == VANISHED:
                arm.vanished += 1
                self.vanished += 1
        if self.leases is not None:
            self.leases.drop(number)
        register.status[row] = status
        register.delay[row] = delay
        self.tally.over.append(number)
        if arm.desk is not None:
            arm.desk.answer(number, delay, self.now)

    def fold(self) -> None:
        """Bring the curves of the arms and the ages of their plays up to date."""
        self.tally.fold(self.register, self.slots, self.ended)
