"""Why an agent chooses as it does, per arm, in numbers and in words."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tarry.errors import UnknownArmError
from tarry.live.clock import to_seconds
from tarry.live.core import Core
from tarry.live.curve import Estimate
from tarry.live.explain_regime import in_words, present_estimate, regime_of
from tarry.live.inside import find_inside
from tarry.live.plays import Arm, Counts
from tarry.live.register import NONE, OUT
from tarry.live.void import void_alarm
from tarry.policies.elimination.sweep import Sweep
from tarry.policies.label import policy_label
from tarry.tables import aligned

FEW = 10  # answers below which an estimate is mostly guessing
BY_REQUEST = "its mean is over the requests it was chosen for: explain(context=...) compares arms"


@dataclass(frozen=True)
class ArmReport:
    """One arm; times are in seconds."""

    arm: str
    plays: int
    returned: int
    pending: int
    oldest_pending: float | None  # the age of the oldest play still out
    closed: int
    cancelled: int
    failed: int
    late: int
    mean: float  # estimate of the mean delay, plays still out included
    low: float  # approximate 95 % interval
    high: float
    share: float  # of the recent choices
    paused: bool
    why: str
    since: float | None = None  # when its present regime began, as seconds ago; None if nobody asks
    sure: float | None = None  # how likely it is that it began about then
    vanished: int = 0  # of the returned ones: their leases ran out after a report
    void: int = 0  # never heard of: no evidence


@dataclass(frozen=True)
class Explanation(Mapping[str, ArmReport]):
    """What an agent knows: a report for each arm, by its name; `str` of it is a table."""

    policy: str
    payoff: str
    counts: Counts
    arms: tuple[ArmReport, ...]
    warning: str = ""  # void plays differ among the arms by more than chance
    by_request: bool = False  # the agent has features: which arm is best depends on the request

    @property
    def probing(self) -> float:
        """What recent choices cost on average over always taking the best mean, in seconds.

        For a reward: what they brought less. NaN where the best arm depends on the request.
        """
        if self.by_request:
            return math.nan
        means = [row.mean for row in self.arms if not row.paused and row.plays]
        if not means:
            return 0.0
        best = max(means) if self.payoff == "reward" else min(means)
        return sum(row.share * abs(row.mean - best) for row in self.arms)

    def __getitem__(self, name: str) -> ArmReport:
        """The report on the arm of this name."""
        for row in self.arms:
            if row.arm == name:
                return row
        raise UnknownArmError.among(name, self)

    def __iter__(self) -> Iterator[str]:
        """The names of the arms."""
        return (row.arm for row in self.arms)

    def __len__(self) -> int:
        """How many arms there are."""
        return len(self.arms)

    def __str__(self) -> str:
        """A table for people."""
        head = ("arm", "plays", "back", "out", "oldest", "mean", "95 % interval", "share", "why")
        rows = [head]
        for a in self.arms:
            oldest = "-" if a.oldest_pending is None else seconds(a.oldest_pending)
            interval = f"{seconds(a.low)} .. {seconds(a.high)}"
            numbers = (str(a.plays), str(a.returned), str(a.pending), oldest)
            rows.append((a.arm, *numbers, seconds(a.mean), interval, f"{a.share:.0%}", a.why))
        title = f"{self.policy}, {self.payoff}: {_sum(self.counts)}"
        told = f"Choices other than the best mean cost {seconds(self.probing)} per play lately."
        follows = any(row.since is not None for row in self.arms)
        last = [told] if follows and not self.by_request else []
        last += [_void(self.arms)] if self.counts.void else []
        last += [self.warning] if self.warning else []
        return "\n".join([title, *aligned(rows, left=(0, len(head) - 1)), *last])


def explanation(core: Core, now: int) -> Explanation:
    """The state of `core` at tick `now`; nothing is changed by looking."""
    arms = list(core.arms.values())
    register = core.register
    known = register.columns(register.oldest, register.last + 1)
    out = known.status == OUT
    silent = Silent(core, now)
    if core.leases is not None:
        out[np.array(silent.numbers, np.int64) - register.oldest] = False
    age = now - known.start[out] if core.leases is None else known.watched[out]
    slot = known.slot[out]
    ages = {arm.slot: age[slot == arm.slot] for arm in arms}
    overdue = {place: int((own >= core.max_delay).sum()) for place, own in ages.items()}
    curves = core.tally.curves(register, arms)
    for place, curve in curves.items():
        curve.came_back(silent.booked(place))
    estimates = {
        place: curve.estimate(np.minimum(ages[place][ages[place] != NONE], core.max_delay))
        for place, curve in curves.items()
    }
    estimates |= {arm.slot: present_estimate(arm, estimates[arm.slot]) for arm in arms}
    shares = {arm.slot: core.recent.count(arm.slot) / max(len(core.recent), 1) for arm in arms}
    payoff = "reward" if core.setting.reward else "cost"
    rows = []
    for arm in arms:
        since, sure = regime_of(arm, now)
        e, own = estimates[arm.slot], ages[arm.slot][overdue[arm.slot] :]
        gone, void = len(silent.booked(arm.slot)), silent.void(arm.slot)
        row = ArmReport(
            arm=arm.name,
            plays=arm.plays,
            returned=arm.returned + gone,
            pending=len(own),
            oldest_pending=to_seconds(max(int(own.max()), 0)) if len(own) else None,
            closed=arm.closed + overdue[arm.slot],
            cancelled=arm.cancelled,
            failed=arm.failed,
            late=arm.late,
            mean=e.mean / 1e6,
            low=e.low / 1e6,
            high=e.high / 1e6,
            share=shares[arm.slot],
            paused=arm.paused,
            why=_why(core, arm, estimates, overdue) + in_words(since, sure, seconds(since or 0.0)),
            since=since,
            sure=sure,
            vanished=arm.vanished + gone,
            void=arm.void + void,
        )
        rows.append(row)
    label = policy_label(core.policy)
    by_request = core.requests.features is not None
    told = core.counts(now), tuple(rows), void_alarm(core, now)
    return Explanation(label, payoff, *told, by_request=by_request)


class Silent:
    """Plays whose leases have run out though nobody has noticed yet."""

    def __init__(self, core: Core, now: int) -> None:
        leases, register = core.leases, core.register
        self.numbers = [] if leases is None else leases.silent(now)
        self._ended: dict[int, list[int]] = {}  # by slot: what is booked for them
        self._void: Counter[int] = Counter()
        if leases is None:
            return
        for number in self.numbers:
            slot, age = register.slot[number & register.mask], leases.age(number)
            if age == NONE:
                self._void[slot] += 1
            else:
                self._ended.setdefault(slot, []).append(leases.booked(age))

    def booked(self, slot: int) -> list[int]:
        """What those of an arm took that were once heard of."""
        return self._ended.get(slot, [])

    def void(self, slot: int) -> int:
        """How many of an arm were never heard of."""
        return self._void[slot]


def seconds(value: float) -> str:
    """A time in a unit that suits it."""
    if value >= 100:
        return f"{value:.0f} s"
    if value >= 1:
        return f"{value:.2f} s"
    return f"{value * 1e3:.1f} ms" if value >= 1e-3 else f"{value * 1e6:.0f} us"


def _sum(c: Counts) -> str:
    return (
        f"{c.asked} asked = {c.returned} returned + {c.pending} pending + {c.closed} closed + "
        f"{c.cancelled} cancelled{f' + {c.void} void' * (c.void > 0)}; {c.late} late"
    )


def _void(arms: tuple[ArmReport, ...]) -> str:
    parts = ", ".join(f"{row.arm} {row.void}" for row in arms if row.void)
    return f"Void, never heard of: {parts}."


def _why(core: Core, arm: Arm, estimates: dict[int, Estimate], overdue: dict[int, int]) -> str:
    """In words why `arm` is or is not chosen."""
    if arm.paused:
        return "paused: not chosen until it is resumed"
    if arm.plays == 0:
        return "never played yet"
    opened: list[Arm] = core.open.arms
    sign = -1.0 if core.setting.reward else 1.0
    best = min(opened, key=lambda a: sign * estimates[a.slot].mean)
    sweep = find_inside(core.open.rule, Sweep)
    return (sweep is not None and _turn(core, arm, best, sweep)) or _rank(
        core, arm, best, estimates, arm.returned + arm.closed + overdue[arm.slot]
    )


def _turn(core: Core, arm: Arm, best: Arm, sweep: Sweep) -> str:
    """Where `arm` stands in a sweep; nothing to say if it is the only one left."""
    better = "longest" if core.setting.reward else "shortest"
    active = [int(sweep.active[k]) for k in range(int(sweep.position[0]))]
    if arm.index not in active:
        return f"out: surely worse than another arm, {best.name} being the {better}"
    return f"in turn: {len(active)} arms may still be the {better}" if len(active) > 1 else ""


def _rank(core: Core, arm: Arm, best: Arm, estimates: dict[int, Estimate], answers: int) -> str:
    """How `arm` compares with the best one, after so many answers.

    Where requests differ its mean is over those it was chosen for, and says nothing of others.
    """
    reward = core.setting.reward
    mine, theirs = estimates[arm.slot], estimates[best.slot]
    if core.requests.features is not None:
        return BY_REQUEST
    if arm is best:
        return f"{'longest' if reward else 'shortest'} mean so far"
    if answers < FEW:
        return f"tried now and then: only {answers} answer{'s' * (answers != 1)} so far"
    if (mine.high < theirs.low) if reward else (mine.low > theirs.high):
        return f"rarely: clearly {'shorter' if reward else 'longer'} than {best.name}"
    return f"tried now and then: may still be as good as {best.name}"
