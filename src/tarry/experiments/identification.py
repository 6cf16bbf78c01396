"""Which arm is best, and how many plays it takes to be sure: the rule of `Log.decide`, simulated.

A policy plays in the simulator, and the plays so far are looked at again and again as the log that
somebody would have then: who is still out is unfinished. The rule's error rate holds at every look
and whatever policy chooses, so it does not matter how often one looks. To save time, each look has
a quarter more plays than the one before, and a decision is found up to so much late.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tarry.arrays import FloatArray
from tarry.checks import check_payoff, check_share, check_whole, shortened
from tarry.errors import InputError
from tarry.experiments.progress_bar import bar
from tarry.logs import Log
from tarry.logs.decision import Decision, check_tolerance
from tarry.logs.worlds import unit_of
from tarry.policies.baselines.uniform import Uniform
from tarry.policies.protocol import Policy
from tarry.problems.problem import Payoff, Problem
from tarry.simulation.play import Run, play
from tarry.tables import number

LOOKS = 1.25  # each look has so many times the plays of the one before
FIRST_HORIZON = 4096


@dataclass(frozen=True, eq=False)
class Identified:
    """How a run ended: the arm, after how many plays, and whether that was right."""

    stop: bool  # False if it was still open after the most plays allowed
    arm: int
    plays: int
    lost: float  # the gap of that arm to the best, in the unit of the problem
    decision: Decision

    def __repr__(self) -> str:
        what = "chose" if self.stop else "undecided, ahead is"
        return f"<Identified: {what} arm {self.arm} after {self.plays} plays, lost {self.lost:.4g}>"


@dataclass(frozen=True, eq=False)
class Plan:
    """How many plays a decision took in each simulated run."""

    plays: FloatArray  # of each run, in increasing order; infinite where it stayed open
    likely: float
    error: float
    tolerance: float
    most: int
    wrong: int  # runs that chose an arm worse than the tolerance allows

    @property
    def needed(self) -> float:
        """The plays that are enough with probability `likely`."""
        return float(np.quantile(self.plays, self.likely, method="higher"))

    def __str__(self) -> str:
        runs = len(self.plays)
        if math.isinf(self.needed):
            open_runs = int(np.isinf(self.plays).sum())
            text = f"{self.most} plays are not enough: {open_runs} of {runs} runs stayed open"
        else:
            half = number(float(np.median(self.plays)))
            text = (
                f"{number(self.needed)} plays are enough with a probability of "
                f"{100 * self.likely:g} %, {half} in half of the runs"
            )
        return f"{text}; {self.wrong} of {runs} runs chose wrongly."


def identify(
    problem: Problem,
    *,
    payoff: Payoff,
    error: float = 0.05,
    tolerance: float = 0.0,
    policy: Policy | None = None,
    most: int = 100_000,
    seed: int = 0,
) -> Identified:
    """Let a policy play until the rule of `Log.decide` stops, and say which arm it chose.

    The plays are looked at whenever there are a quarter more, so it may stop up to so much late.

    Args:
        problem: A world from `tarry.problems`.
        payoff: "cost" or "reward".
        error: The probability of ever choosing an arm that is worse than `tolerance` allows.
        tolerance: A gap that does not matter, in the unit of the problem's delays.
        policy: Who chooses; by default all arms equally often, at random.
        most: Give up after so many plays.
        seed: Of the run.

    >>> import tarry
    >>> problem = tarry.problems.from_pmf([([0, 10], [0.9, 0.1]), ([6], [1])], max_delay=10)
    >>> found = tarry.identify(problem, payoff="reward", seed=1)
    >>> found.stop, found.arm, found.lost
    (True, 1, 0.0)
    """
    limit = check_whole("number of plays at most", most, 2 * problem.arms)
    chooser = Uniform() if policy is None else policy
    horizon = limit if getattr(chooser, "needs_horizon", True) else min(FIRST_HORIZON, limit)
    gaps = problem.gaps(payoff) * problem.max_delay
    run = play(chooser, problem, payoff=payoff, horizon=horizon, seed=seed)
    plays = 2 * problem.arms
    while True:
        while plays > horizon and horizon < limit:  # such a policy goes on as it began
            horizon = min(4 * horizon, limit)
            run = play(chooser, problem, payoff=payoff, horizon=horizon, seed=seed)
        made = min(plays, len(run.arms))
        decision = log_of_run(problem, run, made).decide(payoff, error, tolerance)
        if decision.stop or made < plays or plays >= limit:
            arm = problem.names.index(decision.arm)
            return Identified(decision.stop, arm, made, float(gaps[arm]), decision)
        plays = min(max(math.ceil(plays * LOOKS), plays + 1), limit)


def log_of_run(problem: Problem, run: Run, plays: int) -> Log:
    """The log after so many plays of a run with all steps recorded; who is out is unfinished."""
    ages = plays + 1 - np.arange(1, plays + 1)
    delays = run.delays[:plays]
    return Log(
        names=tuple(problem.names),
        arms=run.arms[:plays],
        times=np.minimum(delays, ages).astype(np.float64),
        finished=(delays < ages) | (ages >= problem.max_delay),
        max_delay=float(problem.max_delay),
    )


def plan(
    world: Problem | Log,
    *,
    payoff: Payoff,
    error: float = 0.05,
    tolerance: float = 0.0,
    likely: float = 0.8,
    policy: Policy | None = None,
    most: int = 100_000,
    runs: int = 40,
    seed: int = 0,
) -> Plan:
    """How many plays until a decision is likely, by simulation.

    The plays are looked at as in `identify`, so the numbers are up to a quarter too large.

    Args:
        world: What you expect: a problem, or a log whose estimated laws are taken for the truth.
        payoff: "cost" or "reward".
        error: The error rate of the decision, which holds at every look.
        tolerance: A gap that does not matter, in the unit of the log or problem. Arms that differ
            by less are told apart late or never, so a plan needs one where arms may be alike.
        likely: The probability with which the plays shall be enough.
        policy: Who chooses; by default all arms equally often, at random.
        most: Give up a run after so many plays.
        runs: How many are simulated.
        seed: The same seed gives the same plan.
    """
    check_payoff(payoff)
    check_share("probability likely", likely)
    check_tolerance(tolerance)
    check_whole("number of runs", runs, 1)
    problem, unit = world_of(world)
    ends: list[Identified] = []
    with bar("plan", runs) as advance:
        for run in range(runs):
            settings: Any = {"policy": policy, "most": most, "seed": seed * 1_000_003 + run}
            ends.append(
                identify(
                    problem, payoff=payoff, error=error, tolerance=tolerance / unit, **settings
                )
            )
            advance(1)
    return Plan(
        plays=np.sort([end.plays if end.stop else math.inf for end in ends]),
        likely=likely,
        error=error,
        tolerance=tolerance,
        most=most,
        wrong=sum(end.stop and end.lost > tolerance / unit + 1e-9 for end in ends),
    )


def world_of(world: Problem | Log) -> tuple[Problem, float]:
    """The problem to simulate on, and how long its unit is."""
    if isinstance(world, Log):
        return world.problem(), unit_of(world, None)
    if isinstance(world, Problem):
        return world, 1.0
    raise InputError(f"The world is {shortened(world)}; it must be a problem or a log.")
