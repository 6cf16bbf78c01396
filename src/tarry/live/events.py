"""Events of a journal, what they do to a core, and how a core comes back from a journal."""

from typing import Any

from tarry.errors import JournalError, LiveError
from tarry.live import state
from tarry.live.core import Core
from tarry.live.plays import Told
from tarry.live.store.sqlite import (
    ADD,
    ASK,
    CANCEL,
    FAIL,
    PAUSE,
    REMOVE,
    TELL,
    Event,
    Journal,
    damaged,
)
from tarry.policies.label import policy_label
from tarry.policies.protocol import Policy, Setting


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


def new_core(policy: Policy, settings: dict[str, Any]) -> Core:
    """A core in which nothing happened yet."""
    setting = Setting(
        arms=len(settings["arms"]),
        max_delay=settings["max_delay"],
        horizon=settings["horizon"],
        reward=settings["payoff"] == "reward",
    )
    return Core(
        policy,
        settings["arms"],
        setting,
        settings["seed"],
        remembered=settings["remembered"],
    )


def restored(policy: Policy, journal: Journal) -> Core:
    """The core as it was when the journal ends."""
    core = new_core(policy, journal.settings)
    try:
        state.plain(core.open.rule)
    except TypeError as error:
        raise JournalError(
            f"The rule of {policy_label(policy)} holds {error}, which a journal cannot keep; use "
            f"numbers, arrays and NamedTuples of them, or no path."
        ) from error
    try:
        if journal.snapshot is not None:
            state.load(core, journal.snapshot.body)
        for event in journal.events:
            replay(core, event)
    except (ValueError, KeyError, TypeError, LiveError) as error:
        why = f"it does not fit this version of the policy ({str(error).rstrip('.')})"
        raise damaged(journal.path, why) from error
    journal.events.clear()
    journal.snapshot = None
    return core
