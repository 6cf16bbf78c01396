"""The loop: choose, play, learn. One page that runs compiled or interpreted, to the same arms."""

from typing import Any, NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.ledger import Ledger
from tarry.policies.protocol import STOP, outlived, returned
from tarry.problems.world import World
from tarry.simulation.calendar import Calendar

# The running numbers of a tape.
STEP, ROW, RESTARTS, STOPPED, MISUSED = range(5)
# A test may fail several times at once when history is kept: at most log2(D) < 32 times.
SPARE_RESTARTS = 64


class Tape(NamedTuple):
    """What a run leaves behind, and where it stands, so that it can go on in another call."""

    steps: IntArray  # the steps to record, increasing; empty for all of them
    arms: IntArray
    delays: IntArray
    regret: FloatArray
    restarts: IntArray  # steps at which a phase failed
    marks: IntArray  # next step, rows written, restarts, step of a stop or 0, arm out of range
    total: FloatArray  # regret so far


def run_steps(
    rule: Any,
    ledger: Ledger,
    calendar: Calendar,
    world: World,
    gaps: FloatArray,
    tape: Tape,
    rng: np.random.Generator,
    last: int,
) -> None:
    """Play up to and including step `last`, or until the rule stops or the tape needs room."""
    step = tape.marks[STEP]
    row = tape.marks[ROW]
    total = tape.total[0]
    every = len(tape.steps) == 0
    arms = len(gaps)
    while step <= last and tape.marks[RESTARTS] + SPARE_RESTARTS <= len(tape.restarts):
        arm = rule.select(ledger, step, step, rng)
        while tape.marks[RESTARTS] < ledger.phase[1]:
            tape.restarts[tape.marks[RESTARTS]] = step
            tape.marks[RESTARTS] += 1
        if arm < 0 or arm >= arms:
            tape.marks[STOPPED] = step
            if arm != STOP:
                tape.marks[MISUSED] = 1
            break
        delay = world.delay(step, arm)
        ledger.book_play(arm, step)
        calendar.add(step, arm, delay)
        total += gaps[arm]
        if every or (row < len(tape.steps) and tape.steps[row] == step):
            tape.arms[row] = arm
            tape.delays[row] = delay
            tape.regret[row] = total
            row += 1
        step += 1
        settle(rule, ledger, calendar, step, rng)
    tape.marks[STEP] = step
    tape.marks[ROW] = row
    tape.total[0] = total


def settle(
    rule: Any, ledger: Ledger, calendar: Calendar, now: int, rng: np.random.Generator
) -> None:
    """Book what becomes known when time reaches `now`.

    Answers with start + delay = now - 1 are seen, those of one step with the latest play first.
    The play that started at now - D is complete. Then plays still out that reach an edge.
    """
    mask = len(calendar.due) - 1
    day = (now - 1) & mask
    place = calendar.due[day]
    calendar.due[day] = -1
    while place >= 0:
        arm = calendar.arm_of[place]
        delay = calendar.delay_of[place]
        start = now - 1 - delay
        if ledger.book_return(start, arm, start, delay):
            returned(rule, arm, delay, rng)
        place = calendar.next_of[place]
    start = now - calendar.max_delay
    if start >= 1:
        place = start & mask
        ledger.book_complete(start, calendar.arm_of[place], start, calendar.delay_of[place])
    for edge in range(len(calendar.edges)):
        age = calendar.edges[edge]
        start = now - age
        if start >= ledger.phase[0] and start >= 1:
            place = start & mask
            if calendar.delay_of[place] >= age:
                outlived(rule, calendar.arm_of[place], edge)
