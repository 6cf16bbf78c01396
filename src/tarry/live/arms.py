"""Arms come, go and pause; what their plays have brought, and still bring, goes with them."""

from typing import TYPE_CHECKING

from tarry.errors import InputError
from tarry.live.plays import Arm

if TYPE_CHECKING:
    from tarry.live.core import Core


def new_arm(core: "Core", name: str) -> None:
    """One more arm, which has no desk yet."""
    arm = Arm(len(core.slots), name, core.max_delay)
    core.arms[name] = arm
    core.slots.append(arm)


def add_arm(core: "Core", name: str, now: int) -> None:
    """A new arm, open from now on."""
    if name in core.arms:
        raise InputError(f"There is an arm {name!r} already; give a name that is not in use.")
    core.maker.check_movable(core.open.rule)
    core.now = now
    new_arm(core, name)
    regroup(core)


def remove_arm(core: "Core", name: str, now: int) -> None:
    """Forget an arm; answers of its plays are still accepted, and change nothing."""
    arm = arm_named(core, name)
    core.maker.check_movable(core.open.rule)
    arm.desk = None
    core.now = now
    del core.arms[name]
    regroup(core)


def pause_arm(core: "Core", name: str, now: int, *, paused: bool) -> None:
    """Choose this arm no longer, or again; what its plays bring counts all the time."""
    arm = arm_named(core, name)
    core.maker.check_movable(core.open.rule)
    arm.paused = paused
    core.now = now
    regroup(core)


def arm_named(core: "Core", name: str) -> Arm:
    """The arm of this name."""
    if name not in core.arms:
        have = f"the arms are {', '.join(core.arms)}" if core.arms else "all were removed"
        raise InputError(f"There is no arm {name!r}; {have}.")
    return core.arms[name]


def arm_of_slot(core: "Core", slot: int | None) -> Arm:
    """The arm with this number for life."""
    if slot is None or not 0 <= slot < len(core.slots):
        raise ValueError(f"there is no arm with number {slot}")
    return core.slots[slot]


def regroup(core: "Core") -> None:
    """Give both desks the arms that belong there now."""
    arms = core.arms.values()
    resting = [a for a in arms if a.paused]
    opened = core.maker.moved([a for a in arms if not a.paused], core.open)
    core.paused = core.maker.moved(resting, core.open).seat() if resting else None
    core.open = opened.seat()
