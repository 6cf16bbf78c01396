"""Regret against the best fixed arm in hindsight, for worlds that are tables."""

import numpy as np

from tarry.arrays import FloatArray
from tarry.checks import check_payoff
from tarry.errors import InputError
from tarry.problems.problem import Payoff
from tarry.problems.recorded import Replay
from tarry.theory.evidence import Recorded


def hindsight_regret(run: Recorded, problem: Replay, payoff: Payoff) -> FloatArray:
    """By step: how much more was paid than the arm paid that is the best one at the end.

    `Run.regret` adds up gaps of laws. A table of an adversary has no law: what counts is what was
    paid in each step, and the arm to compare with is the one with the best total over all steps
    that were played. Negative where the run did better than any fixed arm.

    Args:
        run: A run of every step, as `tarry.play` returns it without `record`.
        problem: The table that it played.
        payoff: "cost" or "reward".

    >>> import tarry
    >>> problem = tarry.problems.replay([[4, 0], [4, 0], [0, 2]], max_delay=4)
    >>> run = tarry.play(tarry.Uniform(), problem, payoff="cost", horizon=3)
    >>> total = sum(run.delays) / 4
    >>> bool(hindsight_regret(run, problem, "cost")[-1] == total - 2 / 4)
    True
    """
    sign = -1.0 if check_payoff(payoff) else 1.0
    steps = len(run.arms)
    if steps != run.horizon:
        raise InputError(
            f"The run has {steps} recorded steps of {run.horizon}; play it without `record`."
        )
    if not isinstance(problem, Replay):
        raise InputError(
            f"The problem is a {type(problem).__name__}; hindsight needs a table, made by "
            f"tarry.problems.replay or tarry.problems.adversary."
        )
    table = problem.table[:steps].astype(float) / problem.max_delay
    best = int(np.argmin(sign * table.sum(axis=0)))
    paid = run.delays / problem.max_delay
    return np.asarray(np.cumsum(sign * (paid - table[:, best])))
