"""Upper bounds on the regret of SE-PK and OPSE, which never risk the best arm."""

import math

from tarry.problems.problem import Payoff, Problem
from tarry.theory.cost_bounds import learning
from tarry.theory.quantities import (
    Quantities,
    check_form,
    inverse_gaps,
    price_of_a_bad_event,
    quantities,
    shares,
)


def sepk_bound(
    problem: Problem, horizon: int, payoff: Payoff = "cost", form: str = "safe"
) -> float:
    """The regret of SE-PK, the paper's conservative successive elimination.

    printed:  sum_i 129 log T / gap_i + 8 sqrt(2 D d*) log K
    safe:     sum_i (128 log T / gap_i + gap_i) + bad
              + min(12 sqrt(D d*) (H_K - 1) + 2 sqrt(D (160 log T + 20)) Q, 4 D (H_K - 1))

    with Q = sum_{r=2..K} r^-1/2 and bad = min(1, 4 K / T^3) T max gap. In reward, which the paper
    leaves to the reader, d_bar (the second greatest mean delay) stands for d*.

    The printed bound is false, not only loose: its proof takes D / K_i out of a square root and
    drops it there. Derivation with L = log T. Arm i and the best arm both pass the test, so

        m(i) <= (2 D / K_i) (2 m(i*) + 8 L + 1) / w(i*) + 16 L + 2

    (the print loses the factor 2), where w(i*) >= m(i) - 2 counts plays in the last D steps. If the
    first term is the larger, (m(i) - 2)^2 <= (D / K_i) (8 m(i*) + 32 L + 4), and with the bound of
    the good event on m(i*), m(i) <= 4 sqrt(D d*) / K_i + sqrt(D (160 L + 20) / K_i) + 2; otherwise
    m(i) <= 32 L + 4. Put into gap_i n <= 4 sqrt(2 L n) + m(i) + m(i*), this gives

        gap_i n <= 128 L / gap_i + 12 sqrt(D d*) / K_i + 2 sqrt(D (160 L + 20) / K_i).

    The minimum with 4 D holds because no more than D / K_i + 1 plays of an arm can be missing.
    """
    q = quantities(problem, payoff, horizon)
    if not len(q.gaps):
        return 0.0
    short = q.best_delay if payoff == "cost" else q.second_delay
    root = math.sqrt(q.max_delay * short)
    if check_form(form) != "safe":
        return 129 * q.log_horizon * inverse_gaps(q) + 8 * math.sqrt(2) * root * math.log(q.arms)
    share = shares(q, best_stays=True)
    roots = math.fsum(r**-0.5 for r in range(2, q.arms + 1))
    logs = 2 * math.sqrt(q.max_delay * (160 * q.log_horizon + 20))
    delay = min(12 * root * share + logs * roots, 4 * q.max_delay * share)
    return learning(q) + delay + price_of_a_bad_event(q, 4)


def opse_bound(
    problem: Problem, horizon: int, payoff: Payoff, form: str = "safe", log_term: str = "T"
) -> float:
    """The regret of OPSE (Lancewicki et al. 2021), which does not use that delay is payoff.

    printed:  sum_i log T / gap_i + D, the row of the paper's Table 1: an order, no constants
    safe:     sum_i (128 L / gap_i + gap_i) + 4 D (H_K - 1) + bad

    L = log T or log(K T). The safe form is our own derivation: both bounds of an arm are at most
    m / n + 2 sqrt(2 L / n) away from its mean and m <= D / K_i + 1, so that an arm that stays has
    gap_i n <= 4 sqrt(2 L n) + 2 D / K_i + 2. bad = min(1, 2 K / T^3) T max gap.
    """
    q = quantities(problem, payoff, horizon)
    if not len(q.gaps):
        return 0.0
    if check_form(form) != "safe":
        return order(q, q.max_delay)
    inside = q.log_horizon + (math.log(q.arms) if log_term == "KT" else 0.0)
    delay = 4 * q.max_delay * shares(q, best_stays=True)
    return learning(q._replace(log_horizon=inside)) + delay + price_of_a_bad_event(q, 2)


def order(q: Quantities, additive: float) -> float:
    """sum_i log T / gap_i + additive: a row of the paper's Table 1, without constants."""
    return q.log_horizon * inverse_gaps(q) + additive
