"""Which line of a user's rule reads or writes outside an array.

Compiled code tells that an index was out of range, not where. The run is therefore made again, from
the same seed to the same step, and that step is left to the interpreter, which does tell.
"""

import copy
from collections.abc import Callable
from typing import Any

from tarry.errors import PolicyError
from tarry.policies.outside import goes_outside
from tarry.problems.changing_world import ChangingWorld
from tarry.problems.context_world import ContextWorld
from tarry.problems.world import World

Arguments = tuple[Any, ...]
Advance = Callable[[Arguments, int], Arguments]  # plays up to and including a step


class OutOfRange(Exception):  # noqa: N818  # a signal inside of the simulator
    """An index was out of range between two steps, both included."""

    def __init__(self, first: int, last: int) -> None:
        super().__init__(first, last)
        self.first, self.last = first, last


def blamed(policy: Any, where: OutOfRange) -> PolicyError:
    """What to tell whoever wrote the rule."""
    steps = f" between steps {where.first} and {where.last}"
    return goes_outside(policy, where.__cause__, otherwise=steps)


def found_again(
    fresh: Callable[[], Arguments], where: OutOfRange, compiled: Advance, interpreted: Advance
) -> OutOfRange:
    """What happened in a compiled run, as the interpreter tells it; as it is, if it does not."""
    arguments = fresh()
    first, last = where.first, where.last
    if first > 1:
        arguments = compiled(arguments, first - 1)
    while first < last:  # the step is not before `first`, which is next, and not after `last`
        middle = (first + last) // 2
        ahead = _copied(arguments)
        try:
            arguments = compiled(ahead, middle)
        except OutOfRange:
            last = middle
        else:
            first = middle + 1
    try:
        interpreted(arguments, last)
    except OutOfRange as told:
        return told
    return where


def _copied(arguments: Arguments) -> Arguments:
    """All of a run that changes; the world, which may be large, does not."""
    kept = {
        id(part): part
        for part in arguments
        if isinstance(part, World | ContextWorld | ChangingWorld)
    }
    return copy.deepcopy(arguments, kept)
