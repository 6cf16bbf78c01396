"""One door to all upper bounds, and the paper's Table 1."""

from typing import Any

from tarry.errors import InputError, PayoffError, UnknownNameError
from tarry.policies.label import policy_label
from tarry.problems.problem import Payoff, Problem
from tarry.theory.censored_bounds import censored_ucb_bound
from tarry.theory.conservative_bounds import opse_bound, order, sepk_bound
from tarry.theory.cost_bounds import bdse_bound, cse_bound
from tarry.theory.increment_bounds import increment_ucb_bound, unbounded_plays
from tarry.theory.quantities import check_form, quantities
from tarry.theory.reward_bounds import bhse_bound, delay_term, rse_bound

BOUNDS: dict[str, tuple[str, ...]] = {
    "CSE": ("cost",),
    "BDSE": ("cost",),
    "RSE": ("reward",),
    "BHSE": ("reward",),
    "SEPK": ("cost", "reward"),
    "OPSE": ("cost", "reward"),
    "CensoredUCB": ("cost", "reward"),
    "IncrementUCB": ("cost", "reward"),
}


def upper_bound(
    policy: Any,
    problem: Problem,
    horizon: int,
    *,
    payoff: Payoff | None = None,
    form: str = "safe",
    threshold: float | None = None,
) -> float:
    """An upper bound on the expected regret of a policy on a problem.

    Args:
        policy: The name of a policy ("BDSE"), or a policy, whose settings are then used.
        problem: The problem; its exact means and gaps enter.
        horizon: T.
        payoff: "cost" or "reward"; needed where the policy serves both.
        form: "printed": the formula of the main text; "appendix": the one of its appendix;
            "safe": corrected where the print does not follow from its proof. See each function.
            All forms are one for a policy that is not the paper's. That of
            `IncrementUCB(unbounded=True)` is `unbounded_plays`, the most plays of each arm, times
            the gaps; it may be larger than T times the largest gap.
        threshold: B of CSE and RSE, if `policy` is a name.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([1, 4000], max_delay=4000)
    >>> upper_bound("BDSE", problem, 10_000, form="printed")
    0.0
    >>> round(upper_bound("BDSE", problem, 10_000))
    1184
    """
    name = policy if isinstance(policy, str) else type(policy).__name__
    check_form(form)
    if name not in BOUNDS:
        raise UnknownNameError.of("policy with a regret bound", name, BOUNDS)
    if getattr(policy, "keep_history", False) or getattr(policy, "bounds", "paper") != "paper":
        raise InputError(
            f"{policy_label(policy)} has no proven bound; the corollary is about {name}()."
        )
    if payoff is None and len(BOUNDS[name]) > 1:
        raise PayoffError(f"{name} serves cost and reward; say which with payoff=...")
    paid = payoff or BOUNDS[name][0]
    if paid not in BOUNDS[name]:
        raise PayoffError(f"{name} serves {BOUNDS[name][0]} only, not {paid!r}.")
    return dispatch(name, policy, problem, horizon, paid, form, threshold)


def dispatch(
    name: str,
    policy: Any,
    problem: Problem,
    horizon: int,
    payoff: Any,
    form: str,
    threshold: float | None,
) -> float:
    """Call the bound of this name with the settings it takes."""
    if name in ("CSE", "RSE"):
        level = getattr(policy, "threshold", threshold)
        if level is None:
            raise InputError(f"The bound of {name} depends on its threshold; give threshold=...")
        one_phase = cse_bound if name == "CSE" else rse_bound
        return one_phase(problem, horizon, level, form)
    if name in ("BDSE", "BHSE"):
        return (bdse_bound if name == "BDSE" else bhse_bound)(problem, horizon, form)
    if name == "SEPK":
        return sepk_bound(problem, horizon, payoff, form)
    if name == "IncrementUCB":
        return of_increment_ucb(policy, problem, horizon, payoff)
    if name == "OPSE":
        return opse_bound(problem, horizon, payoff, form, getattr(policy, "log_term", "T"))
    return censored_ucb_bound(problem, horizon, payoff, form, getattr(policy, "radius", "paper"))


def of_increment_ucb(policy: Any, problem: Problem, horizon: int, payoff: Any) -> float:
    """The bound of IncrementUCB with the settings of `policy`, or the default ones for a name."""
    spread = getattr(policy, "spread", None)
    if not getattr(policy, "unbounded", False):
        return increment_ucb_bound(problem, horizon, payoff, spread)
    if payoff != "cost":
        raise PayoffError(f"{policy_label(policy)} serves cost only, not {payoff!r}.")
    return float(problem.gaps("cost") @ unbounded_plays(problem, horizon, spread or 0.0))


def trivial_bound(problem: Problem, payoff: Payoff, horizon: int) -> float:
    """T Delta_max, which no policy can exceed; many a bound above does for moderate T."""
    q = quantities(problem, payoff, horizon)
    return q.horizon * q.largest_gap


def table_one(problem: Problem, payoff: Payoff, horizon: int) -> dict[str, float]:
    """The column of the paper's Table 1 for this payoff: orders of growth, all constants 1.

    "Tang et al." has no entry for cost. The paper's own row leaves out the factors log K and
    log d* (cost) or log(1 / mu*) (reward) that its theorems have.
    """
    q = quantities(problem, payoff, horizon)
    rows = {"Lancewicki et al.": order(q, q.max_delay)}
    if payoff == "reward":
        rows["Tang et al."] = order(q, q.max_delay * float(q.gaps.sum()))
        rows["this paper"] = order(q, delay_term(q))
    else:
        rows["this paper"] = order(q, min(q.best_delay, q.max_delay * q.largest_gap))
    return rows
