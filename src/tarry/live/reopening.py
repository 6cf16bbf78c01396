"""A play that was taken to have reached D had come back in time: its closing is taken back.

Sums and ages are put right. A rule that cannot take back what it heard keeps it.
"""

from tarry.live.core import Core
from tarry.live.register import FAILED
from tarry.plays import COMPLETE, FIRST_EDGE
from tarry.policies.driver import correct_ages
from tarry.policies.protocol import returned


def reopen(core: Core, number: int, status: int, delay: int) -> None:
    """Play `number`, closed at D, came back with this status and delay."""
    register = core.register
    row = number & register.mask
    arm = core.slots[register.slot[row]]
    core.fold()
    arm.curve.outlasted(delay)
    for counted in (arm, core):
        counted.closed -= 1
        counted.returned += 1
        counted.failed += status == FAILED
    register.status[row], register.delay[row] = status, delay
    desk = arm.desk
    if desk is None:
        return
    ledger, ages, place = desk.ledger, desk.ages, number & (len(desk.plays.number) - 1)
    less = core.max_delay - delay
    ledger.seen_sum[arm.index] -= less
    if ages.reached[COMPLETE] > number:
        ledger.complete_sum[arm.index] -= less
    desk.plays.delay[place] = delay
    if len(ages.edges) > FIRST_EDGE:
        correct_ages(desk.heard, ledger, desk.plays, ages, place, delay, core.now)
        returned(desk.heard, desk.plays, place, core.now, desk.rng)
