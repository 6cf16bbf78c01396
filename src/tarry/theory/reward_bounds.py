"""Upper bounds on the regret of RSE and BHSE (delay as reward)."""

import math

from tarry.errors import InputError
from tarry.problems.problem import Problem
from tarry.theory.cost_bounds import learning
from tarry.theory.quantities import (
    Quantities,
    check_form,
    inverse_gaps,
    price_of_a_bad_event,
    price_of_a_bad_restart,
    quantities,
    shares,
)


def rse_bound(problem: Problem, horizon: int, threshold: float, form: str = "safe") -> float:
    """The regret of RSE with threshold B >= mu* / 2, until it fails or the horizon T ends.

    printed:  sum_i 289 log T / gap_i + 12 min(d_bar, D max gap) log K
    safe:     sum_i (288 log T / gap_i + gap_i) + 12 min(d_bar, D max gap) H + bad

    with d_bar the second greatest mean delay. H and bad as in `cse_bound`: H_K - 1 if B <= mu*,
    H_(K-1) if not, for then the best arm can go first. A threshold below mu* / 2 is refused: the
    theorem says nothing about it.
    """
    q = quantities(problem, "reward", horizon)
    if threshold < q.best_mean / 2:
        raise InputError(
            f"The threshold is {threshold!r}; the theorem on RSE holds for at least half of the "
            f"best mean, {q.best_mean / 2:.6g}."
        )
    if not len(q.gaps):
        return 0.0
    if check_form(form) != "safe":
        return printed_phase(q)
    stays = threshold <= q.best_mean
    return (
        learning(q, 288)
        + 12 * delay_term(q) * shares(q, best_stays=stays)
        + price_of_a_bad_event(q, 3)
    )


def bhse_bound(problem: Problem, horizon: int, form: str = "safe") -> float:
    """The regret of BHSE, which runs RSE with B = 1, 1/2, 1/4, ...

    printed:  (sum_i 289 log T / gap_i + 12 min(d_bar, D max gap) log K) log(1 / mu*)
    safe:     N sum_i (288 log T / gap_i + gap_i) + 12 min(d_bar, D max gap) (J H_(K-1) + H_K - 1)
              + bad

    N = J + 1 phases are enough while the good events hold, where J is the first with 2^-J <= mu*.
    The print counts log(1 / mu*), natural, of them: none at all at mu* = 1, and fewer than 1 down
    to mu* = 1/e. bad as in `bdse_bound`.
    """
    q = quantities(problem, "reward", horizon)
    if not len(q.gaps):
        return 0.0
    if check_form(form) != "safe":
        return printed_phase(q) * math.log(1 / q.best_mean)
    last = halvings(q.best_mean)
    parts = last * shares(q, best_stays=False) + shares(q, best_stays=True)
    bad = price_of_a_bad_event(q, 3) + last * price_of_a_bad_restart(q, 3)
    return (last + 1) * learning(q, 288) + 12 * delay_term(q) * parts + bad


def printed_phase(q: Quantities) -> float:
    """The theorem on RSE as the paper prints it."""
    return 289 * q.log_horizon * inverse_gaps(q) + 12 * delay_term(q) * math.log(q.arms)


def delay_term(q: Quantities) -> float:
    """min(d_bar, D Delta_max)."""
    return min(q.second_delay, q.max_delay * q.largest_gap)


def halvings(best_mean: float) -> int:
    """J: how often B = 1 is halved until B <= mu*, the least J >= 0 with 2^-J <= mu*."""
    return math.ceil(-math.log2(best_mean))
