"""Do void plays fall on all arms alike, or is one of them shown or reported otherwise?

Void plays are no evidence, which is right as long as the arm has nothing to do with them: a visitor
who left before the page was there. If they are more frequent with one arm, its script is broken,
say, or it loads slowly, and then the plays that are left are a choice among visitors.

The test holds whenever one looks, and however plays were shared among the arms. With n_i plays of
arm i, v_i of them void, and n and v their sums, let

    e = prod_i B(v_i + 1/2, n_i - v_i + 1/2) / B(1/2, 1/2)  /  ( p^v (1 - p)^(n - v) ),    p = v / n

Above stands a bet on each arm having a rate of its own (Krichevsky and Trofimov 1981), which under
one common rate q is a martingale once divided by q^v (1 - q)^(n - v); below stands the largest of
these. So e is at most a martingale that begins at 1, whatever q is, and by Ville's inequality it
ever reaches 1 / ERROR with probability ERROR at most (universal inference; Wasserman, Ramdas and
Balakrishnan 2020). Only plays older than the lease are counted, of which all is known: among
younger ones those that were heard of are known sooner.
"""

import math
from collections.abc import Sequence

import numpy as np

from tarry.live.core import Core
from tarry.live.plays import Arm
from tarry.live.register import NONE, OUT

ERROR = 0.01  # how often arms that are alike are ever said to differ


def unlike(void: Sequence[int], plays: Sequence[int]) -> float:
    """The logarithm of e for so many void plays among so many plays of each arm."""
    all_void, all_plays = sum(void), sum(plays)
    if all_void in (0, all_plays):
        return 0.0
    one = math.lgamma(0.5) * 2
    bets = sum(
        math.lgamma(v + 0.5) + math.lgamma(n - v + 0.5) - math.lgamma(n + 1.0) - one
        for v, n in zip(void, plays, strict=True)
        if n
    )
    rate = all_void / all_plays
    common = all_void * math.log(rate) + (all_plays - all_void) * math.log1p(-rate)
    return bets - common


def void_alarm(core: Core, now: int) -> str:
    """A sentence if the arms differ by more than chance in how many of their plays are void."""
    arms = list(core.arms.values())
    counted = {arm.slot: counts for arm, counts in zip(arms, _judged(core, arms, now), strict=True)}
    void, plays = zip(*counted.values(), strict=True) if counted else ((), ())
    if unlike(void, plays) < math.log(1.0 / ERROR):
        return ""
    rates = {arm.name: v / n for arm, v, n in zip(arms, void, plays, strict=True) if n}
    worst, least = max(rates, key=rates.__getitem__), min(rates, key=rates.__getitem__)
    return (
        f"Void plays differ by more than chance: {rates[worst]:.0%} of {worst}, {rates[least]:.0%} "
        f"of {least}; see that every arm is shown and reported alike."
    )


def _judged(core: Core, arms: Sequence[Arm], now: int) -> list[tuple[int, int]]:
    """Per arm, void plays and all plays of which one knows by now whether they are void."""
    leases, register = core.leases, core.register
    if leases is None:
        return [(0, 0) for _ in arms]
    young = register.first_younger(register.oldest, now - leases.lease.length)
    recent = register.columns(young, register.last + 1).slot
    waiting = np.bincount(recent, minlength=len(core.slots)).tolist()
    more = [0] * len(core.slots)
    for number in leases.silent(now):
        more[register.slot[number & register.mask]] += leases.age(number) == NONE
    old = register.columns(core.ended, young)  # silent for longer since nobody could hear
    unknown = (old.status == OUT) & (old.watched == NONE)
    unheard = np.bincount(old.slot[unknown], minlength=len(core.slots)).tolist()
    found = []
    for arm in arms:
        void = arm.void + more[arm.slot]
        left = unheard[arm.slot] - more[arm.slot]
        found.append((void, arm.plays - waiting[arm.slot] - left))
    return found
