"""How desks are made, and how arms change desks.

When an arm moves, both desks are made anew from `policy.start`, and every array of rule and ledger
says itself what becomes of it (`tarry.arrays`): the part of an arm goes with the arm, what belongs
to no arm in particular is kept, and positions in the list of arms start afresh. A sweep therefore
begins with all arms active: an arm that another one had beaten must be looked at again if that
other one is gone, and the evidence kept removes it again if it is not.

Interpreted, lists are quicker than arrays, so the rules of the package get lists, and the table
arrays of Python's own, which become NumPy's without being copied.
"""

from array import array
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tarry.arrays import arrays_of, is_tuple, is_writable
from tarry.errors import LiveError
from tarry.inspection import in_package, is_ours
from tarry.ledger import Ledger, empty_ledger
from tarry.live.desk import INTERPRETED, Desk, Steps
from tarry.live.guard import Guarded
from tarry.live.leased_desk import LeasedDesk
from tarry.plays import ALL, AT_ONCE, NOBODY, Ages, Plays, empty_plays, no_ages, wide
from tarry.policies.check import check_rule, rule_edges
from tarry.policies.label import policy_label
from tarry.policies.own_code import code_fingerprint, rule_fingerprint
from tarry.randomness import Random

if TYPE_CHECKING:
    from tarry.live.lease import Leases

FIRST_ROWS = 64


class Maker:
    """Makes desks for one policy."""

    def __init__(
        self,
        policy: Any,
        max_delay: int,
        start: Callable[[int], Any],
        rng: Random,
        features: int = 0,
        leases: "Leases | None" = None,
    ) -> None:
        """`start` gives a fresh rule for a number of arms."""
        self.leases = leases  # of plays whose ages are reported
        self.policy = policy
        self._start = start
        first = start(1)
        check_rule(first, policy)
        self.ours = is_ours(first)
        self.steps = INTERPRETED
        self.edges = rule_edges(first, policy, max_delay)
        self.max_delay = max_delay
        self.features = features
        self.rng = listed(rng) if self.ours else rng
        self.apart = False  # whether plays are started apart from where they are decided on
        self.unheard = 0  # facts at which a user's rule failed

    @cached_property
    def code(self) -> str:
        """The fingerprint of a user's code; it may have changed since the last process."""
        if self.ours and in_package(type(self.policy)):
            return ""
        return f"{code_fingerprint(self.policy)} {rule_fingerprint(self._start(1))}".strip()

    @property
    def listed(self) -> bool:
        """Whether lists are used for arrays."""
        return self.ours and self.steps is INTERPRETED

    def rule(self, arms: int) -> Any:
        """A fresh rule."""
        return listed(self._start(arms)) if self.listed else self._start(arms)

    def ledger(self, arms: int) -> Ledger:
        """An empty ledger."""
        return listed(empty_ledger(arms)) if self.listed else empty_ledger(arms)

    def plays(self, rows: int = FIRST_ROWS) -> Plays:
        """An empty table."""
        table = empty_plays(rows - 1, features=self.features)
        if self.listed:
            return Plays(*map(of_python, table))
        return table if self.ours else wide(table)

    def ages(self) -> Ages:
        """No play has reached any age."""
        ages = no_ages(self.max_delay, self.edges, ALL if self.apart else AT_ONCE)
        return listed(ages) if self.listed else ages

    def desk(
        self,
        arms: Sequence[Any],
        *,
        rule: Any = None,
        ledger: Ledger | None = None,
        plays: Plays | None = None,
        ages: Ages | None = None,
    ) -> Desk:
        """A desk for `arms`, with fresh parts where none are given."""
        size = len(arms)
        leases = self.leases
        bare = Desk(self.policy, arms)
        return self._furnished(
            bare if leases is None else LeasedDesk(self.policy, arms, leases),
            self.rule(size) if rule is None else rule,
            self.ledger(size) if ledger is None else ledger,
            self.plays() if plays is None else plays,
            self.ages() if ages is None else ages,
        )

    def random(self) -> Random:
        """The source of randomness, in arrays."""
        return Random(np.array(self.rng.words, np.uint64))

    def examples(self) -> tuple[Any, Ledger, Plays, Ages]:
        """Rule, ledger, table and ages of the types that compiled steps are made for."""
        ages = no_ages(self.max_delay, self.edges)
        return self._start(1), empty_ledger(1), empty_plays(1), ages

    def switch(self, desks: Sequence[Desk], steps: Steps) -> None:
        """Let all desks, and those made from now on, work with arrays and compiled `steps`."""
        self.steps = steps
        self.rng = self.random()
        common = [of_numpy(column) for column in desks[0].plays]
        for desk in desks:
            size = len(desk.ledger.plays)
            rule, ledger, ages = self.rule(size), self.ledger(size), self.ages()
            fill(rule, desk.rule)
            fill(ledger, desk.ledger)
            fill(ages, desk.ages)
            plays = Plays(*common)._replace(arm=of_numpy(desk.plays.arm))
            self._furnished(desk, rule, ledger, plays, ages)

    def _furnished(self, desk: Desk, rule: Any, ledger: Ledger, plays: Plays, ages: Ages) -> Desk:
        """The desk with these parts; interpreted if they are not what was compiled for."""
        given = types_of((rule, ledger, plays, ages))
        fits = self.steps is INTERPRETED or given == types_of(self.examples())
        steps = self.steps if fits else INTERPRETED
        return desk.furnish(steps, rule, ledger, plays, ages, self.rng, guard=self._guarded)

    def _guarded(self, rule: Any) -> Any:
        """What is told of facts in the place of the rule; our own rules need no guard."""
        return rule if self.ours else Guarded(rule, policy_label(self.policy), self._failed)

    def _failed(self) -> int:
        self.unheard += 1
        return self.unheard

    def moved(self, arms: Sequence[Any], donor: Desk) -> Desk:
        """A desk for `arms` with what they bring along; `donor` gives what belongs to no arm.

        The arms stay seated where they are until `seat`.
        """
        nobody = self.plays(len(donor.plays.number)).arm
        if not arms:  # what the donor gives is kept for the next arm that comes
            plays = donor.plays._replace(arm=nobody)
            return self.desk((), rule=donor.rule, ledger=donor.ledger, plays=plays, ages=donor.ages)
        rule, ledger, ages = self.rule(len(arms)), self.ledger(len(arms)), self.ages()
        self.check_movable(rule)
        olds = [a.desk.rule if a.desk else None for a in arms]
        self._carry(rule, donor.rule, olds, [a.index for a in arms])
        olds = [a.desk.ledger if a.desk else None for a in arms]
        self._carry(ledger, donor.ledger, olds, [a.index for a in arms])
        ages.reached[:] = donor.ages.reached  # type: ignore[index, assignment]  # a list or an array
        plays = donor.plays._replace(arm=_claimed(nobody, arms))
        return self.desk(arms, rule=rule, ledger=ledger, plays=plays, ages=ages)

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

    def _carry(self, fresh: Any, donor: Any, olds: Sequence[Any], places: Sequence[int]) -> None:
        """Write what arms and donor bring into a fresh rule or ledger."""
        found = [
            None if old is None else {path: array for path, array, _ in arrays_of(old)}
            for old in olds
        ]
        common = {path: array for path, array, _ in arrays_of(donor)}
        for path, new, role in arrays_of(fresh):
            if not is_writable(new):  # it follows from the settings, whatever its role is
                continue
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


