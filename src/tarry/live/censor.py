"""All plays that are out are given up at once: what a process does with those of an earlier one.

As many cancellations, one by one, would look at the curve of an arm once for each play. Here each
curve is looked at once, as it is before any of them: what a play is booked with does not depend on
which of the others was given up first.
"""

import numpy as np

from tarry.live.core import Core
from tarry.live.passing import close_old
from tarry.live.register import CANCELLED, CLOSED, OUT
from tarry.policies.driver import give_up


def censor(core: Core, now: int) -> int:
    """Nobody watches the plays that are out any longer; how many there were."""
    core.now = now
    while now > core.due:
        close_old(core, now)
    register = core.register
    number = register.first_out(max(core.watched, core.ended))
    while (
        number <= register.last and now - register.start[number & register.mask] >= core.max_delay
    ):
        core.book(number, CLOSED, core.max_delay)  # exactly D old: given up now, it took D
        number = register.first_out(number + 1)
    for desk in core.desks():
        left = True
        while left:  # a call tells of so many, and no more
            before = np.array(desk.ages.reached)
            desk.settle(core.register.last, now)
            left = bool((before != np.array(desk.ages.reached)).any())
    core.fold()
    known = register.columns(core.ended, register.last + 1)
    out = np.flatnonzero(known.status == OUT)
    rows = (core.ended + out) & register.mask
    ages = now - known.start[out]
    booked = ages.copy()
    for slot in np.unique(known.slot[out]).tolist():
        arm, mine = core.slots[slot], known.slot[out] == slot
        arm.cancelled += int(mine.sum())
        if arm.desk is not None:
            booked[mine] = arm.curve.expected_beyond(ages[mine], ages[mine])
            arm.curve.cancelled(ages[mine])
    for name, values in (("status", CANCELLED), ("delay", booked), ("watched", ages)):
        column = getattr(register, name)
        np.frombuffer(column, dtype=column.typecode)[rows] = values
    for number, place, delay in zip(
        (core.ended + out).tolist(), known.slot[out].tolist(), booked.tolist(), strict=True
    ):
        desk = core.slots[place].desk
        if desk is not None:
            row = number & (len(desk.plays.number) - 1)
            give_up(desk.heard, desk.ledger, desk.plays, desk.ages, row, delay, now, desk.rng)
    core.cancelled += len(out)
    core.tally.lose_count()
    return len(out)
