"""Information floors: what telling the arms apart must cost, by Lai and Robbins.

For payoffs in [0, 1] with any law, a policy whose regret grows more slowly than every power of T on
every problem must in the long run play arm i at least log T / K_inf(i) times (Burnetas and
Katehakis 1996). Here the payoffs also come late, which is less information, so it remains true.
"""

import math

import numpy as np

from tarry.arrays import FloatArray
from tarry.checks import check_payoff
from tarry.errors import InputError
from tarry.problems.law import Law
from tarry.problems.problem import Payoff, Problem
from tarry.theory.quantities import TIE, quantities

HALVINGS = 80  # of an interval of length 1: more than floating point can tell


def k_inf(law: Law, target: float, max_delay: int, payoff: Payoff) -> float:
    """How unlike `law` the nearest law on {0, ..., D} is that is better than `target`.

    In reward: the least Kullback-Leibler divergence KL(law, other) over laws with a mean payoff
    above `target`. By duality (Honda and Takemura 2010), with X = delay / D,

        K_inf = max over 0 <= u <= 1 of E[ log(1 - u (X - target) / (1 - target)) ].

    In cost all is mirrored: X = 1 - delay / D and 1 - `target`. It is 0 if the law is itself no
    worse than `target`, and infinite if nothing can be better (target 1 in reward, 0 in cost). A
    fixed delay x has log((1 - x) / (1 - target)): rare events can hide behind it, so it is finite.

    >>> law = Law([0, 10], [0.5, 0.5])
    >>> round(k_inf(law, 0.75, 10, "reward"), 6)    # kl(0.5, 0.75)
    0.143841
    """
    reward = check_payoff(payoff)
    if not 0 <= target <= 1:
        raise InputError(f"The target is {target!r}; it must be a mean payoff from 0 to 1.")
    values = law.values / max_delay
    points = values if reward else 1 - values
    goal = target if reward else 1 - target
    if float(law.probabilities @ points) >= goal - TIE:
        return 0.0
    if goal >= 1:
        return math.inf
    ratios = np.minimum((points - goal) / (1 - goal), 1.0)
    return float(largest_mean_log(ratios, law.probabilities))


def largest_mean_log(ratios: FloatArray, probabilities: FloatArray) -> float:
    """The maximum over u in [0, 1] of E[log(1 - u Z)], for Z <= 1 with E[Z] < 0, by halving."""
    atom = ratios == 1
    if not atom.any():
        with np.errstate(over="ignore"):
            end = -float(probabilities @ (ratios / (1 - ratios)))
        if end >= 0:
            return float(probabilities @ np.log1p(-ratios))
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if float(probabilities @ (ratios / (1 - middle * ratios))) < 0:
            low = middle
        else:
            high = middle
    return float(probabilities @ np.log1p(-low * ratios))


def information_floor(problem: Problem, payoff: Payoff, horizon: int) -> float:
    """sum_i gap_i / K_inf(i) * log T over the arms that are not best.

    The limit of regret / log T is at least the sum for every policy that is good on all problems
    with delays 0..D. It is a limit: at a finite T a policy may lie below the line, all the more as
    log T hides a constant. Nothing is owed for arms that no law can beat (best mean 1 in reward,
    0 in cost), nor for ties, nor with a single arm.

    >>> import tarry
    >>> problem = tarry.problems.bernoulli(max_delay=10, probabilities=[0.5, 0.25])
    >>> round(information_floor(problem, "reward", 1000), 3)    # 0.25 / kl(0.5, 0.75) * log 1000
    12.006
    """
    q = quantities(problem, payoff, horizon)
    gaps = problem.gaps(payoff)
    parts = [
        gap / k_inf(law, q.best_mean, problem.max_delay, payoff)
        for law, gap in zip(problem.laws, gaps.tolist(), strict=True)
        if gap > TIE
    ]
    return math.fsum(parts) * q.log_horizon
