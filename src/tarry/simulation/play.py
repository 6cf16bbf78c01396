"""`play`: one policy against one problem, from the first step to the horizon."""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tarry.arrays import FloatArray, IntArray, Steps
from tarry.checks import check_memory, check_payoff, check_whole
from tarry.errors import InputError, PolicyError
from tarry.ledger import empty_ledger
from tarry.plays import empty_plays, room_of, steady_ages
from tarry.policies.check import check_policy, check_rule, rule_edges
from tarry.policies.label import policy_label
from tarry.policies.outside import miscounts, writes_read_only
from tarry.policies.own_code import rule_fingerprint, stands_alone
from tarry.policies.protocol import Policy, Setting
from tarry.problems.problem import Payoff, Problem
from tarry.randomness import new_random
from tarry.simulation.blame import OutOfRange, blamed, found_again
from tarry.simulation.calendar import empty_calendar
from tarry.simulation.interpreted import run_interpreted, widened
from tarry.simulation.loop import (
    LINE,
    MISUSED,
    RESTARTS,
    SPARE_RESTARTS,
    STEP,
    STOPPED,
    TOO_MANY_FAILURES,
    Tape,
)
from tarry.simulation.record import steps_to_record

Mode = Literal["auto", "compiled", "interpreted"]
Progress = Callable[[int, int], None]

# The loop is called piece by piece, for Ctrl-C and `progress` are served in between. The first
# piece has few steps, each later one as many as take about this long.
FIRST_STEPS, PIECE_SECONDS = 1000, 0.2


class InterpretedWarning(UserWarning):
    """A policy runs interpreted, which is a hundred times slower; the message says why."""


@dataclass(frozen=True, eq=False)
class Run:
    """What happened in one run; the arrays have one entry per recorded step."""

    policy: Policy
    payoff: str
    horizon: int
    seed: int
    steps: Steps
    arms: IntArray
    delays: IntArray
    regret: FloatArray  # cumulative pseudo-regret: the gaps of the arms played, added up; where
    # laws change or requests differ, against the best arm of each step
    restarts: Steps  # the steps at which a phase failed (the next step to be played then)
    failed_at: int | None  # where a rule that may give up did so (CSE, RSE), else None
    mode: str  # "compiled" or "interpreted"
    why: str = field(repr=False, default="")  # why it was interpreted, empty if it was not
    contexts: IntArray = field(repr=False, default_factory=lambda: np.zeros(0, np.int64))
    # ^ of each recorded step: a row of `problem.features`, 0 where a problem has one context

    def __repr__(self) -> str:
        """A line a person can read."""
        end = f"failed at step {self.failed_at}" if self.failed_at else f"{self.horizon} steps"
        last = f"{self.regret[-1]:.6g}" if len(self.regret) else "0"
        return (
            f"<Run of {policy_label(self.policy)}, {self.payoff}, seed {self.seed}: {end}, "
            f"regret {last}, {len(self.restarts)} restarts, {self.mode}>"
        )


def play(
    policy: Policy,
    problem: Problem,
    *,
    payoff: Payoff,
    horizon: int,
    seed: int = 0,
    record: int | npt.ArrayLike | None = None,
    mode: Mode = "auto",
    progress: Progress | None = None,
) -> Run:
    """Let `policy` play `problem` for `horizon` steps and return what happened.

    Args:
        policy: Settings of a decision rule, such as `tarry.BDSE()`, or a class of your own.
        problem: A world from `tarry.problems`.
        payoff: "cost" (short delays are good) or "reward" (long delays are good).
        horizon: T, the number of plays.
        seed: Delays and the policy's own randomness follow from it. Two policies with the same
            seed meet the same delays: the delay of (seed, step, arm) never changes.
        record: The steps to keep: None for all of them, a number of evenly spaced ones, or an
            array of steps. With a number or an array, memory does not grow with the horizon.
        mode: "auto" compiles where that is possible and says so where it is not; "compiled" and
            "interpreted" insist.
        progress: Called now and then with (steps played, horizon).

    >>> import tarry
    >>> problem = tarry.problems.deterministic([50, 4000], max_delay=4000)
    >>> tarry.play(tarry.SE(), problem, payoff="cost", horizon=10_000)
    <Run of SE, cost, seed 0: 10000 steps, regret 1998.7, 0 restarts, compiled>
    """
    reward = check_payoff(payoff)
    horizon = check_whole("horizon", horizon, 1, 2**62)
    seed = check_whole("seed", seed, 0, 2**64 - 1)
    check_policy(policy, payoff)
    if not isinstance(problem, Problem):
        raise InputError(
            f"The problem is a {type(problem).__name__}; it must be one made by tarry.problems."
        )
    if problem.horizon_limit is not None and horizon > problem.horizon_limit:
        raise InputError(
            f"The replayed table has {problem.horizon_limit} rows, but horizon is {horizon}; "
            f"play at most {problem.horizon_limit} steps."
        )
    steps = steps_to_record(record, horizon)
    features = problem.features.shape[1]
    out = f"The plays that may be out at a max_delay of {problem.max_delay}"
    check_memory(room_of(problem.max_delay, features), out, "a smaller one or a coarser unit")
    setting = Setting(problem.arms, problem.max_delay, horizon, reward, features=features)

    def begun(steps: Steps | None) -> tuple[Any, ...]:
        rule = policy.start(setting)
        check_rule(rule, policy)
        edges = rule_edges(rule, policy, problem.max_delay)
        plays = empty_plays(problem.max_delay, regular=True, features=features)
        return (
            rule,
            empty_ledger(problem.arms),
            plays,
            steady_ages(problem.max_delay, edges),
            empty_calendar(len(plays.number)),
            problem.world(seed),
            problem.regret_rates(payoff),
            _blank_tape(steps, horizon),
            new_random(seed),
        )

    arguments = begun(steps)
    run_steps, chosen_mode, why = _loop_for(policy, arguments, mode)
    if chosen_mode == "interpreted":
        arguments = widened(arguments)
    try:
        with _read_only_told(policy, arguments[0]):
            tape = _run(run_steps, arguments, horizon, progress)
    except OutOfRange as signal:
        where = signal
        if chosen_mode == "compiled":
            with_loop = (partial(_advance, run_steps), _advance_interpreted)
            where = found_again(lambda: begun(np.array([horizon])), where, *with_loop)
        raise blamed(policy, where) from where.__cause__
    stopped = int(tape.marks[STOPPED])
    if tape.marks[MISUSED] == TOO_MANY_FAILURES:
        raise miscounts(policy, f"step {stopped}")
    if tape.marks[MISUSED]:
        raise PolicyError(
            f"{policy_label(policy)} chose an arm outside 0..{problem.arms - 1} at step {stopped}; "
            f"`select` returns the number of an arm, or -1 to stop."
        )
    rows = int(tape.marks[LINE])
    kept = np.arange(1, rows + 1) if steps is None else steps[:rows]
    return Run(
        policy=policy,
        payoff=payoff,
        horizon=horizon,
        seed=seed,
        steps=kept,
        arms=tape.arms[:rows],
        delays=tape.delays[:rows],
        regret=tape.regret[:rows],
        restarts=tape.restarts[: tape.marks[RESTARTS]].copy(),
        failed_at=stopped or None,
        mode=chosen_mode,
        why=why,
        contexts=problem.contexts(seed, kept),
    )


