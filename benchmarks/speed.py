"""Time per step of every policy, against the limit loop and against plain Python."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import tarry
from benchmarks import plain
from benchmarks.limit import run_limit
from benchmarks.timing import fastest
from tarry.policies.label import policy_label
from tarry.problems.problem import Payoff, Problem

ARMS, MAX_DELAY, HORIZON = 30, 5000, 150_000  # the size of the paper's experiments
RECORDED = 1000
LIMIT = "limit loop"

SOURCES = DRAWN, IN_BLOCKS, READY = "drawn", "in blocks", "ready"  # see benchmarks.plain

ELIMINATION = "elimination"
TIGHT = "tight elimination"
INDEX = "index"
SAMPLING = "a draw per arm"
SOLVED = "an equation solved"
SURVIVAL = "survival draws"
REGIME = "hypotheses of change"
CONTEXTS = "for requests that differ"  # here without contexts; see benchmarks.contexts
YARDSTICK = "no learning"
ADVERSARIAL = "regularised leader"

POLICIES: list[tuple[Any, str]] = [
    (tarry.SE(), ELIMINATION),
    (tarry.SEPK(), ELIMINATION),
    (tarry.OPSE(), ELIMINATION),
    (tarry.BDSE(), ELIMINATION),
    (tarry.BDSE(keep_history=True), ELIMINATION),
    (tarry.BHSE(), ELIMINATION),
    (tarry.BHSE(keep_history=True), ELIMINATION),
    (tarry.BDSE(bounds="tight"), TIGHT),
    (tarry.BHSE(bounds="tight"), TIGHT),
    (tarry.CensoredUCB(), INDEX),
    (tarry.DelayedUCB(), INDEX),
    (tarry.SurvivalUCB(), INDEX),
    (tarry.IncrementUCB(), INDEX),
    (tarry.IncrementUCB(unbounded=True), INDEX),
    (tarry.MOSS(), INDEX),
    (tarry.IMED(), INDEX),
    (tarry.QPMD(), INDEX),
    (tarry.KLUCB(), SOLVED),
    (tarry.BayesUCB(), SOLVED),
    (tarry.DelayedThompson(), SAMPLING),
    (tarry.SurvivalThompson(), SURVIVAL),
    (tarry.RegimeThompson(), REGIME),
    (tarry.DiscountedThompson(), SAMPLING),
    (tarry.WindowThompson(), SAMPLING),
    (tarry.FadingThompson(), SURVIVAL),
    (tarry.CUSUMUCB(), INDEX),
    (tarry.SurvivalRegression(), CONTEXTS),
    (tarry.LinearThompson(), CONTEXTS),
    (tarry.SegmentThompson(), CONTEXTS),
    (tarry.LinUCB(), CONTEXTS),
    (tarry.DelayedFTRL(), ADVERSARIAL),
    (tarry.AccrualFTRL(), ADVERSARIAL),
    (tarry.Uniform(), YARDSTICK),
]
PLAIN: dict[str, tuple[Any, Callable[..., list[int]]]] = {
    "SE": (tarry.SE(), plain.play_se),
    "OPSE": (tarry.OPSE(), plain.play_opse),
    "BDSE": (tarry.BDSE(), plain.play_bdse),
}


class Row(NamedTuple):
    """One policy on one problem; `over` is empty where there is no plain simulator of it."""

    policy: str
    kind: str
    nanoseconds: float
    to_limit: float  # times the limit loop
    over: dict[str, float]  # by source of delays: times faster than plain Python


class Speeds(NamedTuple):
    """All that was measured on one problem."""

    problem: str
    limit: float  # nanoseconds per step
    rows: list[Row]
    plain_rates: dict[str, dict[str, float]]  # by policy and source: steps per second


def problems() -> dict[str, Problem]:
    """The paper's two families."""
    return {
        "Bernoulli": tarry.problems.bernoulli(ARMS, MAX_DELAY, seed=7),
        "truncated normal": tarry.problems.truncated_normal(
            ARMS, MAX_DELAY, mean_scale=0.2, seed=7
        ),
    }


def measure(title: str, problem: Problem, rounds: int, horizon: int = HORIZON) -> Speeds:
    """Run the limit loop, all policies and the plain simulators in turn, `rounds` times."""
    tasks: dict[str, Callable[[], object]] = {LIMIT: partial(run_limit, problem, "cost", horizon)}
    for policy, _ in POLICIES:
        payoff: Payoff = policy.payoffs[0]
        tasks[policy_label(policy)] = partial(
            tarry.play, policy, problem, payoff=payoff, horizon=horizon, record=RECORDED
        )
    compiled = list(tasks.values())
    for source, new_draw in sources(problem, horizon).items():
        for label, (policy, simulate) in PLAIN.items():
            check_same_arms(policy, problem, horizon, simulate, new_draw())
            tasks[f"plain {label} {source}"] = partial(
                run_plain, simulate, new_draw, problem, horizon
            )
    for task in compiled:
        task()  # compiles, or loads what was compiled
    return _speeds(title, fastest(tasks, rounds), horizon)


def sources(problem: Problem, horizon: int) -> dict[str, Callable[[], plain.Draw]]:
    """Where plain Python has its delays from, begun anew for each run but for the ready table."""
    table = plain.ready(problem, 0, horizon)
    return {
        DRAWN: partial(plain.drawn, problem, 0),
        IN_BLOCKS: partial(plain.in_blocks, problem, 0),
        READY: lambda: table,
    }


def run_plain(
    simulate: Callable[..., list[int]],
    new_draw: Callable[[], plain.Draw],
    problem: Problem,
    horizon: int,
) -> list[int]:
    """A run in plain Python."""
    return simulate(new_draw(), problem.arms, problem.max_delay, horizon)


def check_same_arms(
    policy: Any,
    problem: Problem,
    horizon: int,
    simulate: Callable[..., list[int]],
    draw: plain.Draw,
) -> None:
    """Both simulators must do the same work: play the same arms."""
    ours = tarry.play(policy, problem, payoff="cost", horizon=horizon, seed=0)
    theirs = simulate(draw, problem.arms, problem.max_delay, horizon)
    assert np.array_equal(ours.arms, theirs), f"{policy_label(policy)} and plain Python differ"


def _speeds(title: str, taken: dict[str, float], horizon: int) -> Speeds:
    rows = []
    for policy, kind in POLICIES:
        label = policy_label(policy)
        own = taken[label]
        over = {
            source: taken[f"plain {label} {source}"] / own for source in SOURCES if label in PLAIN
        }
        rows.append(Row(label, kind, own / horizon * 1e9, own / taken[LIMIT], over))
    rates = {
        label: {source: horizon / taken[f"plain {label} {source}"] for source in SOURCES}
        for label in PLAIN
    }
    return Speeds(title, taken[LIMIT] / horizon * 1e9, rows, rates)
