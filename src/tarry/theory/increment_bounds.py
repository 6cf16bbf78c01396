"""The theorems of IncrementUCB as numbers: docs/increment-ucb.md has them with their proofs.

With r the coarseness of the edges, kappa the price of the spread c, and for P means at step T

    lambda(n) = log(2 P T (1 + log T)) + (log n) / 2

every bound has three parts: learning, waiting, and what it costs when a confidence bound fails.
"""

import math
from typing import NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.checks import check_number, check_payoff, check_whole
from tarry.policies.index.increment_ucb import increment_edges, means_bounded
from tarry.policies.index.kept_bounds import SLOWNESS
from tarry.policies.index.levels import GROWTH, anytime_base
from tarry.policies.index.unbounded_ucb import doubling_ages
from tarry.problems.delays import check_max_delay
from tarry.problems.problem import Payoff, Problem
from tarry.theory.quantities import TIE, check_mean

LAZY = 1.0 + 1.0 / SLOWNESS  # an arm is played so many times as often for a bound that is kept
LATE = 1.05  # and failures of kept bounds are so many times as likely


class Setup(NamedTuple):
    """What the bound knows of the policy."""

    horizon: int  # T
    coarseness: float  # r
    price: float  # kappa
    means: int  # P

    def level(self, plays: float) -> float:
        """The level lambda(T, n) for n = `plays`, at least 1 and at most T."""
        count = min(max(plays, 1.0), self.horizon)
        return anytime_base(self.means, self.horizon) + GROWTH * math.log(count)

    def solved(self, factor: float) -> float:
        """The most that n <= factor lambda(T, n) and n <= T allow.

        Two rounds from n = T: the first says how large n is at most, the second uses it.
        """
        return factor * self.level(factor * self.level(self.horizon))


def coarseness(edges: IntArray) -> float:
    """The ratio r = max_b (x_{b+1} - 1) / x_b, at least 1: how far a delay is above its edge."""
    return max([1.0, *((edges[1:] - 1) / edges[:-1]).tolist()])


def spread_price(spread: float) -> float:
    """The factor kappa = ((1 + sqrt(1 + c)) / 2)^2: what learning costs more with spread c."""
    return ((1.0 + math.sqrt(1.0 + check_number("spread", spread, 0.0))) / 2.0) ** 2


def setup(max_delay: int, horizon: int, payoff: Payoff, spread: float | None = None) -> Setup:
    """The policy's edges, level and spread; `spread` None is its default."""
    reward = check_payoff(payoff)
    steps = check_whole("horizon", horizon, 2)
    edges = increment_edges(check_max_delay(max_delay))
    own = (0.5 if reward else 0.0) if spread is None else spread
    means = means_bounded(len(edges), reward=reward)
    return Setup(steps, coarseness(edges), spread_price(own), means)


def increment_ucb_bound(
    problem: Problem, horizon: int, payoff: Payoff, spread: float | None = None
) -> float:
    """The expected regret of IncrementUCB is at most this, for every T >= 2 and every problem.

    cost, l = lambda(T, n) at the number n of plays in question:

        sum_i [ 65/64 (C_i + B_i) + gap_i / (1 + log T) ] + 1.05 max gap log(1 + log T)
        mu_i < 2 r mu*:   C_i = 8 kappa (mu_i / gap_i) l,  B_i = D gap_i
        otherwise:        the lesser sum of  32 kappa r l and 2 r^2 d* + 1,  or  16 kappa l and
                          D gap_i

    reward, with d_i = D mu_i:

        sum_i [ A_i + 2 gap_i ] + 1.05 max gap log(1 + log T)
        mu_i > mu*/2:     A_i = 65/64 (8 kappa (mu* / gap_i) l + D gap_i)
        otherwise:        the lesser of  65/64 max(128 kappa l, 8 d_i + 6.4 log T) + 1  and
                          65/64 (16 kappa l + D gap_i)

    >>> import tarry
    >>> problem = tarry.problems.deterministic([50, 4000], max_delay=4000)
    >>> bool(increment_ucb_bound(problem, 10_000, "cost") < 2000)
    True
    """
    known = setup(problem.max_delay, horizon, payoff, spread)
    gaps = problem.gaps(payoff)
    bad = np.flatnonzero(gaps > TIE)
    best = float(problem.means[problem.best(payoff)])
    of_arm = reward_part if payoff == "reward" else cost_part
    parts = [
        of_arm(known, problem.max_delay, best, float(problem.means[i]), float(gaps[i]))
        for i in bad.tolist()
    ]
    if not parts:
        return 0.0
    return math.fsum(parts) + float(gaps.max()) * expected_failures(known.horizon)


