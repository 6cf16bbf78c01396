"""Time goes by for a core: what is D old is closed, and rows of what is over are used again."""

from typing import TYPE_CHECKING

from tarry.live.desk import grow
from tarry.live.register import BLOCK, CLOSED
from tarry.live.tally import MUCH
from tarry.plays import AT_ONCE, COMPLETE

if TYPE_CHECKING:
    from tarry.live.core import Core


def let_pass(core: "Core", now: int) -> None:
    """Time goes on to `now`: close what is D old, settle paused arms, make room for a play."""
    core.now = now
    if now > core.due:
        close_old(core, now)
    if (core.register.last + 1) % BLOCK == 0:
        make_room(core, now)
    if core.paused is not None:
        core.paused.settle(core.register.last, now)


def close_old(core: "Core", now: int) -> None:
    """Close plays that are out and older than D, the earliest first; of very many, some.

    Where ages are reported, those whose leases have run out.
    """
    if core.leases is not None:
        core.leases.run_out(now)
        return
    register, limit = core.register, now - core.max_delay
    number = register.first_out(max(core.watched, core.ended))
    for _ in range(AT_ONCE):
        if number > register.last or register.start[number & register.mask] >= limit:
            break
        core.book(number, CLOSED, core.max_delay)
        number = register.first_out(number + 1)
    core.watched = number
    earliest = register.start[number & register.mask] if number <= register.last else now
    core.due = earliest + core.max_delay


def make_room(core: "Core", now: int) -> None:
    """See to it that the next plays have rows, if need be those of plays that are over."""
    register, desks = core.register, core.desks()
    older = register.first_younger(core.ended, now - core.max_delay - core.grace - 1)
    told = min(int(desk.ages.reached[COMPLETE]) for desk in desks)
    core.ended = max(core.ended, min(older, core.watched, told))
    free = min(core.ended - core.remembered, core.kept + 1)
    if len(core.tally.over) >= MUCH or free > core.tally.first:
        core.fold()
    register.oldest = max(register.oldest, free)
    core.requests.forget(register.oldest)
    register.make_room()
    while register.last + 1 + BLOCK - core.ended > len(core.open.plays.number):
        grow(desks)
