"""Which figures are made of which results."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tarry.experiments import figures
from tarry.experiments.experiment import Experiment
from tarry.experiments.figures import Level
from tarry.experiments.result import Result
from tarry.reproduction import drawings
from tarry.reproduction.paper import BERNOULLI, PAPERS, normal_problems
from tarry.reproduction.scaling import Growth, ScalingExperiment, delay_floors
from tarry.reproduction.theory_checks import floor_curves


class Picture(NamedTuple):
    """A figure with the name of its files and what it shows."""

    name: str
    caption: str
    figure: Any  # of matplotlib


def paper_pictures(experiment: Experiment, result: Result) -> Iterator[Picture]:
    """The paper's figure for each scale of the means, all policies on each problem, an overview."""
    payoff = result.payoff
    for problem in normal_problems(result):
        curves = {
            (name, policy): result.curve(policy, name)
            for policy in PAPERS[payoff]
            for name in (problem, BERNOULLI)
        }
        axes = figures.plot_curves(curves, title=f"{payoff}, the paper's policies")
        yield Picture(
            f"{payoff}-paper-{result.about(problem)['file']}",
            f"The paper's figure for delay as {payoff}, with means of scale "
            f"{result.about(problem)['mean_scale']:g}: mean of {result.runs} runs, the band is one "
            f"standard deviation of the runs.",
            figures.figure_of(axes),
        )
    floors = floor_curves(experiment)
    for problem in result.problems:
        every = {(problem, policy): result.curve(policy, problem) for policy in result.policies}
        steps, floor = result.steps(problem), floors[problem]
        levels = [
            Level("asymptotic information floor", steps, floor.asymptotic),
            Level("floor at every T", steps, floor.always),
        ]
        axes = figures.plot_curves(
            every, title=f"{payoff}, {problem}", log=True, band="interval", levels=levels
        )
        yield Picture(
            f"{payoff}-all-{result.about(problem)['file']}",
            f"All policies on {problem}, delay as {payoff}: mean of {result.runs} runs with its "
            f"95 % interval, logarithmic. The asymptotic information floor (Lai and Robbins, "
            f"at most T times the largest gap) is what remains in the limit of large T; at a "
            f"finite T a policy may be below it. The floor at every T is the greater of the delay "
            f"floor and the early one of Garivier, Menard and Stoltz, which is small.",
            figures.figure_of(axes),
        )
    yield overview(result)


def overview(result: Result) -> Picture:
    """The regret at the horizon of every policy on every problem."""
    table = result.final()
    series = {
        policy: {
            result.about(problem)["short"]: (row.mean, row.low, row.high)
            for problem in result.problems
            for row in [table.row(policy, problem)]
        }
        for policy in result.policies
    }
    return Picture(
        f"{result.payoff}-overview",
        f"Regret at the horizon, delay as {result.payoff}: mean of {result.runs} runs with its "
        f"95 % interval.",
        drawings.plot_overview(series, title=f"{result.payoff}, all problems"),
    )


def scaling_picture(name: str, scaling: ScalingExperiment, found: Mapping[str, Growth]) -> Picture:
    """Regret against one parameter."""
    x = next(iter(found.values())).x
    floors = delay_floors(scaling, x)
    levels = [Level("delay floor of any policy", x, floors)] if floors.min() > 1 else []
    fitted = "slopes of log regret on log log T" if scaling.against_log else "slopes in log-log"
    return Picture(
        f"scaling-{name}",
        f"Regret, {scaling.title}: mean with its 95 % interval, and fitted lines with their "
        f"{fitted} ± standard error.",
        drawings.plot_scaling(found, title=scaling.title, xlabel=scaling.axis, levels=levels),
    )
