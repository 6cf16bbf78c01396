"""Where the variation between runs comes from: from the instance that was drawn, or from chance.

In the paper's experiments each run draws its own instance. Here some instances are played several
times each. With m runs on each of n instances, MS_b and MS_w the mean squares between and within
instances (analysis of variance with random effects),

    variance within instances = MS_w        variance between instances = (MS_b - MS_w) / m
"""

from typing import NamedTuple

import numpy as np
from scipy.special import fdtri

from tarry.experiments.curves import LEVEL
from tarry.experiments.experiment import Case, Experiment, seeds_of_run
from tarry.experiments.from_text import Family
from tarry.experiments.result import Result
from tarry.policies.from_text import parse_policy
from tarry.problems.problem import Payoff
from tarry.reproduction.paper import JUDGED, Size

INSTANCES, REPEATS = 20, 10


class VariationRow(NamedTuple):
    """The variation of one policy, apart."""

    payoff: str
    policy: str
    mean: float
    within: float  # standard deviation of runs on the same instance
    between: float  # standard deviation of the means of instances
    share: float  # of the variance that is between instances
    low: float  # 95 % interval of the share, exact for normal data
    high: float
    instances: int
    repeats: int


def variation_experiment(payoff: Payoff, size: Size) -> Experiment:
    """The instances of the first runs on Bernoulli delays, each played several times."""
    instances = min(INSTANCES, max(size.runs // 2, 2))
    family = Family("bernoulli", {"arms": 30, "max_delay": 5000})
    cases = [
        Case(
            f"instance {number + 1}",
            family(seeds_of_run(size.seed, number).problem),
            size.horizon,
            points=1,
        )
        for number in range(instances)
    ]
    policies = {text: parse_policy(text) for text in JUDGED[payoff]}
    return Experiment(policies, cases, payoff, min(REPEATS, max(size.runs, 2)), size.seed + 1)


def variation_rows(result: Result) -> list[VariationRow]:
    """The variation of each policy."""
    return [variation_row(result, policy) for policy in result.policies]


def variation_row(result: Result, policy: str) -> VariationRow:
    """The variation of one policy."""
    regret = np.array([result.regret(policy, problem)[:, -1] for problem in result.problems])
    n, m = regret.shape
    means = regret.mean(axis=1)
    within = float(regret.var(axis=1, ddof=1).mean())
    across = m * float(means.var(ddof=1))
    between = max((across - within) / m, 0.0)
    total = within + between
    ratio = across / within if within else np.inf
    degrees = n - 1, n * (m - 1)
    ends = [
        ratio / float(fdtri(*degrees, quantile)) for quantile in (0.5 + LEVEL / 2, 0.5 - LEVEL / 2)
    ]
    shares = [max((end - 1) / (end - 1 + m), 0.0) if np.isfinite(end) else 1.0 for end in ends]
    return VariationRow(
        result.payoff,
        policy,
        float(means.mean()),
        within**0.5,
        between**0.5,
        between / total if total else 0.0,
        shares[0],
        shares[1],
        n,
        m,
    )
