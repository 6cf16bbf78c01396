"""Information floors: what telling the arms apart must cost, by Lai and Robbins.

For payoffs in [0, 1] with any law, a policy whose regret grows more slowly than every power of T on
every problem must in the long run play arm i at least log T / K_inf(i) times (Burnetas and
Katehakis 1996). Here the payoffs also come late, which is less information, so it remains true.

That is a limit, `information_floor`: at a finite T one may lie below it. What holds at every T is
`early_floor` (Garivier, Menard and Stoltz 2019), for the time before the arms can be told apart.
"""

import math

import numpy as np

from tarry.arrays import FloatArray
from tarry.checks import check_payoff, shortened
from tarry.errors import InputError
from tarry.problems.delays import check_max_delay
from tarry.problems.law import Law
from tarry.problems.problem import Payoff, Problem
from tarry.theory.quantities import TIE, check_mean, quantities

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
    check_mean("target", target)
    most = check_max_delay(max_delay)
    if not isinstance(law, Law):
        raise InputError(f"The law is {shortened(law)}; it must be a tarry.problems.Law.")
    if law.values[-1] > most:
        raise InputError(
            f"A delay of the law is {law.values[-1]}; it must be at most the max_delay {most}."
        )
    values = law.values / most
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
    """The asymptotic floor sum_i gap_i / K_inf(i) * log T, and never more than T max gap.

    The limit of regret / log T is at least the sum for every policy that is good on all problems
    with delays 0..D. It is a limit: at a finite T a policy may lie below the line, all the more as
    log T hides a constant; above T times the largest gap, which no policy can lose, it says nothing
    and is cut off. Nothing is owed for arms that no law can beat (best mean 1 in reward, 0 in
    cost), nor for ties, nor with a single arm. For floors that hold at every T see `early_floor`
    and `delay_floor`.

    >>> import tarry
    >>> problem = tarry.problems.bernoulli(max_delay=10, probabilities=[0.5, 0.25])
    >>> round(information_floor(problem, "reward", 1000), 3)    # 0.25 / kl(0.5, 0.75) * log 1000
    12.006
    """
    q = quantities(problem, payoff, horizon)
    parts = [gap / k for gap, k in distinguishing(problem, payoff)]
    return min(math.fsum(parts) * q.log_horizon, q.horizon * q.largest_gap)


def early_floor(problem: Problem, payoff: Payoff, horizon: int) -> float:
    """What is lost, at every T, before the arms can be told apart.

    For every policy that plays the best arm at least T / K times on average on every problem with
    delays 0..D (no worse than playing all alike), arm i is played at least

        n_i = max over t <= T of  (t / K) (1 - sqrt(2 t K_inf(i)))

    times on average (Garivier, Menard and Stoltz 2019), and the floor is sum_i gap_i n_i. Proof:
    let x = E[plays of i] / t < 1 / K, and move the law of arm i to one that is better than the best
    at a divergence k near K_inf(i); then it is played t / K times, so kl(x, 1 / K) <= t x k
    <= t k / K, and kl(x, y) >= (y - x)^2 / (2 y) for x < y. The maximum is at t = 2 / (9 K_inf(i)),
    or at T before that. Answers that come late only lessen what is known.

    >>> import tarry
    >>> problem = tarry.problems.bernoulli(max_delay=10, probabilities=[0.5, 0.25])
    >>> round(early_floor(problem, "reward", 1000), 3)    # 0.25 / 2 * 2 / (27 kl(0.5, 0.75))
    0.064
    """
    steps = quantities(problem, payoff, horizon).horizon
    return math.fsum(
        gap * early_plays(steps, problem.arms, k) for gap, k in distinguishing(problem, payoff)
    )


def early_plays(steps: int, arms: int, k: float) -> float:
    """How often an arm is played at least, on average, if its K_inf is `k`."""
    time = min(steps, 2.0 / (9.0 * k))
    return time / arms * (1.0 - math.sqrt(2.0 * time * k))


def distinguishing(problem: Problem, payoff: Payoff) -> list[tuple[float, float]]:
    """The gap and K_inf of each arm that is not best, where it is finite."""
    best = float(problem.means[problem.best(payoff)])
    pairs = [
        (gap, k_inf(law, best, problem.max_delay, payoff))
        for law, gap in zip(problem.laws, problem.gaps(payoff).tolist(), strict=True)
        if gap > TIE
    ]
    return [(gap, k) for gap, k in pairs if math.isfinite(k)]
