"""How often the paper's confidence bounds are wrong in a run."""

from dataclasses import dataclass

import numpy as np

from tarry.arrays import FloatArray
from tarry.problems.problem import Problem
from tarry.theory.evidence import Evidence, Recorded, evidence

LOWER = ("L1", "L2", "L3")


@dataclass(frozen=True)
class Coverage:
    """Bounds against true means, at every test of one run.

    tests: how often each bound was computed: once per active arm after each full sweep.
    wrong: how often the true mean lay on the wrong side of it.
    nearest: the least distance from a bound to the true mean, negative if it was ever wrong.
    allowed: the probability with which the paper lets the bound be wrong anywhere in a phase.
    """

    tests: int
    wrong: dict[str, int]
    nearest: dict[str, float]
    allowed: dict[str, float]


def bound_coverage(run: Recorded, problem: Problem) -> Coverage:
    """Compare L1, L2, L3 (CSE), U1, U2 (RSE) and U3 (SE-PK) with the true means.

    All six are computed from the same run, whichever policy it is, with the formulas of
    `confidence_bounds`. Lower bounds must not exceed the mean, upper bounds must not fall below.

    >>> import tarry
    >>> problem = tarry.problems.bernoulli(4, 50, seed=3)
    >>> run = tarry.play(tarry.SEPK(), problem, payoff="cost", horizon=20_000)
    >>> set(bound_coverage(run, problem).wrong.values())
    {0}
    """
    known = evidence(run, problem)
    mean = problem.means[known.arm]
    slack = {
        name: mean - bound if name in LOWER else bound - mean
        for name, bound in confidence_bounds(known, problem.max_delay).items()
    }
    least = 1 / float(run.horizon) ** 2
    return Coverage(
        tests=len(mean),
        wrong={name: int((distance < 0).sum()) for name, distance in slack.items()},
        nearest={name: float(distance.min(initial=np.inf)) for name, distance in slack.items()},
        allowed={name: least if name in ("L3", "U3") else 2 * least for name in slack},
    )


def confidence_bounds(known: Evidence, max_delay: int) -> dict[str, FloatArray]:
    """The paper's bounds on the mean payoff, one number per row of the evidence.

    L1 = mu_minus - sqrt(2 L / n)       L2 = mu_F - sqrt(2 L / max(|F|, 1))
    U1 = mu_plus + sqrt(2 L / n)        U2 = mu_F + sqrt(2 L / max(|F|, 1))
    L3 = R / D * (m / 2 - 8 L - 1)      U3 = (2 m + 8 L + 1) / w
    """
    radius = np.sqrt(2 * known.log_term / known.plays)
    complete = np.maximum(known.complete, 1)
    wide = np.sqrt(2 * known.log_term / complete)
    minus = (known.missing_age + known.seen_sum) / (max_delay * known.plays)
    plus = (known.missing * max_delay + known.seen_sum) / (max_delay * known.plays)
    full = known.complete_sum / (max_delay * complete)
    with np.errstate(divide="ignore"):
        few = (2 * known.missing + 8 * known.log_term + 1) / known.window
    return {
        "L1": minus - radius,
        "L2": full - wide,
        "L3": known.spacing / max_delay * (known.missing / 2 - 8 * known.log_term - 1),
        "U1": plus + radius,
        "U2": full + wide,
        "U3": few,
    }
