"""Events of a journal, and what they do to a core."""

from tarry.live.core import Core
from tarry.live.journal import ADD, ASK, CANCEL, FAIL, PAUSE, REMOVE, TELL, Event
from tarry.live.plays import Told


def apply(core: Core, event: Event) -> Told | bool:
    """Let an event other than an ask happen."""
    number, name = event.play or 0, event.name or ""
    if event.kind == TELL:
        return core.tell(number, event.value, event.time)
    if event.kind == FAIL:
        return core.fail(number, event.time)
    if event.kind == CANCEL:
        return core.cancel(number, event.time)
    if event.kind == ADD:
        core.add_arm(name, event.time)
    elif event.kind == REMOVE:
        core.remove_arm(name, event.time)
    else:
        core.pause_arm(name, event.time, paused=event.kind == PAUSE)
    return True


def replay(core: Core, event: Event) -> None:
    """Let an event of the journal happen again; an ask must choose the same arm as before."""
    if event.kind != ASK:
        apply(core, event)
        return
    entry = core.ask(event.time)
    slot = -1 if entry is None else entry.arm.slot
    if slot != event.play:
        raise ValueError(f"arm number {slot} is chosen where {event.play} was")
