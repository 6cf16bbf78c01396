"""The loop: choose, play, learn. One page that runs compiled or interpreted, to the same arms."""

from typing import Any, NamedTuple

from tarry.arrays import FloatArray, IntArray
from tarry.ledger import Ledger
from tarry.plays import Plays, SteadyAges
from tarry.policies.driver import book_seen, book_start, decide, settle
from tarry.policies.protocol import MOST_FAILED, STOP, follow_phase
from tarry.problems.world import AnyWorld
from tarry.randomness import Random
from tarry.simulation.calendar import Calendar

# The running numbers of a tape.
STEP, LINE, RESTARTS, STOPPED, MISUSED = range(5)
SPARE_RESTARTS = MOST_FAILED  # room on a tape for what one step may bring
NO_ARM, TOO_MANY_FAILURES = 1, 2  # what a rule did wrong, in tape.marks[MISUSED]


class Tape(NamedTuple):
    """What a run leaves behind, and where it stands, so that it can go on in another call."""

    steps: IntArray  # the steps to record, increasing; empty for all of them
    arms: IntArray
    delays: IntArray
    regret: FloatArray
    restarts: IntArray  # steps at which a phase failed
    marks: IntArray  # next step, lines written, restarts, step of a stop or 0, arm out of range
    total: FloatArray  # regret so far


def next_wanted(steps: IntArray, line: int, step: int) -> int:
    """The step that the line of a tape is for: from `step` on the next one to record, or 0."""
    if len(steps) == 0:
        return step
    return int(steps[line]) if line < len(steps) else 0


def run_steps(
    rule: Any,
    ledger: Ledger,
    plays: Plays,
    ages: SteadyAges,
    calendar: Calendar,
    world: AnyWorld,
    gaps: FloatArray,
    tape: Tape,
    rng: Random,
    last: int,
) -> None:
    """Play up to and including step `last`, or until the rule stops or the tape needs room."""
    step = tape.marks[STEP]
    line = tape.marks[LINE]
    total = tape.total[0]
    wanted = next_wanted(tape.steps, line, step)
    arms = len(ledger.plays)
    restarts = tape.marks[RESTARTS]
    while step <= last and restarts + SPARE_RESTARTS <= len(tape.restarts):
        row = plays.row_of(step)
        first = world.meet(plays, row, step)
        arm = decide(rule, ledger, plays, ages, step, step, rng)
        failures = follow_phase(rule, ledger, restarts)
        if failures != restarts:
            if failures < restarts or failures > restarts + SPARE_RESTARTS:
                tape.marks[STOPPED] = step
                tape.marks[MISUSED] = TOO_MANY_FAILURES
                break
            while restarts < failures:
                tape.restarts[restarts] = step
                restarts += 1
        if arm < 0 or arm >= arms:
            tape.marks[STOPPED] = step
            if arm != STOP:
                tape.marks[MISUSED] = NO_ARM
            break
        delay = world.delay(step, first + arm)
        book_start(rule, ledger, plays, row, arm, step)
        calendar.add(row, step + delay)
        total += world.gap(gaps, step, first + arm)
        if step == wanted:
            tape.arms[line] = arm
            tape.delays[line] = delay
            tape.regret[line] = total
            line += 1
            wanted = next_wanted(tape.steps, line, step + 1)
        row = calendar.tear_off(step)
        step += 1
        while row >= 0:  # an answer is seen in the step after the one in which it arrives
            start = step - 1 - plays.row_of(step - 1 - row)  # plays are younger than the table
            book_seen(rule, ledger, plays, row, start, start, step - 1 - start, step, rng)
            row = calendar.next_of[row]
        settle(rule, ledger, plays, ages, step - 1, step)
    tape.marks[STEP] = step
    tape.marks[LINE] = line
    tape.marks[RESTARTS] = restarts
    tape.total[0] = total
