"""A play that is out is cancelled: what is known of it, and what it is booked with.

All that is known is that it takes longer than its age. A rule that follows ages is told which it
has reached, and nothing more. One that lives on sums cannot hold "at least so long": its ledger
gets the mean delay of this arm's plays that last that long, so that long plays are not lost.
"""

from typing import TYPE_CHECKING

import numpy as np

from tarry.live.plays import Arm
from tarry.live.register import CANCELLED

if TYPE_CHECKING:
    from tarry.live.core import Core


def cancel_play(core: "Core", number: int, age: int, now: int) -> None:
    """Nobody watches play `number` any longer, which is out and `age` old, younger than D."""
    register = core.register
    row = number & register.mask
    arm = core.slots[register.slot[row]]
    core.cancelled += 1
    arm.cancelled += 1
    booked = age
    out = _ages_out(core, arm, now)
    if arm.desk is not None:
        ages = np.array([age])
        booked = int(arm.curve.expected_beyond(ages, *out)[0])
        arm.curve.cancelled(ages)
        arm.desk.cancel(number, age, booked, now)
    if core.leases is None:
        arm.count_out(register.start[row] // arm.width, -1)
    else:
        core.leases.drop(number)
    register.status[row], register.delay[row] = CANCELLED, booked
    register.watched[row] = age


def _ages_out(core: "Core", arm: Arm, now: int) -> tuple[list[int], list[int]]:
    """Ages of the plays of an arm that are out, and how many have each; curves are folded."""
    if core.leases is None:
        core.tally.count(core.register, core.slots, core.ended)
        return arm.ages(now)
    core.fold()
    return core.leases.ages(arm)
