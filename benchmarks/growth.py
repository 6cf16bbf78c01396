"""How the time per step grows with the number of arms, the largest delay and the horizon."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator

import tarry
from benchmarks.limit import run_limit
from benchmarks.speed import ARMS, HORIZON, LIMIT, MAX_DELAY
from benchmarks.timing import fastest, seconds
from tarry.drawing import plain_numbers, save_figure, short_number, styled
from tarry.palette import GREY, colours
from tarry.policies.label import policy_label

POLICIES: list[Any] = [tarry.BDSE(), tarry.DelayedUCB(), tarry.SurvivalThompson()]
LONGEST = 3.0  # seconds; a policy that takes longer at one value is not asked for larger ones


class SpeedLine(NamedTuple):
    """Nanoseconds per step of one policy along one quantity."""

    policy: str
    values: list[int]
    nanoseconds: list[float]


class Panel(NamedTuple):
    """All policies along one quantity."""

    quantity: str
    curves: list[SpeedLine]


def measure_growth(rounds: int, *, quick: bool = False) -> list[Panel]:
    """One quantity grows, the other two stay at the size of the paper's experiments."""
    arms = (2, 30, 100) if quick else (2, 5, 10, 30, 100, 300, 1000)
    delays = (10, 1000, 10**4) if quick else (10, 100, 1000, 10**4, 10**5, 10**6)
    horizons = (10**4, 10**5) if quick else (10**4, 10**5, 10**6, 10**7)
    return [
        Panel("arms K", _curves([(k, MAX_DELAY, HORIZON) for k in arms], 0, rounds)),
        Panel("largest delay D", _curves([(ARMS, d, HORIZON) for d in delays], 1, rounds)),
        Panel("horizon T", _curves([(ARMS, MAX_DELAY, t) for t in horizons], 2, rounds)),
    ]


def _curves(sizes: Sequence[tuple[int, int, int]], axis: int, rounds: int) -> list[SpeedLine]:
    names = [LIMIT, *map(policy_label, POLICIES)]
    curves = {name: SpeedLine(name, [], []) for name in names}
    slow: set[str] = set()
    for arms, max_delay, horizon in sizes:
        problem = tarry.problems.bernoulli(arms, max_delay, seed=7)
        tasks: dict[str, Callable[[], object]] = {
            LIMIT: partial(run_limit, problem, "cost", horizon)
        }
        for policy in POLICIES:
            tasks[policy_label(policy)] = partial(
                tarry.play, policy, problem, payoff="cost", horizon=horizon, record=1000
            )
        tasks = {name: task for name, task in tasks.items() if name not in slow}
        slow |= {name for name, task in tasks.items() if seconds(task) > LONGEST}
        for name, taken in fastest(tasks, rounds, budget=1.0).items():
            curves[name].values.append((arms, max_delay, horizon)[axis])
            curves[name].nanoseconds.append(taken / horizon * 1e9)
    return list(curves.values())


def draw_growth(panels: Sequence[Panel]) -> Figure:
    """One panel per quantity, on one logarithmic scale of time."""
    colour = {LIMIT: GREY, **colours(policy_label(policy) for policy in POLICIES)}
    with styled():
        figure = Figure(figsize=(7.6, 2.9))
        axes = figure.subplots(1, len(panels), sharey=True)
        for ax, panel in zip(axes, panels, strict=True):
            for curve in panel.curves:
                dashes = (0, (3, 1.5)) if curve.policy == LIMIT else "-"
                ax.loglog(
                    curve.values,
                    curve.nanoseconds,
                    color=colour[curve.policy],
                    linestyle=dashes,
                    marker="o",
                    markersize=3,
                    label=curve.policy,
                )
            ax.set_xlabel(panel.quantity)
            ax.xaxis.set_major_locator(LogLocator(base=10))
            ax.xaxis.set_major_formatter(FuncFormatter(short_number))
            plain_numbers(ax.yaxis)
        axes[0].set_ylabel("nanoseconds per step")
        handles = axes[0].get_legend_handles_labels()[0]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def save_growth(panels: Sequence[Panel], folder: Path) -> None:
    """The figure as SVG for the pages and as PNG for everything else."""
    figure = draw_growth(panels)
    for ending in ("svg", "png"):
        save_figure(figure, folder / f"growth.{ending}")
