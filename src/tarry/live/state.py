"""The state of a core as bytes, and back, bit for bit.

Evidence and what decisions keep are apart from all that does not depend on the policy (the plays,
the arms, the counts). `load` brings the latter back in any case; `load_desks` brings the former
back if it is that of the same policy, and else `tarry.live.rebuild` makes it from the plays.
"""

from typing import Any

import numpy as np

from tarry.arrays import IntArray, Role, arrays_of, is_tuple, is_writable
from tarry.live import curve
from tarry.live.arms import arm_of_slot
from tarry.live.core import Core
from tarry.live.desk import Desk
from tarry.live.packed import packed, unpacked
from tarry.live.plays import Arm
from tarry.live.register import CANCELLED, OUT, VOID, Columns
from tarry.plays import CANCELLED as GONE
from tarry.plays import NOBODY
from tarry.policies.label import policy_label

OF_PLAYS = ("ahead", "note")  # columns of the table that no register has
NUMBERS = ("now", "returned", "closed", "cancelled", "late", "failed", "failures", "ended", "kept")
ARM_NUMBERS = ("plays", "returned", "closed", "cancelled", "late", "failed")


def dump(core: Core) -> bytes:
    """Everything that decides what `core` does next."""
    core.fold()
    register = core.register
    columns: dict[str, Any] = dict(
        register.look(register.oldest, register.last + 1)._asdict().items()
    )
    columns["recent"] = list(core.recent)
    columns["keys"] = list(core.requests.keys.values())
    columns["ages"] = core.open.ages.reached
    table = core.open.plays
    numbers = np.arange(core.ended, register.last + 1)
    for name in OF_PLAYS:
        columns[name] = np.asarray(getattr(table, name))[numbers & (len(table.number) - 1)]
    arms = core.arms.values()
    for name in curve.FIELDS:
        parts = [getattr(arm.curve, name) for arm in arms]
        columns[f"curve.{name}"] = np.concatenate(parts) if parts else []
    columns["pace"] = [x for arm in arms for x in arm.pace.numbers()]
    meta: dict[str, Any] = {
        "policy": policy_label(core.policy),
        "code": core.maker.code,
        "numbers": [getattr(core, name) for name in NUMBERS],
        "oldest": register.oldest,
        "slots": [[arm.name, *(getattr(arm, n) for n in ARM_NUMBERS)] for arm in core.slots],
        "arms": [[arm.slot, arm.paused, len(arm.pace.numbers())] for arm in arms],
        "desks": {},
        "requests": core.requests.listed(register.oldest, register.last + 1),
        "keys": "\n".join(core.requests.keys),
    }
    if core.leases is not None:
        heard = core.leases.heard
        columns["heard.number"], columns["heard.time"] = list(heard), list(heard.values())
        meta["leases"] = [[core.vanished, core.void], *([a.vanished, a.void] for a in core.slots)]
    for place, desk in zip(("open", "paused"), core.desks(), strict=False):
        meta["desks"][place] = [len(desk.ledger.plays), numbers_of(desk.rule)]
        for part, value in (("rule", desk.rule), ("ledger", desk.ledger)):
            for path, array, _ in arrays_of(value):
                columns[f"{place}.{part}.{path}"] = array
    return packed(meta, columns)


def load(core: Core, body: bytes) -> tuple[dict[str, Any], dict[str, IntArray]]:
    """Bring a fresh `core` into the state that was dumped, but for its desks; what was unpacked."""
    meta, columns = unpacked(body)
    for name, value in zip(NUMBERS, meta["numbers"], strict=True):
        setattr(core, name, value)
    core.recent.extend(columns["recent"].tolist())
    core.slots = []
    for name, *numbers in meta["slots"]:
        arm = Arm(len(core.slots), name, core.max_delay)
        core.slots.append(arm)
        for field, number in zip(ARM_NUMBERS, numbers, strict=True):
            setattr(arm, field, number)
    arms = [arm_of_slot(core, slot) for slot, _, _ in meta["arms"]]
    core.arms = {arm.name: arm for arm in arms}
    _load_arms(arms, meta, columns)
    core.register.fill(meta["oldest"], Columns(*(columns[name] for name in Columns._fields)))
    texts = enumerate(meta.get("requests", ()), meta["oldest"])
    core.requests.texts = {number: text for number, text in texts if text}
    core.requests.take_keys(
        meta.get("keys", ""), columns["keys"].tolist() if meta.get("keys") else ()
    )
    _check(core)
    if core.leases is not None:
        _load_leases(core, meta["leases"], columns)
    return meta, columns


