"""Which figures are made of which results."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from tarry.experiments import figures
from tarry.experiments.curves import RegretCurve
from tarry.experiments.experiment import Experiment
from tarry.experiments.figures import Level
from tarry.experiments.result import Result
from tarry.reproduction import drawings
from tarry.reproduction.paper import BERNOULLI, FIGURE_RUNS, JUDGED, PAPERS, normal_problems
from tarry.reproduction.scaling import Growth, ScalingExperiment, delay_floors
from tarry.reproduction.theory_checks import floor_curves


class Picture(NamedTuple):
    """A figure with the name of its files and what it shows."""

    name: str
    caption: str
    figure: Any  # of matplotlib


def headline(whole: Mapping[str, Result]) -> Picture:
    """The regret at the horizon of every policy on every problem, a panel for each payoff."""
    panels = {}
    for payoff, result in whole.items():
        table = result.final()
        panels[f"delay as {payoff}"] = {
            policy.replace("BDSE", "B*SE").replace("BHSE", "B*SE"): {
                result.about(problem)["short"]: (row.mean, row.low, row.high)
                for problem in result.problems
                for row in [table.row(policy, problem)]
            }
            for policy in result.policies
        }
    first = next(iter(whole.values()))
    return Picture(
        "headline",
        f"Regret at the horizon, less is better: mean of {first.runs} runs with its 95 % "
        f"interval, on truncated normal delays with means of {len(normal_problems(first))} scales "
        f"and on Bernoulli delays. B*SE is the paper's policy, BDSE for cost and BHSE for reward.",
        drawings.plot_headline(panels),
    )


def thinned(curve: RegretCurve, most: int = 67) -> RegretCurve:
    """Some points of a curve, evenly spread and with the last: the eye does not miss the others."""
    kept = np.unique(np.linspace(0, len(curve.steps) - 1, most).round().astype(int))
    return RegretCurve(*(part[kept] for part in curve))


def paper_pictures(result: Result) -> Iterator[Picture]:
    """The paper's figure for each scale of the means, of as many runs as it shows."""
    few = result.first(min(result.runs, FIGURE_RUNS))
    payoff = few.payoff
    for problem in normal_problems(few):
        curves = {
            (name, policy): thinned(few.curve(policy, name))
            for policy in PAPERS[payoff]
            for name in (problem, BERNOULLI)
        }
        axes = figures.plot_curves(curves, title=f"{payoff}, the paper's policies")
        yield Picture(
            f"{payoff}-paper-{few.about(problem)['file']}",
            f"The paper's figure for delay as {payoff}, with means of scale "
            f"{few.about(problem)['mean_scale']:g}: mean of {few.runs} runs, the band is one "
            f"standard deviation of the runs.",
            figures.figure_of(axes),
        )


def spread_picture(result: Result) -> Picture:
    """How much the runs of the judged policies vary."""
    series = {
        policy: {
            result.about(problem)["short"]: result.regret(policy, problem)[:, -1]
            for problem in result.problems
        }
        for policy in JUDGED[result.payoff]
        if policy in result.policies
    }
    return Picture(
        f"{result.payoff}-spread",
        f"How {result.runs} runs vary, delay as {result.payoff}: the dot is the median run, half "
        f"of the runs lie in the thick line and nine of ten in the thin one.",
        drawings.plot_spread(series, title=f"{result.payoff}, regret of single runs"),
    )


def all_pictures(experiment: Experiment, whole: Result) -> Iterator[Picture]:
    """All policies on each problem, over time."""
    floors = floor_curves(experiment)
    payoff = whole.payoff
    for problem in whole.problems:
        every = {
            (problem, policy): thinned(whole.curve(policy, problem)) for policy in whole.policies
        }
        steps, floor = whole.steps(problem), floors[problem]
        levels = [Level("asymptotic information floor", steps[::3], floor.asymptotic[::3])]
        if floor.always[-1] > 1:  # a line far below all others would press them together
            levels.append(Level("floor at every T", steps[::3], floor.always[::3]))
        axes = figures.plot_curves(
            every, title=f"{payoff}, {problem}", log=True, band="interval", levels=levels
        )
        yield Picture(
            f"{payoff}-all-{whole.about(problem)['file']}",
            f"All policies on {problem}, delay as {payoff}: mean of {whole.runs} runs with its "
            f"95 % interval, logarithmic. No policy stays below {floor.always[-1]:.2g} at the "
            f"horizon on average.",
            figures.figure_of(axes),
        )


def scaling_picture(name: str, scaling: ScalingExperiment, found: Mapping[str, Growth]) -> Picture:
    """Regret against one parameter."""
    first = next(iter(found.values()))
    floors = delay_floors(scaling, first.x)
    levels = [Level("delay floor of any policy", first.x, floors)] if floors.min() > 1 else []
    fitted = "slopes of log regret on log log T" if scaling.against_log else "slopes in log-log"
    return Picture(
        f"scaling-{name}",
        f"Regret, {scaling.title}: mean of {first.runs} runs with its 95 % interval, and fitted "
        f"lines with their {fitted}.",
        drawings.plot_scaling(found, title=scaling.title, xlabel=scaling.axis, levels=levels),
    )