@contextmanager
def _read_only_told(policy: Policy, rule: Any) -> Iterator[None]:
    """Only the interpreter comes here with it: such a rule is not compiled."""
    try:
        yield
    except ValueError as error:
        told = writes_read_only(policy, rule, error)
        if told is None:
            raise
        raise told from error


def _blank_tape(steps: Steps | None, horizon: int) -> Tape:
    rows = horizon if steps is None else len(steps)
    return Tape(
        steps=np.zeros(0, np.int64) if steps is None else np.ascontiguousarray(steps),
        arms=np.zeros(rows, np.int32),
        delays=np.zeros(rows, np.int32),
        regret=np.zeros(rows),
        restarts=np.zeros(4 * SPARE_RESTARTS, np.int64),
        marks=np.array([1, 0, 0, 0, 0], np.int64),
        total=np.zeros(1),
    )


def _run(
    run_steps: Callable[..., None],
    arguments: tuple[Any, ...],
    horizon: int,
    progress: Progress | None,
) -> Tape:
    """Call the loop until the horizon, in pieces short enough to be interrupted in between."""
    *front, tape, rng = arguments
    steps = FIRST_STEPS
    while tape.marks[STEP] <= horizon and not tape.marks[STOPPED]:
        if tape.marks[RESTARTS] + SPARE_RESTARTS > len(tape.restarts):
            tape = tape._replace(restarts=np.resize(tape.restarts, 2 * len(tape.restarts)))
        last = min(horizon, int(tape.marks[STEP]) + steps - 1)
        begin = time.perf_counter()
        try:
            run_steps(*front, tape, rng, last)
        except IndexError as error:
            raise OutOfRange(int(tape.marks[STEP]), last) from error
        taken = max(time.perf_counter() - begin, 1e-6)
        steps = max(1, int(steps * min(8.0, PIECE_SECONDS / taken)))
        if progress is not None:
            progress(int(tape.marks[STEP]) - 1, horizon)
    return tape


def _advance(
    run_steps: Callable[..., None], arguments: tuple[Any, ...], last: int
) -> tuple[Any, ...]:
    """Play up to and including step `last`."""
    *front, _, rng = arguments
    return (*front, _run(run_steps, arguments, last, None), rng)


def _advance_interpreted(arguments: tuple[Any, ...], last: int) -> tuple[Any, ...]:
    return _advance(run_interpreted, widened(arguments), last)


def _loop_for(
    policy: Policy, arguments: tuple[Any, ...], mode: Mode
) -> tuple[Callable[..., None], str, str]:
    """The loop to call, "compiled" or "interpreted", and why it is interpreted."""
    if mode not in ("auto", "compiled", "interpreted"):
        raise InputError(f'mode is {mode!r}; give "auto", "compiled" or "interpreted".')
    if mode == "interpreted":
        return run_interpreted, "interpreted", "asked for"
    # Numba is loaded when first needed.
    from tarry.compiled.machine import CannotCompile
    from tarry.simulation.machine import LOOP

    try:
        code = rule_fingerprint(arguments[0])
        keep = bool(code) and stands_alone(arguments[0])
        # No step comes before step 1.
        return LOOP.ready_for(*arguments, 0, code=code, keep=keep), "compiled", ""
    except CannotCompile as reason:
        why = str(reason)
    name = policy_label(policy)
    if mode == "compiled":
        raise PolicyError(f"{name} cannot run compiled: {why}.")
    warnings.warn(
        f"{name} runs interpreted, much slower than compiled: {why}.",
        InterpretedWarning,
        stacklevel=3,  # the line that called `play`
    )
    return run_interpreted, "interpreted", why