def load_desks(core: Core, meta: dict[str, Any], columns: dict[str, IntArray]) -> None:
    """Bring back the evidence, and what decisions keep; ValueError if it is that of another rule.

    Fields are known by their names. One that says how evidence is made (`Constant`, or a plain
    number) must be as it was.
    """
    if meta["policy"] != policy_label(core.policy):
        raise ValueError(f"the policy was {meta['policy']}")
    if meta.get("code", "") != core.maker.code:
        raise ValueError("the code of the policy was another")
    plays = core.maker.plays(len(core.register.start))
    fresh = {}
    for place in meta["desks"]:
        arms = [arm for arm in core.arms.values() if arm.paused == (place == "paused")]
        size, numbers = meta["desks"][place]
        if size != len(arms) and (arms or place == "paused" or size > len(core.slots)):
            raise ValueError(f"{size} arms in the place of {len(arms)}")
        rule, ledger = core.maker.rule(size), core.maker.ledger(size)
        if numbers_of(rule) != numbers:
            raise ValueError(f"{numbers} in the place of {numbers_of(rule)}")
        for part, value in (("rule", rule), ("ledger", ledger)):
            for path, array, role in arrays_of(value):
                _fill(array, columns[f"{place}.{part}.{path}"], role, path)
        table = plays._replace(arm=core.maker.plays(len(plays.number)).arm)
        fresh[place] = core.maker.desk(arms, rule=rule, ledger=ledger, plays=table)
    core.open = fresh["open"].seat()
    core.paused = fresh["paused"].seat() if "paused" in fresh else None
    for desk in core.desks():
        _fill(desk.ages.reached, columns["ages"], None, "ages")
    fill_tables(core)
    numbers = np.arange(core.ended, core.register.last + 1)
    for name in columns.keys() & set(OF_PLAYS):  # files of earlier versions have none
        _write(core.open, name, numbers & (len(plays.number) - 1), columns[name])


def fill_tables(core: Core) -> None:
    """Write the plays that may still bring something into the tables of the desks."""
    register = core.register
    numbers = np.arange(core.ended, register.last + 1)
    known = register.columns(core.ended, register.last + 1)
    delay = np.where(known.status == CANCELLED, GONE - known.delay, known.delay)
    for desk in core.desks():
        places = np.full(len(core.slots) + 1, NOBODY)
        for arm in desk.arms:
            places[arm.slot] = arm.index
        rows = numbers & (len(desk.plays.number) - 1)
        _write(desk, "arm", rows, np.where(known.status == VOID, NOBODY, places[known.slot]))
        for name, column in (("number", numbers), ("start", known.start), ("delay", delay)):
            _write(desk, name, rows, column)
    if core.requests.features is not None:
        for number in numbers.tolist():
            core.requests.show_again(core.open.plays, number)


def numbers_of(rule: Any, path: str = "") -> list[list[Any]]:
    """The plain values of a rule by their paths; TypeError for what nobody can keep."""
    found: list[list[Any]] = []
    if not is_tuple(rule):
        raise TypeError(f"a {type(rule).__name__}")
    for name, value in zip(rule._fields, rule, strict=True):
        if is_tuple(value):
            found += numbers_of(value, f"{path}{name}.")
        elif isinstance(value, np.generic):
            found.append([path + name, value.item()])
        elif isinstance(value, bool | int | float | str) or value is None:
            found.append([path + name, value])
        elif not isinstance(value, list | np.ndarray):
            raise TypeError(f"a {type(value).__name__}")
    return found


def _load_arms(arms: list[Arm], meta: dict[str, Any], columns: dict[str, IntArray]) -> None:
    """The curves and the pace of each arm."""
    for name in curve.FIELDS:
        column, place = columns[f"curve.{name}"], 0
        for arm in arms:
            fresh = getattr(arm.curve, name)
            fresh[:] = column[place : place + len(fresh)]
            place += len(fresh)
        if place != len(column):
            raise ValueError(f"{len(column)} numbers for the curves")
    paces, place = columns["pace"].tolist(), 0
    for arm, (_, paused, size) in zip(arms, meta["arms"], strict=True):
        arm.paused = bool(paused)
        arm.pace.take(paces[place : place + size])
        place += size


def _load_leases(core: Core, counts: list[list[int]], columns: dict[str, IntArray]) -> None:
    """When the plays that are out were last heard of, and how many leases ran out."""
    (core.vanished, core.void), *by_slot = counts
    for arm, (vanished, void) in zip(core.slots, by_slot, strict=True):
        arm.vanished, arm.void = vanished, void
    numbers, times = (columns[f"heard.{name}"].tolist() for name in ("number", "time"))
    register, leases = core.register, core.leases
    known = register.columns(register.oldest, register.last + 1).status == OUT
    if set(numbers) != set((np.flatnonzero(known) + register.oldest).tolist()):
        raise ValueError("leases of plays that are not out")
    if leases is not None:
        leases.heard.update(zip(numbers, times, strict=True))
        leases.count_anew()


def _check(core: Core) -> None:
    """Refuse what cannot be: numbers that point nowhere."""
    register = core.register
    known = register.columns(register.oldest, register.last + 1)
    slots = len(core.slots)
    fits = (
        1 <= register.oldest <= core.ended <= register.last + 1
        and (not len(known.slot) or (known.slot.min() >= 0 and known.slot.max() < slots))
        and bool((np.diff(known.start) >= 0).all())
        and all(0 <= slot < slots for slot in core.recent)
    )
    if not fits:
        raise ValueError("the plays do not fit each other")


def _fill(array: Any, saved: IntArray, role: Role | None, path: str) -> None:
    """Write saved numbers into an array of a fresh rule."""
    if len(array) != len(saved):
        raise ValueError(f"{len(saved)} numbers in the place of {len(array)} for {path}")
    if (role is not None and role.name == "Constant") or not is_writable(array):
        if not np.array_equal(np.asarray(array), saved):
            raise ValueError(f"other numbers for {path}")
        return
    array[:] = saved.tolist() if isinstance(array, list) else saved


def _write(desk: Desk, name: str, rows: IntArray, values: IntArray) -> None:
    """Write into a column of the table of plays, whatever kind of array it is."""
    np.asarray(getattr(desk.plays, name))[rows] = values
