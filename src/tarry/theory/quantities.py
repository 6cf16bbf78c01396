"""The numbers of a problem that the paper's bounds are made of."""

import math
from typing import Any, NamedTuple

import numpy as np

from tarry.arrays import FloatArray
from tarry.checks import check_payoff, check_whole, shortened
from tarry.errors import InputError
from tarry.problems.problem import Payoff, Problem

FORMS = ("printed", "appendix", "safe")
TIE = 1e-12  # a gap below this is the rounding of two equal means


class Quantities(NamedTuple):
    """What the regret bounds know of a problem; the paper's symbols stand behind the names."""

    arms: int  # K
    max_delay: int  # D
    horizon: int  # T
    log_horizon: float  # log T
    gaps: FloatArray  # Delta_i of the arms that are not best
    largest_gap: float  # Delta_max
    best_mean: float  # mu*
    best_delay: float  # d* = D mu*: the least mean delay (cost), the greatest (reward)
    second_delay: float  # d_bar: the second greatest mean delay, 0 for a single arm


def quantities(problem: Problem, payoff: Payoff, horizon: int) -> Quantities:
    """Read them off a problem."""
    check_payoff(payoff)
    steps = check_whole("horizon", horizon, 1)
    gaps = problem.gaps(payoff)
    delays = np.sort(problem.mean_delays)
    best = problem.best(payoff)
    return Quantities(
        arms=problem.arms,
        max_delay=problem.max_delay,
        horizon=steps,
        log_horizon=math.log(steps),
        gaps=gaps[gaps > TIE],
        largest_gap=float(gaps.max()),
        best_mean=float(problem.means[best]),
        best_delay=float(problem.mean_delays[best]),
        second_delay=float(delays[-2]) if problem.arms > 1 else 0.0,
    )


def check_mean(name: str, value: Any) -> float:
    """`value` as a float if it can be a mean payoff."""
    real = isinstance(value, int | float | np.integer | np.floating)
    if not real or not 0 <= value <= 1:
        raise InputError(f"The {name} is {shortened(value)}; it must be a mean payoff from 0 to 1.")
    return float(value)


def check_form(form: object) -> str:
    """`form` if it is one of FORMS."""
    if isinstance(form, str) and form in FORMS:
        return form
    raise InputError(f"The form is {form!r}; it must be 'printed', 'appendix' or 'safe'.")


def log_or_minus_infinity(number: float) -> float:
    """log(number), and what it tends to at 0."""
    return math.log(number) if number > 0 else -math.inf


def inverse_gaps(q: Quantities) -> float:
    """The sum of 1 / Delta_i over the arms that are not best."""
    return math.fsum((1.0 / q.gaps).tolist())


def harmonic(number: int) -> float:
    """H_n = 1 + 1/2 + ... + 1/n, and 0 for n = 0."""
    return math.fsum(1.0 / k for k in range(1, number + 1))


def shares(q: Quantities, *, best_stays: bool) -> float:
    """A bound on the sum of 1 / K_i over the arms that are not best.

    K_i is the number of active arms at the last test that arm i survives, so the arm that is
    removed as r-th from the end has K_i >= r. If the best arm stays to the end, the others have
    r = 2, ..., K: H_K - 1, at most log K. If it may go, they can have r = 1, ..., K - 1: H_(K-1),
    more than log K (for K = 2 it is 1 against 0.69). The paper prints log K for both.
    """
    return harmonic(q.arms) - 1.0 if best_stays else harmonic(q.arms - 1)


def price_of_a_bad_event(q: Quantities, parts: int) -> float:
    """T Delta_max P(the good event fails), with P at most `parts` K T / T^4.

    The good event is a union over arms and numbers of plays (or steps), at most K T of them. Each
    of its inequalities fails with probability T^-4: the upper and the lower bound on the number of
    missing plays count 1 each, the two sides of the bound on the mean 2 together.
    """
    probability = parts * q.arms / q.horizon**3
    return min(1.0, probability) * q.horizon * q.largest_gap


def price_of_a_bad_restart(q: Quantities, parts: int) -> float:
    """As `price_of_a_bad_event` for a phase that starts with an unknown number r of steps left.

    min(1, c / r^3) r, with c = parts K, is largest where r^3 = c, and is then the cube root of c.
    """
    return math.pow(parts * q.arms, 1 / 3) * q.largest_gap
