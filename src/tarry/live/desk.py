"""A desk: a rule, its ledger and its plays for some of the arms.

A rule knows the arms 0..K-1 and may choose any of them. Live, arms come, go and pause while plays
are out. An agent therefore has two desks: one whose rule chooses among the open arms, and one that
goes on booking what paused arms still bring. Each has a table of all plays, in which the plays of
arms that are not its own belong to nobody; all columns but that of the arms are shared.

What happens at a desk is what the functions of `tarry.policies.driver` do, interpreted on lists or
as machine code on arrays (`tarry.live.machine`); nothing else of live use changes a rule, a ledger
or the table. How desks are made and how arms move between them is in `tarry.live.maker`.
"""

from array import array
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from tarry.arrays import arrays_of, is_tuple, is_writable
from tarry.checks import as_index
from tarry.errors import PolicyError
from tarry.inspection import in_package
from tarry.ledger import Ledger
from tarry.plays import NOBODY, OUT, Ages, Plays
from tarry.policies.driver import (
    book_cancelled,
    book_start,
    book_told,
    decide,
    settle,
    settle_and_decide,
    settle_decide_and_start,
)
from tarry.policies.label import policy_label
from tarry.policies.outside import goes_outside, miscounts, writes_read_only
from tarry.policies.protocol import MOST_FAILED, STOP, follow_phase
from tarry.randomness import Random


class Seat(Protocol):
    """What a desk needs to know of an arm: where its evidence is."""

    desk: "Desk | None"
    index: int


class Steps(NamedTuple):
    """The functions of the driver that desks use, in one form: they take the same arguments."""

    settle: Callable[..., None]
    settle_and_decide: Callable[..., int]
    settle_decide_and_start: Callable[..., int]
    book_start: Callable[..., None]
    book_told: Callable[..., None]
    book_cancelled: Callable[..., None]


INTERPRETED = Steps(
    settle, settle_and_decide, settle_decide_and_start, book_start, book_told, book_cancelled
)


