"""Upper bounds on the regret of CSE and BDSE (delay as cost)."""

import math

from tarry.problems.problem import Problem
from tarry.theory.quantities import (
    Quantities,
    check_form,
    inverse_gaps,
    log_or_minus_infinity,
    price_of_a_bad_event,
    price_of_a_bad_restart,
    quantities,
    shares,
)


def cse_bound(problem: Problem, horizon: int, threshold: float, form: str = "safe") -> float:
    """The regret of CSE with threshold B until it fails or the horizon T ends.

    printed:   sum_i 129 log T / gap_i + 8 D min(B, D max gap) log K
    appendix:  sum_i 129 log T / gap_i + 8 D min(B, max gap) log K
    safe:      sum_i (128 log T / gap_i + gap_i) + 8 D min(B, max gap) H + bad

    The main text multiplies a payoff by D twice; its proof is the appendix's. The safe form keeps
    what the appendix rounds away:

    - H bounds sum_i 1 / K_i (see `shares`): H_K - 1 if B >= mu*, H_(K-1) if not. log K is too
      little in the second case, in which the best arm can go first.
    - gap_i is the one play after the last test that arm i survives, and bad = min(1, 3 K / T^3) T
      max gap is what the good event costs when it fails. The paper covers both by "+ 2 / gap_i",
      and that by 129 instead of 128, which needs log T >= 2.
    - The paper's steps "D / K_i + 1 <= 2 D / K_i" (false for more than D arms) and "n_F is the same
      for all arms" (they differ by one) add at most 2 gap_i to 32 log T / gap_i + gap_i D / K_i,
      and 64 log T + 8 <= 128 log T / gap_i: both are inside 128 log T / gap_i for T >= 2.
    """
    q = quantities(problem, "cost", horizon)
    if not len(q.gaps):
        return 0.0
    if check_form(form) == "safe":
        delay = 8 * q.max_delay * min(threshold, q.largest_gap)
        stays = threshold >= q.best_mean
        return learning(q) + delay * shares(q, best_stays=stays) + price_of_a_bad_event(q, 3)
    gap = q.largest_gap * (q.max_delay if form == "printed" else 1)
    delay = 8 * q.max_delay * min(threshold, gap) * math.log(q.arms)
    return 129 * q.log_horizon * inverse_gaps(q) + delay


def bdse_bound(problem: Problem, horizon: int, form: str = "safe") -> float:
    """The regret of BDSE, which runs CSE with B = 1/D, 2/D, 4/D, ...

    printed:  sum_i 129 log T log d* / gap_i + 8 min(d*, D max gap log d*) log K
    safe:     N sum_i (128 log T / gap_i + gap_i) + 8 sum_j min(2^j, D max gap) H_j + bad

    N = J + 1 phases j = 0, ..., J are enough while the good events hold, where J is the first with
    2^J >= d*. The print counts log d* of them (natural, as all its logarithms), so it is 0 at
    d* = 1 and negative below. It sums 2^j to d*, but 1 + 2 + ... + 2^J is up to 4 d* - 1, since 2^J
    may be just under 2 d*. H_j is H_(K-1) in the phases that fail and H_K - 1 in the last one.
    bad: the first phase as in `cse_bound`, and (3 K)^(1/3) max gap for each later one.
    """
    q = quantities(problem, "cost", horizon)
    if not len(q.gaps):
        return 0.0
    if check_form(form) != "safe":
        phases = log_or_minus_infinity(q.best_delay)
        delay = min(q.best_delay, q.max_delay * q.largest_gap * phases)
        return 129 * q.log_horizon * phases * inverse_gaps(q) + 8 * delay * math.log(q.arms)
    last = doublings(q.best_delay)
    most = q.max_delay * q.largest_gap
    failed = math.fsum(min(2.0**j, most) for j in range(last)) * shares(q, best_stays=False)
    final = min(2.0**last, most) * shares(q, best_stays=True)
    bad = price_of_a_bad_event(q, 3) + last * price_of_a_bad_restart(q, 3)
    return (last + 1) * learning(q) + 8 * (failed + final) + bad


def doublings(best_delay: float) -> int:
    """J: how often B = 1/D is doubled until B >= mu*, the least J >= 0 with 2^J >= d*."""
    return max(0, math.ceil(math.log2(best_delay))) if best_delay > 0 else 0


def learning(q: Quantities, constant: float = 128.0) -> float:
    """sum_i (constant log T / gap_i + gap_i): telling the arms apart, and one play after that."""
    return constant * q.log_horizon * inverse_gaps(q) + math.fsum(q.gaps.tolist())
