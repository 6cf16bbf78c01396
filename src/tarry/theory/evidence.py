"""What was known at each moment of a recorded run of successive elimination.

This rebuilds, from the arms and delays of a run, what the ledger held, without playing it again:
everything is sorted and added up in arrays, so that a run of a million steps takes a second.
"""

import math
from collections import deque
from typing import Any, NamedTuple, Protocol

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.errors import InputError
from tarry.problems.problem import Problem


class Recorded(Protocol):
    """What is needed of a run: `tarry.Run` has it when every step was recorded."""

    @property
    def policy(self) -> Any:
        """Whose run it was; whether it keeps history is looked up."""

    @property
    def horizon(self) -> int:
        """T."""

    @property
    def steps(self) -> IntArray:
        """1, 2, 3, ..."""

    @property
    def arms(self) -> IntArray:
        """The arm of each step."""

    @property
    def delays(self) -> IntArray:
        """The delay of each play."""

    @property
    def restarts(self) -> IntArray:
        """The steps that begin a new phase."""

    @property
    def failed_at(self) -> int | None:
        """The step before which the rule stopped."""


class Evidence(NamedTuple):
    """One row per play of a finished sweep: what was known of its arm at time `now`.

    All within one phase; sums are of delays, not of payoffs.
    """

    now: IntArray  # t, the next step to be played
    arm: IntArray
    plays: IntArray  # n
    missing: IntArray  # m
    missing_age: IntArray  # the ages of the missing plays, added up
    seen_sum: IntArray
    complete: IntArray  # |F|
    complete_sum: IntArray
    total: IntArray  # the delays of all n plays, which the policy does not know yet
    spacing: IntArray  # |S|, or R where history is kept
    log_term: FloatArray  # L

    @property
    def window(self) -> IntArray:
        """Plays of the arm in the last D steps."""
        return self.plays - self.complete


class Sweeps(NamedTuple):
    """The sweeps of a run, found again in the order of its arms."""

    number: IntArray  # of the sweep that each play belongs to
    last: IntArray  # step of its last play
    spacing: IntArray  # its size, or the smallest size among the sweeps of the last D steps
    finished: int  # how many surely were full: at the horizon the last one may be cut


def evidence(run: Recorded, problem: Problem, *, after: str = "sweep") -> Evidence:
    """The evidence after every sweep (when the rule tests) or after every single "play".

    The last sweep before the horizon is left out: it may be cut, and is then followed by no test.
    """
    steps = np.asarray(run.steps, np.int64)
    if not np.array_equal(steps, np.arange(1, len(steps) + 1)):
        raise InputError(
            f"The run has {len(steps)} recorded steps of {run.horizon}; give one with all steps, "
            f"played without record=..."
        )
    kept = keeps_history(run.policy)
    sweeps = find_sweeps(run, problem.max_delay, kept=kept)
    phase = np.searchsorted(run.restarts, steps, "right") * (not kept)
    group = phase * problem.arms + run.arms
    order = np.argsort(group, kind="stable")
    ends = np.flatnonzero(np.diff(group[order])) + 1
    now = sweeps.last[sweeps.number] + 1 if after == "sweep" else steps + 1
    parts = [
        of_one_arm(run, problem.max_delay, now, rows) for rows in np.split(order, ends) if len(rows)
    ]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    rows = np.concatenate(np.split(order, ends))
    full = sweeps.number[rows] < sweeps.finished
    logs = log_terms(run, kept=kept)[phase[rows]]
    columns = [now[rows], run.arms[rows], *columns, sweeps.spacing[sweeps.number[rows]], logs]
    return Evidence(*(column[full] for column in columns))


def keeps_history(policy: Any) -> bool:
    """Whether failed phases are remembered, as with keep_history=True and bounds="tight"."""
    return bool(getattr(policy, "keep_history", False)) or (
        getattr(policy, "bounds", "paper") == "tight"
    )


def of_one_arm(
    run: Recorded, max_delay: int, now: IntArray, rows: IntArray
) -> tuple[IntArray, ...]:
    """The columns of `Evidence` from `plays` to `total`, for one arm in one phase."""
    start = rows + 1
    delay = np.asarray(run.delays, np.int64)[rows]
    time = now[rows]
    back = start + delay
    order = np.argsort(back, kind="stable")
    plays = np.searchsorted(start, time, "left")
    seen = np.searchsorted(back[order], time, "left")
    complete = np.searchsorted(start, time - max_delay, "right")
    starts = running(start)[plays] - running(start[order])[seen]
    missing = plays - seen
    return (
        plays,
        missing,
        missing * time - starts,
        running(delay[order])[seen],
        complete,
        running(delay)[complete],
        running(delay)[plays],
    )


def running(numbers: IntArray) -> IntArray:
    """0, the first number, the first two added up, and so on."""
    return np.concatenate(([0], np.cumsum(numbers)))


def find_sweeps(run: Recorded, max_delay: int, *, kept: bool) -> Sweeps:
    """Sweeps go through the arms in increasing order, so a step back begins a new one."""
    count = len(run.arms)
    begins = np.ones(count, bool)
    begins[1:] = run.arms[1:] <= run.arms[:-1]
    restarts = np.asarray(run.restarts, np.int64)
    begins[restarts[restarts <= count] - 1] = True
    number = np.cumsum(begins) - 1
    size = np.bincount(number)
    last = np.cumsum(size)
    finished = len(size) if run.failed_at else len(size) - 1
    spacing = smallest_in_window(size, last, max_delay) if kept else size
    return Sweeps(number, last, spacing, finished)


def smallest_in_window(size: IntArray, last: IntArray, max_delay: int) -> IntArray:
    """For each sweep the smallest one among those that ended less than D before the next step."""
    smallest = np.empty_like(size)
    queue: deque[tuple[int, int]] = deque()
    for k, (length, end) in enumerate(zip(size.tolist(), last.tolist(), strict=True)):
        while queue and queue[-1][0] >= length:
            queue.pop()
        queue.append((length, end))
        while len(queue) > 1 and queue[0][1] <= end + 1 - max_delay:
            queue.popleft()
        smallest[k] = queue[0][0]
    return smallest


def log_terms(run: Recorded, *, kept: bool) -> FloatArray:
    """L of each phase: log T, and log of the steps left where a phase restarts from nothing."""
    left = [] if kept else [max(run.horizon - int(step) + 1, 2) for step in run.restarts]
    return np.array([math.log(number) for number in (run.horizon, *left)])
