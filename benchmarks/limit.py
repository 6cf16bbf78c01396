"""The limit loop: what no simulator of these worlds can undercut.

It draws the delay of an arm in every step and adds the arm's gap, and does nothing else: no
decision, no ledger, no calendar. It is compiled by the same bridge as the simulator.
"""

import functools
from typing import Any

from tarry.arrays import FloatArray
from tarry.compiled.machine import compiled
from tarry.compiled.teach import admit
from tarry.problems.problem import Payoff, Problem
from tarry.problems.world import World


def limit_loop(world: World, gaps: FloatArray, horizon: int) -> tuple[float, int]:
    """Play the arms in turn; returns the regret and the sum of the delays, so that both count."""
    regret = 0.0
    total = 0
    arm = 0
    for step in range(1, horizon + 1):
        total += world.delay(step, arm)
        regret += gaps[arm]
        arm += 1
        if arm == len(gaps):
            arm = 0
    return regret, total


@functools.cache
def _compiled() -> Any:
    admit(World)
    return compiled(limit_loop, cached=False)


def run_limit(problem: Problem, payoff: Payoff, horizon: int, seed: int = 0) -> tuple[float, int]:
    """The limit loop, compiled, on a problem."""
    regret, total = _compiled()(problem.world(seed), problem.gaps(payoff), horizon)
    return float(regret), int(total)
