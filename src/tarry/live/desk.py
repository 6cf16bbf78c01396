"""A desk: a rule and its ledger for some of the arms, and how arms move between desks.

A rule knows the arms 0..K-1 and may choose any of them. Live, arms come, go and pause while plays
are out. An agent therefore has two desks: one whose rule chooses among the open arms, and one that
goes on booking what paused arms still bring. When an arm moves, both desks are made anew from
`policy.start`, and what belongs to an arm is carried over with it:

* array fields of a rule that grow with the number of arms are arm-major; the arm's block moves;
* other arrays of real numbers (the threshold B, say) are kept; other arrays of whole numbers are
  positions in a list of arms and start afresh; plain numbers follow from the setting;
* a sweep starts afresh with all arms active: an arm that another one had beaten must be looked at
  again if that other one is gone, and the evidence kept removes it again if it is not.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from tarry.errors import LiveError
from tarry.ledger import Ledger, empty_ledger
from tarry.policies.label import policy_label
from tarry.policies.elimination.sweep import Sweep

PER_ARM = ("plays", "seen", "seen_sum", "start_sum", "complete", "complete_sum", "spacing")


class Seat(Protocol):
    """What a desk needs to know of an arm: where its evidence is."""

    desk: "Desk | None"
    index: int


class Desk:
    """The rule and the ledger of `arms`, in their order."""

    def __init__(self, arms: Sequence[Any], rule: Any, ledger: Ledger) -> None:
        self.arms = list(arms)
        self.rule = rule
        self.ledger = ledger
        self.returned: Callable[..., None] | None = getattr(rule, "returned", None)
        self.outlived: Any = getattr(rule, "outlived", None)
        self.withdrawn: Callable[..., None] | None = getattr(rule, "withdrawn", None)

    def seat(self) -> "Desk":
        """From now on the evidence of these arms is here."""
        for index, arm in enumerate(self.arms):
            arm.desk = self
            arm.index = index
        return self


class Maker:
    """Makes desks for one policy."""

    def __init__(self, policy: Any, start: Callable[[int], Any]) -> None:
        """`start` gives a fresh rule for a number of arms."""
        self.policy = policy
        self._start = start
        self.ours = type(start(1)).__module__.startswith("tarry.")

    def rule(self, arms: int) -> Any:
        """A fresh rule; those of the package with lists for arrays, which interpret faster."""
        rule = self._start(arms)
        return listed(rule) if self.ours else rule

    def ledger(self, arms: int) -> Ledger:
        """An empty ledger, of the same kind."""
        ledger = empty_ledger(arms)
        return listed(ledger) if self.ours else ledger

    def fresh(self, arms: Sequence[Any]) -> Desk:
        """A desk where nothing happened yet."""
        return Desk(arms, self.rule(len(arms)), self.ledger(len(arms)))

    def moved(self, arms: Sequence[Any], donor: Desk) -> Desk:
        """A desk for `arms` with what they bring along; `donor` gives what belongs to no arm.

        The arms stay seated where they are until `seat`.
        """
        fresh = self.rule(len(arms))
        if not is_tuple(fresh):
            raise LiveError(
                f"The rule of {policy_label(self.policy)} is a {type(fresh).__name__}, not a "
                f"NamedTuple, so its arms cannot change; make a new agent with the arms you want."
            )
        blocks = [a.desk.rule if a.desk else None for a in arms]
        places = [a.index for a in arms]
        _carry(fresh, self.rule(len(arms) + 1), donor.rule, blocks, places)
        ledger = self.ledger(len(arms))
        _carry_ledger(ledger, arms, donor.ledger)
        return Desk(arms, fresh, ledger)


def is_tuple(value: Any) -> bool:
    """Whether `value` is a NamedTuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def listed(value: Any) -> Any:
    """A NamedTuple with lists in the place of arrays, at all depths."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if is_tuple(value):
        return type(value)(*(listed(field) for field in value))
    return value


def _carry(
    fresh: Any, larger: Any, donor: Any, blocks: Sequence[Any], places: Sequence[int]
) -> None:
    """Write what arms and donor bring into a fresh rule; `larger` has one arm more."""
    for k, (new, more, old) in enumerate(zip(fresh, larger, donor, strict=True)):
        olds = [block[k] if block is not None else None for block in blocks]
        if isinstance(new, Sweep):
            continue
        if is_tuple(new):
            _carry(new, more, old, olds, places)
        elif hasattr(new, "__setitem__"):
            size = len(more) - len(new)
            if size == 0 and len(new) and isinstance(new[0], float | np.floating):
                new[:] = old
            elif size and len(new) == size * len(places):
                for i, (source, place) in enumerate(zip(olds, places, strict=True)):
                    if source is not None:
                        block = source[place * size : (place + 1) * size]
                        new[i * size : (i + 1) * size] = block


def _carry_ledger(ledger: Ledger, arms: Sequence[Seat], donor: Ledger) -> None:
    for name in PER_ARM:
        column = getattr(ledger, name)
        for i, arm in enumerate(arms):
            if arm.desk is not None:
                column[i] = getattr(arm.desk.ledger, name)[arm.index]
    ledger.phase[0], ledger.phase[1] = donor.phase[0], donor.phase[1]
    first, end = donor.sweeps_ends[0], donor.sweeps_ends[1]
    room, donors = len(ledger.sweeps) // 2, len(donor.sweeps) // 2
    for k in range(min(end - first, room)):  # the smallest sweeps come first
        place = (first + k) % donors
        ledger.sweeps[2 * k] = donor.sweeps[2 * place]
        ledger.sweeps[2 * k + 1] = donor.sweeps[2 * place + 1]
        ledger.sweeps_ends[1] = k + 1