class Desk:
    """The rule, the ledger and the plays of `arms`, in their order."""

    def __init__(self, policy: Any, arms: Sequence[Any]) -> None:
        self.policy = policy
        self.arms = list(arms)

    def furnish(
        self,
        steps: Steps,
        rule: Any,
        ledger: Ledger,
        plays: Plays,
        ages: Ages,
        rng: Random,
        *,
        guard: Callable[[Any], Any],
    ) -> Self:
        """Let these be what the desk works with: arrays for compiled steps, else what you like.

        The driver is handed what `guard` makes of the rule.
        """
        self.steps = steps
        self.rule = rule
        self.heard = guard(rule)
        self.ledger = ledger
        self._use_ages(ages)
        self.rng = rng
        self.phased = hasattr(rule, "phase")
        self.use_table(plays)
        # What is compiled, and ours, neither fails nor is interrupted half-way.
        self._decided = _changed_by_decisions(rule) if steps is INTERPRETED else []
        return self

    def use_table(self, plays: Plays) -> None:
        """Let this be the table of plays."""
        self.plays = plays
        self._mask = mask = len(plays.number) - 1
        rule, ledger, rng = self.heard, self.ledger, self.rng
        told, both = self.steps.book_told, self.steps.settle_decide_and_start
        at_end, at_ask = self.at_end, self.at_ask

        # What every ask and every tell needs, with what it is about at hand.

        def answer(number: int, delay: int, now: int) -> None:
            told(rule, ledger, plays, at_end, number & mask, delay, now, rng)

        def at_once(number: int, now: int) -> int:
            return both(rule, ledger, plays, at_ask, number, now, rng)

        self.answer = answer  # play `number`, of an arm of this desk, took `delay`
        self.at_once = at_once  # `choose` and `start` of what was chosen, for one that `is_quick`
        # Where nothing can fail half-way, and the ledger does not begin anew in between.
        self.is_quick = self.steps is not INTERPRETED and not self.phased and bool(self.arms)

    def seat(self) -> Self:
        """From now on the evidence of these arms is here."""
        for index, arm in enumerate(self.arms):
            arm.desk = self
            arm.index = index
        return self

    def settle(self, last: int, now: int) -> None:
        """Time has reached `now`: book what the plays up to number `last` are old enough for."""
        self.steps.settle(self.heard, self.ledger, self.plays, self.ages, last, now)

    def choose(self, number: int, now: int) -> int:
        """The arm for play `number`, or STOP; time is settled before.

        A choice that is none, or fails, is an error and leaves no trace in the rule. Neither does a
        stop of a user's rule; one of ours remembers that it has stopped.
        """
        rule, ledger, plays, ages = self.heard, self.ledger, self.plays, self.at_ask
        if self.steps is not INTERPRETED:
            return self.steps.settle_and_decide(rule, ledger, plays, ages, number, now, self.rng)
        settle(rule, ledger, plays, ages, number - 1, now)
        before = [numbers[:].copy() for numbers in self._decided]
        failed = self.rule.phase[1] if self.phased else 0
        chosen = None
        try:
            choice = decide(rule, ledger, plays, ages, number, now, self.rng)
            if self.phased and not failed <= self.rule.phase[1] <= failed + MOST_FAILED:
                raise miscounts(self.policy, f"play {number}")
            chosen = self._arm_meant(choice)
        except IndexError as error:
            raise goes_outside(self.policy, error) from error
        except ValueError as error:
            told = writes_read_only(self.policy, self.rule, error)
            if told is None:
                raise
            raise told from error
        finally:
            if chosen is None or (chosen == STOP and not in_package(type(self.rule))):
                for numbers, old in zip(self._decided, before, strict=True):
                    numbers[:] = old
        return chosen

    def follow_phase(self, failures: int) -> int:
        """How many phases of the rule have failed; the ledger begins anew if one more has."""
        return int(follow_phase(self.rule, self.ledger, failures))

    def enter(self, number: int, now: int) -> None:
        """Play `number` is about to be made, of an arm chosen elsewhere: fill its row for that."""
        row = number & self._mask
        self.plays.number[row] = number
        self.plays.start[row] = now
        self.plays.delay[row] = OUT

    def start(self, number: int, arm: int, now: int) -> None:
        """Play `number` is made now, of `arm`; it was chosen or entered just before, at `now`."""
        row = number & self._mask
        self.steps.book_start(self.heard, self.ledger, self.plays, row, arm, now)

    def cancel(self, number: int, age: int, booked: int, now: int) -> None:
        """Play `number`, `age` old, is no longer watched; sums get the delay `booked` for it."""
        rule, ledger, plays, ages = self.heard, self.ledger, self.plays, self.at_end
        row = number & self._mask
        self.steps.book_cancelled(rule, ledger, plays, ages, row, age, booked, now, self.rng)

    def report(self, number: int, lasted: int, now: int) -> None:
        """Play `number` is said to have lasted so long; only where ages are reported."""
        raise NotImplementedError

    def unbook(self, number: int) -> None:
        """Play `number` was none; only where ages are reported."""
        raise NotImplementedError

    def disown(self, number: int) -> None:
        """Play `number` is made at the other desk."""
        self.plays.arm[number & self._mask] = NOBODY

    def _use_ages(self, ages: Ages) -> None:
        """How far plays have aged: for what time brings, for asks and for ends of plays."""
        self.ages = self.at_ask = self.at_end = ages

    def _arm_meant(self, choice: object) -> int:
        """The choice as a number, if it is one of an arm or a stop."""
        arm = as_index(choice)
        if arm is None or not (arm == STOP or 0 <= arm < len(self.arms)):
            raise PolicyError(
                f"{policy_label(self.policy)} chose {choice!r} among {len(self.arms)} arms; "
                f"`select` returns the number of an arm, an int, or -1 to stop."
            )
        return arm


def _changed_by_decisions(rule: Any) -> list[Any]:
    """The arrays of a rule that `select` may write to: of a user's, any; if no NamedTuple, none.

    What is read-only stays as it is, and cannot be put back.
    """
    if not is_tuple(rule):
        return []
    ours = in_package(type(rule))
    return [
        array
        for _, array, role in arrays_of(rule)
        if is_writable(array) and not (ours and role and role.only_read)
    ]


def grow(desks: Sequence[Desk]) -> None:
    """Give all desks a table of twice the size.

    The row of a play is its number modulo the size, so a table that repeats the old one has every
    play where it belongs; the second copy of each is overwritten before anybody looks there.
    """
    first = desks[0].plays
    shared = Plays(*(_twice(column) for column in first))
    for desk in desks:
        arm = shared.arm if desk.plays is first else _twice(desk.plays.arm)
        desk.use_table(shared._replace(arm=arm))


def _twice(column: Any) -> Any:
    return column * 2 if isinstance(column, array) else np.concatenate((column, column))
