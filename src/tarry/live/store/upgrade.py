"""Journals of the first format, which kept events and the state of the policy.

Settings, arms, counts, curves and the plays that it remembered are taken over; the events since its
latest snapshot become facts. The evidence of the policy is made anew from those plays.
"""

import json
import logging
import secrets
import sqlite3
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from tarry.live import curve, state
from tarry.live.facts import START, Fact
from tarry.live.ids import new_identity
from tarry.live.plays import Arm
from tarry.live.register import CANCELLED, Columns
from tarry.live.restore import new_core
from tarry.live.store.carve import carve
from tarry.live.store.opening import check_log, explained, made
from tarry.live.store.recovery import Salvage
from tarry.live.store.schema import (
    ADD_FACT,
    LARGEST,
    check_tables,
    connect,
    damaged,
    fact_crc,
    fact_row,
    good_settings,
    inflated,
    read_facts,
    read_settings,
    split,
    write_part,
)
from tarry.live.store.tail import Snapshot
from tarry.policies import by_name

TABLES = {
    "settings": "CREATE TABLE settings (body TEXT NOT NULL, crc INTEGER NOT NULL)",
    "events": "CREATE TABLE events (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, "
    "time INTEGER NOT NULL, play INTEGER, value INTEGER, name TEXT, crc INTEGER NOT NULL)",
    "snapshots": "CREATE TABLE snapshots (seq INTEGER PRIMARY KEY, body BLOB NOT NULL, "
    "crc INTEGER NOT NULL)",
}
OLD_NUMBERS = (
    *("now", "slots", "asked", "returned", "closed", "cancelled", "late", "failed"),
    *("completed", "ended", "oldest"),
)
log = logging.getLogger("tarry")


def upgraded(path: Path, part: Path) -> None:
    """Write a journal of the present format with what is in an old one, which stays as it is."""
    check_log(path)
    with explained(path):
        db = connect(path)
        try:
            check_tables(db, path, TABLES)
            settings = read_settings(db, path)
            rows = db.execute("SELECT seq, body, crc FROM snapshots ORDER BY seq").fetchall()
            if rows and zlib.crc32(rows[-1][1]) != rows[-1][2]:
                raise damaged(path, "the latest snapshot of its state is unreadable")
            old = json.loads(inflated(rows[-1][1])) if rows else None
            first = rows[-1][0] if rows else 0
            events, stopped = read_facts(db, first, "events")
            if stopped:
                raise damaged(path, stopped)
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            facts = as_facts(events, _asked(old))
            settings, snapshot = converted(settings, first, old, facts)
            made(part, settings)
            _fill(part, snapshot, facts)
        finally:
            db.close()
    asked = settings["ids"][-1][1] - 1
    log.warning("The journal %s, of format 1 with %d plays, is now of format 2.", path, asked)


def salvage_old(source: Path) -> Salvage:
    """All that can be read of an old journal, in the form of a new one."""
    found = Salvage()
    events: dict[int, Fact] = {}
    states: dict[int, Any] = {}
    settings: dict[str, Any] = {}
    for number, row in carve(source, LARGEST):
        if len(row) == 2:
            settings = good_settings(*row) or settings
        elif len(row) == 3 and isinstance(row[1], bytes) and zlib.crc32(row[1]) == row[2]:
            states[number] = json.loads(inflated(row[1]))
        elif len(row) == 7 and fact_crc(number, Fact(*row[1:6])) == row[6]:
            events[number] = Fact(*row[1:6])
    if not settings:
        raise ValueError("its settings are lost")
    first = max(states, default=0)
    following: list[Fact] = []
    while first + len(following) + 1 in events:
        following.append(events[first + len(following) + 1])
    facts = as_facts(following, _asked(states.get(first)))
    found.settings, snapshot = converted(settings, first, states.get(first), facts)
    if snapshot.body is not None:
        found.snapshots.append(snapshot)
    found.facts = dict(enumerate(facts, first + 1))
    return found


def converted(
    settings: dict[str, Any], first: int, old: dict[str, Any] | None, facts: list[Fact]
) -> tuple[dict[str, Any], Snapshot]:
    """Settings and snapshot in the present form."""
    asked = _asked(old) + sum(fact.kind == START and fact.play is not None for fact in facts)
    slots = settings["arms"] if old is None else _names(settings, old)
    new = {key: settings[key] for key in ("policy", "payoff", "max_delay", "horizon", "arms")}
    new |= {key: settings[key] for key in ("seed", "remembered", "created")}
    plain = [0, 1]  # the ids given out so far are plain numbers
    new |= {"slots": slots, "ids": [plain, [new_identity(), asked + 1]]}
    new |= {"file": secrets.randbits(63)}
    return new, Snapshot(first, None if old is None else _body(new, old))


def as_facts(events: list[Fact], asked: int) -> list[Fact]:
    """Events as facts: an ask had the slot in the place of the play."""
    facts = []
    for event in events:
        if event.kind != START:
            facts.append(event)
        elif event.play == -1:
            facts.append(Fact(START, event.time, None, -1))
        else:
            asked += 1
            facts.append(Fact(START, event.time, asked, event.play))
    return facts


def _asked(old: dict[str, Any] | None) -> int:
    return 0 if old is None else int(old["numbers"][OLD_NUMBERS.index("asked")])


def _names(settings: dict[str, Any], old: dict[str, Any]) -> list[str]:
    """Names by slot; that of an arm removed since is known only if it was there from the start."""
    count = int(old["numbers"][OLD_NUMBERS.index("slots")])
    names = [*settings["arms"], *[""] * count][:count]
    for arm in old["arms"]:
        names[arm["slot"]] = arm["name"]
    return names


def _body(settings: dict[str, Any], old: dict[str, Any]) -> bytes:
    """The old state as a snapshot, with the evidence of a policy that keeps none."""
    core = new_core(by_name("Uniform")(), settings)
    numbers = dict(zip(OLD_NUMBERS, old["numbers"], strict=True))
    for name in ("now", "returned", "closed", "cancelled", "late", "failed", "ended"):
        setattr(core, name, numbers[name])
    core.kept = numbers["oldest"] - 1
    core.recent.extend(old["recent"])
    core.slots = [Arm(k, name, core.max_delay) for k, name in enumerate(settings["slots"])]
    core.arms = {}
    for saved in old["arms"]:
        arm = core.slots[saved["slot"]]
        arm.paused = saved["paused"]
        for name, value in zip(state.ARM_NUMBERS, saved["numbers"], strict=True):
            setattr(arm, name, value)
        for name, values in zip(curve.FIELDS, saved["curve"], strict=True):
            getattr(arm.curve, name)[:] = values
        core.arms[arm.name] = arm
    slot, start, delay, status, late = (np.array(c, np.int64) for c in old["entries"])
    watched = np.where(status == CANCELLED, delay, -1)
    core.register.fill(numbers["oldest"], Columns(slot, start, delay, watched, late, status))
    return state.dump(core)


def _fill(part: Path, snapshot: Snapshot, facts: list[Fact]) -> None:
    db: sqlite3.Connection = connect(part)
    try:
        db.execute("BEGIN IMMEDIATE")
        if snapshot.body is not None:
            for piece in split(snapshot, 1 << 18):
                write_part(piece, db)
        rows = (fact_row(seq, fact) for seq, fact in enumerate(facts, snapshot.number + 1))
        db.executemany(ADD_FACT, rows)
        db.execute("COMMIT")
    finally:
        db.close()
