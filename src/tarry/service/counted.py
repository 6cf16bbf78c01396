"""What a view needs to know of an agent: copied while its lock is held, put in order afterwards.

Nobody can ask while the lock is held, so all that is not copying waits until it is free again.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tarry.arrays import IntArray
from tarry.live.core import Core
from tarry.live.curve import Estimate
from tarry.live.explain import Silent
from tarry.live.explain_regime import present_estimate, regime_of
from tarry.live.inside import find_inside
from tarry.live.plays import Arm, Counts
from tarry.live.register import FAILED, NONE, OUT, RETURNED
from tarry.live.void import void_alarm
from tarry.policies.change.regimes import Regimes
from tarry.policies.elimination.sweep import Sweep
from tarry.policies.label import policy_label

LATELY = 2000  # plays
LATEST = 50  # of an arm
REST = 10  # turns of all arms without being chosen: the arm rests
LEAST_REST = 100  # plays without being chosen


class Own(NamedTuple):
    """Counters of an arm, copied."""

    slot: int
    name: str
    paused: bool
    plays: int
    returned: int
    closed: int
    cancelled: int
    failed: int
    vanished: int
    void: int


class Copied(NamedTuple):
    """An agent at a moment, as it is."""

    arms: list[Own]
    removed: tuple[int, int]  # arms, and their plays
    counts: Counts
    reward: bool
    policy: str
    features: list[str]  # what the choice may depend on
    now: int
    max_delay: int
    slots: int
    recent: list[int]  # slots of the latest choices
    oldest: int  # number of the first play that is remembered
    slot: IntArray  # of the plays that are remembered
    start: IntArray
    status: IntArray
    reported: IntArray | None  # ages with a lease: what was last said, NONE if nothing was
    silent: list[tuple[int, int]]  # leases that ran out unnoticed: place of the play, what it took
    warning: str  # void plays differ among the arms by more than chance
    edges: IntArray
    events: IntArray  # (arms, bins + 1), as in `tarry.live.curve`
    sums: IntArray
    cut: IntArray
    over_slot: IntArray  # plays that ended and are not in the curves yet
    over_delay: IntArray
    out_of_sweep: set[str]  # arms that an elimination has put aside
    changed: list[tuple[float | None, float | None]] | None
    present: list[Estimate] | None  # of the present regime, where the policy asks for regimes


class ArmCount(NamedTuple):
    """One arm, in plays and ticks."""

    own: Own
    share: float  # of the recent choices
    closed: int  # with those that have reached D while nobody noticed
    vanished: int  # with those whose lease ran out unnoticed
    void: int
    ages: IntArray  # of the plays that are out, the oldest first
    last_start: int | None  # of the plays that are remembered
    recently: tuple[int, int]  # plays that ended lately, and how many of them failed
    rested: bool
    changed: tuple[float, float] | None  # seconds since its present regime began, how sure that is


class Counted(NamedTuple):
    """An agent at a moment, by arm."""

    arms: list[ArmCount]
    copied: Copied
    events: IntArray  # (arms, bins + 1), with all plays that ended
    sums: IntArray
    cut: IntArray  # the plays that are out included
    lately: tuple[IntArray, IntArray]  # arms and ages of the latest plays, out or not


def copied(core: Core, now: int) -> Copied:
    """Copy; nothing is changed by looking."""
    arms, register = list(core.arms.values()), core.register
    known = register.look(register.oldest, register.last + 1)
    gone = [arm for arm in core.slots if arm.desk is None]
    edges = np.array(arms[0].curve.edges if arms else [core.max_delay])
    shape = len(arms), len(edges)
    over = register.rows(core.tally.over[:])
    follows = find_inside(core.open.rule, Regimes) is not None
    return Copied(
        arms=[own(arm) for arm in arms],
        removed=(len(gone), sum(arm.plays for arm in gone)),
        counts=core.counts(now),
        reward=bool(core.setting.reward),
        policy=policy_label(core.policy),
        features=[] if core.requests.features is None else list(core.requests.features.kinds),
        now=now,
        max_delay=core.max_delay,
        slots=len(core.slots),
        recent=list(core.recent),
        oldest=register.oldest,
        slot=known.slot.copy(),
        start=known.start.copy(),
        status=known.status.copy(),
        reported=None if core.leases is None else known.watched.copy(),
        silent=silent_plays(core, now),
        warning="" if core.leases is None else void_alarm(core, now),
        edges=edges,
        events=np.array([a.curve.events for a in arms]).reshape(shape[0], shape[1] + 1),
        sums=np.array([a.curve.sums for a in arms]).reshape(shape),
        cut=np.array([a.curve.cut for a in arms]).reshape(shape[0], shape[1] + 1),
        over_slot=over.slot,
        over_delay=over.delay,
        out_of_sweep=set_aside(core),
        changed=[regime_of(arm, now) for arm in arms] if follows else None,
        present=present_regimes(core, arms) if follows else None,
    )


def own(arm: Arm) -> Own:
    """The counters of an arm."""
    return Own(
        arm.slot,
        arm.name,
        arm.paused,
        arm.plays,
        arm.returned,
        arm.closed,
        arm.cancelled,
        arm.failed,
        arm.vanished,
        arm.void,
    )


def silent_plays(core: Core, now: int) -> list[tuple[int, int]]:
    """The plays whose leases have run out though nobody has noticed, and NONE where they are void.

    Given by their place among the plays that are remembered.
    """
    leases = core.leases
    if leases is None:
        return []
    found = []
    for number in Silent(core, now).numbers:
        age = leases.age(number)
        found.append((number - core.register.oldest, NONE if age == NONE else leases.booked(age)))
    return found


def set_aside(core: Core) -> set[str]:
    """The arms that a policy of elimination plays no longer."""
    sweep = find_inside(core.open.rule, Sweep)
    if sweep is None:
        return set()
    active = set(np.asarray(sweep.active)[: int(sweep.position[0])].tolist())
    return {arm.name for arm in core.open.arms if arm.index not in active}


def present_regimes(core: Core, arms: Sequence[Arm]) -> list[Estimate]:
    """The means of the present regimes."""
    curves = core.tally.curves(core.register, arms)
    return [present_estimate(arm, curves[arm.slot].estimate()) for arm in arms]


def counted(c: Copied) -> Counted:
    """By arm, with what was not yet folded into the curves."""
    arms = len(c.arms)
    place = np.full(c.slots, -1)
    place[[arm.slot for arm in c.arms]] = np.arange(arms)
    owner = place[c.slot]
    events, sums, cut = c.events.copy(), c.sums.copy(), c.cut.copy()
    mine = place[c.over_slot] >= 0
    fold(c.edges, events, sums, place[c.over_slot[mine]], c.over_delay[mine])
    out = (c.status == OUT) & (owner >= 0)
    gone, void = ran_out(c, owner, out)
    fold(c.edges, events, sums, owner[gone[:, 0]], gone[:, 1])
    age = (c.now - c.start if c.reported is None else c.reported)[out]
    whose = owner[out]
    over = age >= c.max_delay
    np.add.at(events[:, -1], whose[over], 1)
    closed = np.bincount(whose[over], minlength=arms)
    age, whose = age[~over], whose[~over]
    heard = age != NONE
    np.add.at(cut, (whose[heard], np.searchsorted(c.edges, age[heard], side="right")), 1)
    order = np.argsort(whose, kind="stable")  # the oldest stays first
    bounds = np.searchsorted(whose[order], np.arange(1, arms))
    ages = np.split(np.maximum(age[order], 0), bounds)
    more = closed, np.bincount(owner[gone[:, 0]], minlength=arms), void
    lately = owner[-LATELY:], c.now - c.start[-LATELY:]
    return Counted(arm_rows(c, owner, place, more, ages), c, events, sums, cut, lately)


def ran_out(c: Copied, owner: IntArray, out: IntArray) -> tuple[IntArray, IntArray]:
    """Leases that ran out unnoticed: those plays are out no more.

    Pairs of place and time of those that vanished, and void plays by arm.
    """
    pairs = np.array(c.silent, np.int64).reshape(-1, 2)
    pairs = pairs[owner[pairs[:, 0]] >= 0]
    out[pairs[:, 0]] = False
    unheard = pairs[:, 1] == NONE
    void = np.bincount(owner[pairs[unheard, 0]], minlength=len(c.arms))
    return pairs[~unheard], void


def fold(
    edges: IntArray, events: IntArray, sums: IntArray, owner: IntArray, delay: IntArray
) -> None:
    """Plays ended: as `DelayCurve.came_back`, for many arms."""
    where = np.searchsorted(edges, delay, side="right")
    np.add.at(events, (owner, where), 1)
    early = where < len(edges)
    np.add.at(sums, (owner[early], where[early]), delay[early])


def arm_rows(
    c: Copied,
    owner: IntArray,
    place: IntArray,
    more: tuple[IntArray, IntArray, IntArray],
    ages: list[IntArray],
) -> list[ArmCount]:
    """Each arm: its share, when it was last played, and how its latest plays ended.

    `more` are plays closed, vanished and void of each arm that nobody has noticed yet.
    """
    arms = len(c.arms)
    last = np.full(arms, -1)
    last[owner[owner >= 0]] = np.flatnonzero(owner >= 0)  # the latest one stays
    whose, status = owner[-LATELY:], c.status[-LATELY:]
    answered = (whose >= 0) & ((status == RETURNED) | (status == FAILED))
    ended = np.minimum(np.bincount(whose[answered], minlength=arms), LATEST).tolist()
    failed = [0] * arms
    for k in np.unique(whose[answered & (status == FAILED)]).tolist():
        failed[k] = int((status[answered & (whose == k)][-LATEST:] == FAILED).sum())
    recent = place[c.recent] if c.recent else np.empty(0, np.int64)
    share = (np.bincount(recent + 1, minlength=arms + 1)[1:] / max(len(recent), 1)).tolist()
    missed = (len(owner) - 1 - last).tolist()  # choices since its last one
    pause = max(LEAST_REST, REST * arms)
    rows = []
    for k, arm in enumerate(c.arms):
        idle = missed[k] >= pause and arm.plays > 0
        since = (None, None) if c.changed is None else c.changed[k]
        rows.append(
            ArmCount(
                own=arm,
                share=share[k],
                closed=arm.closed + int(more[0][k]),
                vanished=arm.vanished + int(more[1][k]),
                void=arm.void + int(more[2][k]),
                ages=ages[k],
                last_start=int(c.start[last[k]]) if last[k] >= 0 else None,
                recently=(ended[k], failed[k]),
                rested=not arm.paused and (idle or arm.name in c.out_of_sweep),
                changed=None if since[0] is None or since[1] is None else (since[0], since[1]),
            )
        )
    return rows
