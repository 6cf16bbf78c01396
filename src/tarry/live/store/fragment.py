"""Facts whose beginning is lost: what can still be learnt from them."""

from collections.abc import Iterable, Sequence
from typing import Any

from tarry.live import state
from tarry.live.arms import regroup
from tarry.live.core import Core
from tarry.live.facts import ADD, CANCEL, FAIL, RETURN, START, Fact, apply
from tarry.live.register import Register
from tarry.live.restore import new_core
from tarry.policies import by_name


def longest_run(numbers: Iterable[int]) -> list[int]:
    """The most numbers that follow each other without a gap."""
    ordered = sorted(numbers)
    best, begin = range(0), 0
    for k, number in enumerate(ordered):
        if k and number != ordered[k - 1] + 1:
            begin = k
        if k + 1 - begin > len(best):
            best = range(begin, k + 1)
    return [ordered[k] for k in best]


def without_beginning(settings: dict[str, Any], facts: Sequence[Fact]) -> bytes | None:
    """A snapshot of what these facts say, with the plays before them taken for cancelled.

    None if they say nothing: no play begins in them, or they do not fit each other.
    """
    first = next((f.play for f in facts if f.kind == START and f.play is not None), None)
    if first is None:
        return None
    try:
        core = _with_all_arms(settings)
        core.register = Register(first)
        core.ended = first
        core.kept = core.cancelled = first - 1
        for desk in core.desks():
            for edge in range(len(desk.ages.reached)):
                desk.ages.reached[edge] = first
        for fact in facts:
            earlier = fact.kind in (RETURN, FAIL, CANCEL) and (fact.play or 0) < first
            known = fact.kind == ADD and fact.name in core.arms
            if not earlier and not known:
                apply(core, fact)
        return state.dump(core)
    except Exception:  # noqa: BLE001  # whatever a damaged file can bring about
        return None


def _with_all_arms(settings: dict[str, Any]) -> Core:
    """A core of all arms that there ever were, the later one where two had the same name."""
    slots = settings["slots"]
    core = new_core(by_name("Uniform")(), settings | {"arms": [str(k) for k in range(len(slots))]})
    for arm, name in zip(core.slots, slots, strict=True):
        arm.name = name
    core.arms = {arm.name: arm for arm in core.slots}
    regroup(core)
    return core
