"""A desk: a rule, its ledger and its plays for some of the arms, and how arms change desks.

A rule knows the arms 0..K-1 and may choose any of them. Live, arms come, go and pause while plays
are out. An agent therefore has two desks: one whose rule chooses among the open arms, and one that
goes on booking what paused arms still bring. Each has a table of all plays, in which the plays of
arms that are not its own belong to nobody; all columns but that of the arms are shared.

When an arm moves, both desks are made anew from `policy.start`, and every array of rule and ledger
says itself what becomes of it (`tarry.arrays`): the part of an arm goes with the arm, what belongs
to no arm in particular is kept, and positions in the list of arms start afresh. A sweep therefore
begins with all arms active: an arm that another one had beaten must be looked at again if that
other one is gone, and the evidence kept removes it again if it is not.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from tarry.arrays import arrays_of, is_tuple
from tarry.errors import LiveError
from tarry.ledger import Ledger, empty_ledger
from tarry.plays import NOBODY, Ages, Plays, empty_plays, no_ages
from tarry.policies.check import check_rule, rule_edges
from tarry.policies.label import policy_label

FIRST_ROWS = 64


class Seat(Protocol):
    """What a desk needs to know of an arm: where its evidence is."""

    desk: "Desk | None"
    index: int


class Desk:
    """The rule, the ledger and the plays of `arms`, in their order."""

    def __init__(
        self, arms: Sequence[Any], rule: Any, ledger: Ledger, plays: Plays, ages: Ages
    ) -> None:
        self.arms = list(arms)
        self.rule = rule
        self.ledger = ledger
        self.plays = plays
        self.ages = ages

    def seat(self) -> "Desk":
        """From now on the evidence of these arms is here."""
        for index, arm in enumerate(self.arms):
            arm.desk = self
            arm.index = index
        return self


class Maker:
    """Makes desks for one policy."""

    def __init__(self, policy: Any, max_delay: int, start: Callable[[int], Any]) -> None:
        """`start` gives a fresh rule for a number of arms."""
        self.policy = policy
        self._start = start
        first = start(1)
        check_rule(first, policy)
        self.ours = type(first).__module__.startswith("tarry.")
        self.edges = rule_edges(first, policy, max_delay)
        self.max_delay = max_delay

    def rule(self, arms: int) -> Any:
        """A fresh rule; those of the package with lists for arrays, which interpret faster."""
        return self._kind(self._start(arms))

    def ledger(self, arms: int) -> Ledger:
        """An empty ledger, of the same kind."""
        return self._kind(empty_ledger(arms))  # type: ignore[no-any-return]  # a ledger

    def plays(self, rows: int = FIRST_ROWS) -> Plays:
        """An empty table, of the same kind."""
        return self._kind(empty_plays(rows - 1))  # type: ignore[no-any-return]  # a table

    def ages(self) -> Ages:
        """No play has reached any age, of the same kind."""
        return self._kind(no_ages(self.max_delay, self.edges))  # type: ignore[no-any-return]  # ages

    def fresh(self, arms: Sequence[Any]) -> Desk:
        """A desk where nothing happened yet."""
        size = len(arms)
        return Desk(arms, self.rule(size), self.ledger(size), self.plays(), self.ages())

    def moved(self, arms: Sequence[Any], donor: Desk) -> Desk:
        """A desk for `arms` with what they bring along; `donor` gives what belongs to no arm.

        The arms stay seated where they are until `seat`, and no play belongs to any of them yet.
        """
        rule, ledger = self.rule(len(arms)), self.ledger(len(arms))
        self.check_movable(rule)
        olds = [a.desk.rule if a.desk else None for a in arms]
        self._carry(rule, donor.rule, olds, [a.index for a in arms])
        olds = [a.desk.ledger if a.desk else None for a in arms]
        self._carry(ledger, donor.ledger, olds, [a.index for a in arms])
        ages = self.ages()
        ages.reached[:] = donor.ages.reached  # type: ignore[index]  # a list or an array
        nobody = donor.plays._replace(arm=self.plays(len(donor.plays.number)).arm)
        return Desk(arms, rule, ledger, nobody, ages)

    def check_movable(self, rule: Any) -> None:
        """Refuse a rule that does not say what becomes of its arrays when arms change."""
        label = policy_label(self.policy)
        if not is_tuple(rule):
            raise LiveError(
                f"The rule of {label} is a {type(rule).__name__}, not a NamedTuple, so its arms "
                f"cannot change; make a new agent with the arms you want."
            )
        silent = [path for path, _, role in arrays_of(rule) if role is None]
        if silent:
            raise LiveError(
                f"The rule of {label} does not say whether {' and '.join(silent)} "
                f"{'go' if len(silent) > 1 else 'goes'} with the arms, so its arms cannot change; "
                f"annotate each array with its role, such as ArmEvidence[...] of tarry.arrays."
            )

    def _kind(self, value: Any) -> Any:
        return listed(value) if self.ours else value

    def _carry(self, fresh: Any, donor: Any, olds: Sequence[Any], places: Sequence[int]) -> None:
        """Write what arms and donor bring into a fresh rule or ledger."""
        found = [
            None if old is None else {path: array for path, array, _ in arrays_of(old)}
            for old in olds
        ]
        common = {path: array for path, array, _ in arrays_of(donor)}
        for path, new, role in arrays_of(fresh):
            if role is not None and role.kept:
                self._check_size(path, len(common[path]), len(new))
                new[:] = common[path]
            if role is None or not role.by_arm:
                continue
            size, rest = divmod(len(new), len(places))
            self._check_size(path, rest, 0)
            for k, (old, place) in enumerate(zip(found, places, strict=True)):
                if old is not None:
                    new[k * size : (k + 1) * size] = old[path][place * size : (place + 1) * size]

    def _check_size(self, path: str, size: int, wanted: int) -> None:
        """Refuse an array whose length does not fit its role."""
        if size != wanted:
            raise LiveError(
                f"The length of {path} in the rule of {policy_label(self.policy)} does not fit its "
                f"role: by arm, it is as many numbers for each arm; shared, it is always the same."
            )


def listed(value: Any) -> Any:
    """A NamedTuple with lists in the place of arrays, at all depths."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if is_tuple(value):
        return type(value)(*(listed(field) for field in value))
    return value


def larger_table(maker: Maker, old: Plays, first: int, last: int) -> Plays:
    """A table of twice the size with the plays `first` to `last`, the others being forgotten."""
    new = maker.plays(2 * len(old.number))
    for number in range(first, last + 1):
        here, there = old.row_of(number), new.row_of(number)
        new.number[there] = old.number[here]
        new.start[there] = old.start[here]
        new.delay[there] = old.delay[here]
    return new


def claim(desk: Desk, number: int, arm: Any) -> None:
    """Say in the table whose the play `number` is, if it is one of this desk's arms."""
    desk.plays.arm[desk.plays.row_of(number)] = arm.index if arm.desk is desk else NOBODY
