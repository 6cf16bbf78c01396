"""The state of a core as plain data, and back, bit for bit."""

import json
from typing import Any

import numpy as np

from tarry.arrays import is_tuple
from tarry.ledger import Ledger
from tarry.live.core import Core
from tarry.live.desk import Desk
from tarry.live.plays import Arm, Entry, Status
from tarry.plays import CANCELLED, Plays

NUMBERS = (
    *("now", "slots", "asked", "returned", "closed", "cancelled", "late", "failed"),
    *("failures", "ended", "oldest"),
)
ARM_NUMBERS = ("plays", "returned", "closed", "cancelled", "late", "failed")
STATUSES = list(Status)


def dump(core: Core) -> bytes:
    """Everything that decides what `core` does next."""
    entries = core.entries.values()
    body = {
        "numbers": [getattr(core, name) for name in NUMBERS],
        "reached": plain(core.open.ages.reached),
        "recent": list(core.recent),
        "arms": [_dump_arm(arm) for arm in core.arms.values()],
        "open": _dump_desk(core.open),
        "paused": None if core.paused is None else _dump_desk(core.paused),
        "entries": [
            [e.arm.slot for e in entries],
            [e.start for e in entries],
            [e.delay for e in entries],
            [STATUSES.index(e.status) for e in entries],
            [e.late for e in entries],
        ],
    }
    return json.dumps(body, separators=(",", ":")).encode()


def load(core: Core, body: bytes) -> None:
    """Bring a fresh `core` of the same settings into the state that was dumped."""
    state = json.loads(body)
    for name, value in zip(NUMBERS, state["numbers"], strict=True):
        setattr(core, name, value)
    core.recent.extend(state["recent"])
    core.arms = {arm["name"]: _load_arm(core, arm) for arm in state["arms"]}
    arms = core.arms.values()
    plays = core.maker.plays(core.asked + 2 - core.ended)
    core.open = _load_desk(core, [a for a in arms if not a.paused], plays, state["open"])
    if state["paused"] is not None:
        resting = [a for a in arms if a.paused]
        core.paused = _load_desk(core, resting, plays, state["paused"])
    for desk in core.desks():
        desk.ages.reached[:] = state["reached"]  # type: ignore[index]  # a list or an array
    _load_entries(core, state["entries"])
    _fill_tables(core)


def _dump_arm(arm: Arm) -> dict[str, Any]:
    curve, pace = arm.curve, arm.pace
    return {
        "slot": arm.slot,
        "name": arm.name,
        "paused": arm.paused,
        "numbers": [getattr(arm, name) for name in ARM_NUMBERS],
        "curve": [curve.events, curve.sums, curve.squares, curve.cut],
        "pace": [pace.count, list(pace.times), pace.hull],
    }


def _load_arm(core: Core, saved: dict[str, Any]) -> Arm:
    arm = Arm(saved["slot"], saved["name"], core.max_delay)
    arm.paused = saved["paused"]
    for name, value in zip(ARM_NUMBERS, saved["numbers"], strict=True):
        setattr(arm, name, value)
    arm.curve.events, arm.curve.sums, arm.curve.squares, arm.curve.cut = saved["curve"]
    count, times, hull = saved["pace"]
    arm.pace.count = count
    arm.pace.times.extend(times)
    arm.pace.hull = [(number, time) for number, time in hull]
    return arm


def _load_entries(core: Core, columns: list[list[int]]) -> None:
    by_slot = {arm.slot: arm for arm in core.arms.values()}
    core.entries = {}
    core.out = {}
    rows = zip(*columns, strict=True)
    for number, (slot, start, delay, status, late) in enumerate(rows, core.oldest):
        if slot not in by_slot:  # an arm removed since, of which nothing else is known
            by_slot[slot] = Arm(slot, "", core.max_delay)
        entry = Entry(number, by_slot[slot], start)
        entry.delay = delay
        entry.status = STATUSES[status]
        entry.late = late
        core.entries[number] = entry
        if entry.status is Status.OUT:
            core.out[number] = entry


def _dump_desk(desk: Desk) -> dict[str, Any]:
    return {
        "size": len(desk.ledger.plays),
        "rule": plain(desk.rule),
        "ledger": plain(desk.ledger),
    }


def _fill_tables(core: Core) -> None:
    """The rows of the plays that may still bring something."""
    plays = core.open.plays
    for number in range(core.ended, core.asked + 1):
        entry, row = core.entries[number], plays.row_of(number)
        plays.number[row] = number
        plays.start[row] = entry.start
        gone = entry.status is Status.CANCELLED
        plays.delay[row] = CANCELLED - entry.delay if gone else entry.delay
        if entry.arm.desk is not None:
            entry.arm.desk.plays.arm[row] = entry.arm.index


def _load_desk(core: Core, arms: list[Arm], plays: Plays, saved: dict[str, Any]) -> Desk:
    rule: Any = core.maker.rule(saved["size"])
    ledger: Ledger = core.maker.ledger(saved["size"])
    _fill(rule, saved["rule"])
    _fill(ledger, saved["ledger"])
    table = plays._replace(arm=core.maker.plays(len(plays.number)).arm)
    return core.maker.desk(arms, rule=rule, ledger=ledger, plays=table).seat()


def plain(value: Any) -> Any:
    """A rule or ledger as lists and numbers; TypeError if something else is in it."""
    if is_tuple(value):
        return [plain(field) for field in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bool | int | float | str | list) or value is None:
        return value
    raise TypeError(f"a {type(value).__name__}")


def _fill(fresh: Any, saved: Any) -> None:
    """Write saved arrays into a fresh rule of the same shape; its plain numbers must agree."""
    if len(fresh) != len(saved):
        raise ValueError(f"{len(saved)} fields in the place of {len(fresh)}")
    for new, old in zip(fresh, saved, strict=True):
        if is_tuple(new):
            _fill(new, old)
        elif isinstance(new, list | np.ndarray):
            if len(new) != len(old):
                raise ValueError(f"{len(old)} numbers in the place of {len(new)}")
            new[:] = old
        elif plain(new) != old:
            raise ValueError(f"{old!r} in the place of {new!r}")
