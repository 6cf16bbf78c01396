"""An upper bound on the regret of CensoredUCB."""

import math

from tarry.problems.problem import Payoff, Problem
from tarry.theory.conservative_bounds import order
from tarry.theory.quantities import check_form, inverse_gaps, quantities


def censored_ucb_bound(
    problem: Problem, horizon: int, payoff: Payoff, form: str = "safe", radius: str = "paper"
) -> float:
    """The regret of CensoredUCB (Tang, Wang and Zheng 2024).

    printed:  sum_i log T / gap_i + D sum_i gap_i, the row of the paper's Table 1: an order
    safe:     sum_i (8 c / gap_i + (D + 1) gap_i) + bad

    c = log(2 K^2 T^3) with radius="paper", log(K T) with radius="experiments". The safe form is our
    own derivation, by the usual argument: while all means keep to their radius, an arm that is
    chosen by its index has gap_i <= 2 sqrt(2 c / N), so N <= 8 c / gap_i^2 of its plays are old,
    and at most D + 1 are not. bad = min(1, 2 K T exp(-4 c)) T max gap, by Hoeffding's inequality.
    """
    q = quantities(problem, payoff, horizon)
    if not len(q.gaps):
        return 0.0
    total_gap = math.fsum(q.gaps.tolist())
    if check_form(form) != "safe":
        return order(q, q.max_delay * total_gap)
    exponent = math.log(q.arms) + q.log_horizon
    if radius == "paper":
        exponent = math.log(2) + 2 * math.log(q.arms) + 3 * q.log_horizon
    failure = min(1.0, 2 * q.arms * q.horizon * math.exp(-4 * exponent))
    bad = failure * q.horizon * q.largest_gap
    return 8 * exponent * inverse_gaps(q) + (q.max_delay + 1) * total_gap + bad
