"""The experiments of the paper, and what its figures do not show.

T = 150 000, K = 30, D = 5000, delays truncated normal and Bernoulli, instances redrawn for each
run. The paper does not tell the scale of the exponential distribution that draws the means of the
truncated normal, so several are run. Its figures show 10 runs, and so do ours; its claims are
judged by as many as it takes. Policies beyond the paper's are there to compare, with fewer runs
since they differ more.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tarry.experiments.experiment import Case, Experiment
from tarry.experiments.from_text import Family
from tarry.experiments.result import Result
from tarry.policies.from_text import parse_policy
from tarry.problems.problem import Payoff

SCALES = (0.02, 0.05, 0.2, 0.5)
BERNOULLI = "Bernoulli"
FIGURE_RUNS = 10  # as in the paper
PAPERS = {"cost": ("BDSE", "OPSE"), "reward": ("BHSE", "OPSE", "CensoredUCB")}
JUDGED = {
    "cost": ("BDSE", "BDSE(keep_history=True)", "OPSE", "SEPK"),
    "reward": ("BHSE", "BHSE(keep_history=True)", "OPSE", "SEPK", "CensoredUCB"),
}
OURS = {
    "cost": ("BDSE(bounds='tight')", "IncrementUCB", "SurvivalUCB", "SurvivalThompson"),
    "reward": ("BHSE(bounds='tight')", "IncrementUCB", "SurvivalUCB", "SurvivalThompson"),
}
FIELD = {payoff: ("DelayedThompson", *OURS[payoff]) for payoff in ("cost", "reward")}


class Size(NamedTuple):
    """How much of the paper's experiments is run."""

    horizon: int = 150_000
    runs: int = 150  # of the policies that the paper's claims are about
    scales: Sequence[float] = SCALES
    seed: int = 0

    @property
    def field_runs(self) -> int:
        """Runs of the other policies."""
        return max(self.runs // 10, min(self.runs, FIGURE_RUNS))


QUICK = Size(runs=10, scales=(0.05, 0.2))


def paper_experiment(payoff: Payoff, size: Size = Size()) -> Experiment:  # noqa: B008  # immutable
    """The paper's experiment with delay as `payoff`, for several scales of the means."""
    policies = {text: parse_policy(text) for text in JUDGED[payoff]}
    return Experiment(policies, cases(size), payoff, size.runs, size.seed)


def field_experiment(payoff: Payoff, size: Size = Size()) -> Experiment:  # noqa: B008  # immutable
    """The other policies on the same worlds."""
    policies = {text: parse_policy(text) for text in FIELD[payoff]}
    return Experiment(policies, cases(size), payoff, size.field_runs, size.seed)


def cases(size: Size) -> list[Case]:
    """The families of problems."""
    world = {"arms": 30, "max_delay": 5000}
    found = [
        Case(
            f"truncated normal {scale:g}",
            Family("truncated_normal", {**world, "mean_scale": scale}),
            size.horizon,
            about={
                "mean_scale": scale,
                "file": f"truncated-normal-{scale:g}",
                "short": f"normal\n{scale:g}",
            },
        )
        for scale in size.scales
    ]
    about = {"file": "bernoulli", "short": "Ber-\nnoulli"}
    found.append(Case(BERNOULLI, Family("bernoulli", world), size.horizon, about=about))
    return found


def normal_problems(result: Result) -> list[str]:
    """The problems with truncated normal delays."""
    return [name for name in result.problems if name != BERNOULLI]


def size_of(result: Result) -> Size:
    """The size that gave a result of the paper's experiment."""
    scales = [result.about(name)["mean_scale"] for name in normal_problems(result)]
    return Size(int(result.steps(BERNOULLI)[-1]), result.runs, scales, result.seed)
