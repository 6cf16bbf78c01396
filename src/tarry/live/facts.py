"""Facts: what happened to an agent, in order and with the time. They are the truth.

    START     play number `play` began, of the arm with slot `value`; -1: the rule chose to stop;
              `name` is the context of the request, as JSON, if there is one
    RETURN    it came back: after `value` ticks, or just now if that is None
    FAIL      it ended in failure
    CANCEL    nobody watches it any longer
    ADD, REMOVE, PAUSE, RESUME     what became of the arm `name`
    TIME      time went on to here without a play: a decision failed, or others are to hear of it
    POLICY    from here on the policy `name` decides
    CENSOR    nobody watches any of the plays that are out any longer
    REPORT    play number `play` has lasted `value` ticks so far, and is still out
    LISTEN    nothing could be heard since the fact before, and can be again: leases begin anew
    WATCHED   the agent was closed: plays that are out were watched until here, and nothing is told
              of them that an agent without a break would not have told

That a play is closed at D, or that its lease has run out, follows from the times, and is no fact of
its own. Evidence is a fold
over facts (`apply`): a start has its arm, and nothing is decided again when a store is read.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tarry.live import refusals
from tarry.live.arms import add_arm, arm_of_slot, pause_arm, remove_arm
from tarry.live.censor import censor
from tarry.live.core import Core
from tarry.live.plays import Told

START, RETURN, CANCEL, FAIL, ADD, REMOVE, PAUSE, RESUME, TIME, POLICY, CENSOR = range(1, 12)
REPORT, LISTEN, WATCHED = 12, 13, 14
STOPPED = -1  # the slot of a start that was none


Row = tuple[int, int, int | None, int | None, str | None]  # the same without names, made sooner


class Fact(NamedTuple):
    """One thing that happened, at tick `time`."""

    kind: int
    time: int
    play: int | None = None  # its number
    value: int | None = None  # the slot of its arm, or the delay that was told or reported
    name: str | None = None  # of an arm or a policy; of a start, the context


def check_end(core: Core, kind: int, delay: int | None) -> None:
    """Refuse a report without a lease, and with one an end whose time is to be measured."""
    if kind == REPORT and core.leases is None:
        raise refusals.no_lease()
    if kind == RETURN and delay is None and core.leases is not None:
        raise refusals.no_delay()


def apply(core: Core, fact: Fact) -> Told | bool:
    """Let a fact happen to the core."""
    kind, time, number, value, name = fact
    if kind == START:
        core.requests.expect(name or "")
        _start(core, number or 0, value, time)
    elif kind == RETURN:
        return core.tell(number or 0, value, time)
    elif kind == FAIL:
        return core.fail(number or 0, time)
    elif kind == CANCEL:
        return core.cancel(number or 0, time)
    elif kind == REPORT:
        return core.report(number or 0, value or 0, time)
    elif kind in OF_TIME:
        OF_TIME[kind](core, time)
    elif kind != POLICY:
        change_arms(core, kind, name or "", time)
    return True


def _watch(core: Core, time: int) -> None:
    core.now = time


OF_TIME: Mapping[int, Callable[[Core, int], object]] = {
    TIME: Core.settle,
    WATCHED: _watch,
    LISTEN: Core.listen,
    CENSOR: censor,
}


def _start(core: Core, number: int, slot: int | None, time: int) -> None:
    core.recall(time)
    if slot == STOPPED:
        return
    if number != core.asked + 1:
        raise ValueError(f"play {number} follows play {core.asked}")
    core.start(arm_of_slot(core, slot), time)


def change_arms(core: Core, kind: int, name: str, time: int) -> None:
    """What becomes of the arm `name`."""
    if kind == ADD:
        add_arm(core, name, time)
    elif kind == REMOVE:
        remove_arm(core, name, time)
    elif kind in (PAUSE, RESUME):
        pause_arm(core, name, time, paused=kind == PAUSE)
    else:
        raise ValueError(f"a fact of kind {kind}")
