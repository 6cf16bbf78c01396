"""One finished run: what a worker gets, computes and hands back."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray, Steps
from tarry.experiments.experiment import Seeds, Task
from tarry.fingerprint import source_fingerprint
from tarry.policies.protocol import Policy
from tarry.problems.problem import Payoff, Problem
from tarry.simulation.play import play


class Work(NamedTuple):
    """Everything a worker needs for one task; it can be sent to another process or machine."""

    task: Task
    policy: Policy
    problem: Problem
    payoff: Payoff
    horizon: int
    seeds: Seeds
    steps: Steps
    world: str  # fingerprint of the problem


class FinishedRun(NamedTuple):
    """What one run left behind: one entry for each recorded step that was played."""

    task: Task
    seeds: Seeds
    world: str
    regret: FloatArray
    arms: IntArray
    delays: IntArray
    restarts: IntArray  # how many so far
    code: str  # fingerprint of the tarry that computed it


def play_task(work: Work, watch: Callable[[int, int], None] | None = None) -> FinishedRun:
    """Play one task; what comes out does not depend on where or when this happens."""
    run = play(
        work.policy,
        work.problem,
        payoff=work.payoff,
        horizon=work.horizon,
        seed=work.seeds.play,
        record=work.steps,
        progress=watch,
    )
    restarts = np.searchsorted(run.restarts, run.steps, side="right").astype(np.int32)
    return FinishedRun(
        work.task,
        work.seeds,
        work.world,
        run.regret,
        run.arms,
        run.delays,
        restarts,
        source_fingerprint(),
    )