def expected_failures(horizon: int) -> float:
    """So many steps, 1.05 log(1 + log T), have a wrong bound of the best arm, on average."""
    return LATE * math.log(1.0 + math.log(horizon))


def cost_part(known: Setup, most: int, best: float, mean: float, gap: float) -> float:
    """What an arm adds for cost."""
    price, r = known.price, known.coarseness
    complete = gap * known.solved(8.0 * price * mean / gap**2) + most * gap
    failed = gap / (1.0 + math.log(known.horizon))
    if mean < 2.0 * r * best:
        return LAZY * complete + failed
    pending = mean * known.solved(32.0 * price * r / mean) + 2.0 * r**2 * most * best + 1.0
    return LAZY * min(complete, pending) + failed


def reward_part(known: Setup, most: int, best: float, mean: float, gap: float) -> float:
    """What an arm adds for reward."""
    price = known.price
    complete = LAZY * (gap * known.solved(8.0 * price * best / gap**2) + most * gap)
    if mean > 0.5 * best:
        return complete + 2.0 * gap
    out = 8.0 * most * mean + 6.4 * math.log(known.horizon)
    pending = LAZY * max(best * known.solved(128.0 * price / best), out) + 1.0
    return min(complete, pending) + 2.0 * gap


def increment_ucb_gap_free(
    arms: int,
    max_delay: int,
    best_mean: float,
    horizon: int,
    payoff: Payoff,
    spread: float | None = None,
) -> float:
    """A bound without gaps, for all problems with K arms, D and this best mean.

    cost:    4 sqrt(65/64 kappa r K mu* T l) + K (65/64 (32 kappa r l + 2 r^2 d* + 1) + 1) + f
    reward:  2 sqrt(2 65/64 kappa K mu* T l) + K (65/64 (128 kappa l + 4 d* + 6.4 log T) + 3) + f

    l = lambda(T, T), f = 1.05 log(1 + log T).

    >>> round(increment_ucb_gap_free(2, 100, 0.1, 10**6, "cost") / 10**6, 2)
    0.01
    """
    known = setup(max_delay, horizon, payoff, spread)
    check_whole("number of arms", arms, 1)
    check_mean("best mean", best_mean)
    level, price, r = known.level(known.horizon), known.price, known.coarseness
    root = math.sqrt(LAZY * price * arms * best_mean * known.horizon * level)
    best_delay = max_delay * best_mean
    failures = expected_failures(known.horizon)
    if payoff == "cost":
        each = LAZY * (32.0 * price * r * level + 2.0 * r**2 * best_delay + 1.0) + 1.0
        return 4.0 * math.sqrt(r) * root + arms * each + failures
    out = 4.0 * best_delay + 6.4 * math.log(known.horizon)
    each = LAZY * (128.0 * price * level + out) + 3.0
    return 2.0 * math.sqrt(2.0) * root + arms * each + failures


def unbounded_plays(problem: Problem, horizon: int, spread: float = 0.0) -> FloatArray:
    """How often IncrementUCB(unbounded=True) plays each arm on average, at most.

    With G_i(a) = E min(d, a), for an arm with G_i(a) above d* at some age a = 2^k

        min over such a of  65/64 (8 kappa a G_i(a) l / (G_i(a) - d*)^2 + a)
            + 1 / (1 + log T) + 1.05 log(1 + log T)

    with l = log(2 (k + 1) (k + 2) T (1 + log T)) + (log n) / 2. The last term counts the steps with
    a wrong bound of the best arm; they are all laid upon this arm. T for arms as good as the best.
    """
    steps = check_whole("horizon", horizon, 2)
    best = float(problem.mean_delays.min())
    failed = 1.0 / (1.0 + math.log(steps)) + expected_failures(steps)
    most = []
    for law in problem.laws:
        found = float(steps)
        for k, age in enumerate(doubling_ages(problem.max_delay).tolist()):
            part = float(np.minimum(law.values, age) @ law.probabilities)
            if part > best * (1.0 + TIE):
                known = Setup(steps, 1.0, spread_price(spread), (k + 1) * (k + 2))
                factor = 8.0 * known.price * age * part / (part - best) ** 2
                found = min(found, LAZY * (known.solved(factor) + age) + failed)
        most.append(found)
    return np.array(most)
