"""The experiments of the paper, and what its figures do not show.

T = 150 000, K = 30, D = 5000, 10 runs, delays truncated normal and Bernoulli, instances redrawn for
each run. The paper does not tell the scale of the exponential distribution that draws the means of
the truncated normal, so several are run. Policies beyond the paper's are there to compare.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tarry.experiments.experiment import Case, Experiment
from tarry.experiments.from_text import Family, parse_policy
from tarry.experiments.result import Result
from tarry.problems.problem import Payoff

SCALES = (0.02, 0.05, 0.2, 0.5)
BERNOULLI = "Bernoulli"
PAPERS = {"cost": ("BDSE", "OPSE"), "reward": ("BHSE", "OPSE", "CensoredUCB")}
POLICIES = {
    "cost": (
        "BDSE",
        "BDSE(keep_history=True)",
        "BDSE(bounds='tight')",
        "OPSE",
        "SEPK",
        "DelayedThompson",
        "SurvivalThompson",
    ),
    "reward": (
        "BHSE",
        "BHSE(keep_history=True)",
        "BHSE(bounds='tight')",
        "OPSE",
        "CensoredUCB",
        "SEPK",
        "DelayedThompson",
        "SurvivalThompson",
    ),
}


class Size(NamedTuple):
    """How much of the paper's experiments is run."""

    horizon: int = 150_000
    runs: int = 10
    scales: Sequence[float] = SCALES
    seed: int = 0


QUICK = Size(runs=4, scales=(0.05, 0.2))


def paper_experiment(payoff: Payoff, size: Size = Size()) -> Experiment:  # noqa: B008  # immutable
    """The paper's experiment with delay as `payoff`, for several scales of the means."""
    world = {"arms": 30, "max_delay": 5000}
    cases = [
        Case(
            f"truncated normal {scale:g}",
            Family("truncated_normal", {**world, "mean_scale": scale}),
            size.horizon,
            about={
                "mean_scale": scale,
                "file": f"truncated-normal-{scale:g}",
                "short": f"trunc.\nnormal\n{scale:g}",
            },
        )
        for scale in size.scales
    ]
    cases.append(
        Case(
            BERNOULLI,
            Family("bernoulli", world),
            size.horizon,
            about={"file": "bernoulli", "short": BERNOULLI},
        )
    )
    policies = {text: parse_policy(text) for text in POLICIES[payoff]}
    return Experiment(policies, cases, payoff, size.runs, size.seed)


def normal_problems(result: Result) -> list[str]:
    """The problems with truncated normal delays."""
    return [name for name in result.problems if name != BERNOULLI]


def size_of(result: Result) -> Size:
    """The size that gave a result."""
    scales = [result.about(name)["mean_scale"] for name in normal_problems(result)]
    return Size(int(result.steps(BERNOULLI)[-1]), result.runs, scales, result.seed)