def types_of(value: Any) -> Any:
    """All that compiled code takes for granted of a value: types, at all depths."""
    if isinstance(value, tuple):
        return type(value), *map(types_of, value)
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.c_contiguous, value.flags.writeable
    return type(value)


def fill(fresh: Any, old: Any) -> None:
    """Write the numbers of a rule, in arrays or lists, into a fresh one of the same shape."""
    for new, (_, numbers, _) in zip(arrays_of(fresh), arrays_of(old), strict=True):
        new[1][:] = numbers


def of_python(column: Any) -> Any:
    """A column of a table in an array of Python's own; with more than one dimension, as it is."""
    return array(column.dtype.char, column.tobytes()) if column.ndim == 1 else column


def of_numpy(column: Any) -> Any:
    """The same numbers, in the same place, as an array of NumPy."""
    return np.asarray(column)


def _claimed(column: Any, arms: Sequence[Any]) -> Any:
    """Whose the plays are at a new desk of `arms`: of nobody, but for those that move there."""
    whose = np.full(len(column), NOBODY, np.int32)
    for desk in {id(a.desk): a.desk for a in arms if a.desk is not None}.values():
        place = np.full(len(desk.arms) + 1, NOBODY, np.int32)  # the last is that of NOBODY
        for new, arm in enumerate(arms):
            if arm.desk is desk:
                place[arm.index] = new
        there = place[np.asarray(desk.plays.arm)]
        whose = np.where(there == NOBODY, whose, there)
    return of_python(whose) if isinstance(column, array) else whose.astype(column.dtype)
