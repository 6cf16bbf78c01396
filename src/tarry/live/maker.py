"""How desks are made, and how arms change desks.

When an arm moves, both desks are made anew from `policy.start`, and every array of rule and ledger
says itself what becomes of it (`tarry.arrays`): the part of an arm goes with the arm, what belongs
to no arm in particular is kept, and positions in the list of arms start afresh. A sweep therefore
begins with all arms active: an arm that another one had beaten must be looked at again if that
other one is gone, and the evidence kept removes it again if it is not.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tarry.arrays import arrays_of, is_tuple
from tarry.errors import LiveError
from tarry.ledger import Ledger, empty_ledger
from tarry.live.desk import Desk
from tarry.plays import NOBODY, Ages, Plays, empty_plays, no_ages
from tarry.policies.check import check_rule, rule_edges
from tarry.policies.label import policy_label
from tarry.randomness import Random

FIRST_ROWS = 64


class Maker:
    """Makes desks for one policy."""

    def __init__(
        self, policy: Any, max_delay: int, start: Callable[[int], Any], rng: Random
    ) -> None:
        """`start` gives a fresh rule for a number of arms."""
        self.policy = policy
        self._start = start
        first = start(1)
        check_rule(first, policy)
        self.ours = type(first).__module__.startswith("tarry.")
        self.edges = rule_edges(first, policy, max_delay)
        self.max_delay = max_delay
        self.rng = rng

    def rule(self, arms: int) -> Any:
        """A fresh rule; those of the package with lists for arrays, which interpret faster."""
        return self._kind(self._start(arms))

    def ledger(self, arms: int) -> Ledger:
        """An empty ledger, of the same kind."""
        return self._kind(empty_ledger(arms))

    def plays(self, rows: int = FIRST_ROWS) -> Plays:
        """An empty table, of the same kind."""
        return self._kind(empty_plays(rows - 1))

    def ages(self) -> Ages:
        """No play has reached any age, of the same kind."""
        return self._kind(no_ages(self.max_delay, self.edges))

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
        return Desk(
            self.policy,
            arms,
            self.rule(size) if rule is None else rule,
            self.ledger(size) if ledger is None else ledger,
            self.plays() if plays is None else plays,
            self.ages() if ages is None else ages,
            self.rng,
        )

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
    column[:] = whose.tolist() if isinstance(column, list) else whose
    return column
