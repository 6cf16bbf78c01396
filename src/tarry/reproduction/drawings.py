"""The report's own drawings: how regret grows, and all policies at a glance."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tarry.drawing import legend_below, new_figure, plain_numbers, styled
from tarry.experiments.figures import DASHES, Level
from tarry.palette import INK, colours
from tarry.reproduction.scaling import Growth

MARKERS = "osD^vPX*"
SIZES = (7, 4, 4.5, 4.5, 4.5, 4.5, 4.5, 4.5)  # the first may lie behind the second


def plot_scaling(
    found: Mapping[str, Growth], *, title: str, xlabel: str, levels: Sequence[Level] = ()
) -> Any:
    """Log-log: regret against a parameter, with the fitted slopes in the legend."""
    with styled():
        figure = new_figure(4.2)
        axes = figure.subplots()
        handles = draw_scaling(axes, found, levels)
        axes.set(title=title, xlabel=xlabel, ylabel="regret at the horizon")
        figure.legend(handles=handles, loc="outside lower center", ncols=1, handlelength=1.4)
    return figure


def plot_overview(
    series: Mapping[str, Mapping[str, tuple[float, float, float]]], *, title: str
) -> Any:
    """Regret at the horizon of each policy (mean, low, high) under several conditions."""
    with styled():
        figure = new_figure(3.9)
        axes = figure.subplots()
        conditions = list(dict.fromkeys(name for row in series.values() for name in row))
        spread = np.linspace(-0.27, 0.27, max(2, len(series)))
        for shift, (policy, row), colour in zip(
            spread, series.items(), colours(series).values(), strict=False
        ):
            at = np.array([conditions.index(name) for name in row]) + shift
            mean, low, high = np.array(list(row.values())).T
            below = np.minimum(mean - low, 0.8 * mean)  # the axis is logarithmic
            axes.errorbar(at, mean, (below, high - mean), color=colour, fmt="o", ms=4, label=policy)
        axes.set(yscale="log", title=title, ylabel="regret at the horizon")
        axes.set_xticks(range(len(conditions)), conditions)
        axes.grid(visible=False, axis="x")
        plain_numbers(axes.yaxis)
        legend_below(figure, axes.get_legend_handles_labels()[0])
    return figure


def draw_scaling(axes: Any, found: Mapping[str, Growth], levels: Sequence[Level]) -> list[Any]:
    """Points with intervals and fitted lines; return what the legend shows."""
    handles: list[Any] = []
    looks = zip(found.items(), colours(found).values(), MARKERS, SIZES, strict=False)
    for (policy, data), colour, marker, size in looks:
        below = np.minimum(data.mean - data.low, 0.8 * data.mean)  # stay on the log axis
        errors = np.nan_to_num(np.array([below, data.high - data.mean]))
        label = f"{policy}: slope {data.slope}"
        handles.append(
            axes.errorbar(
                data.x, data.mean, errors, color=colour, fmt=marker, ms=size, lw=1.0, label=label
            )
        )
        axes.plot(data.x, data.line, color=colour, lw=1.0, alpha=0.8)
    for level, dashes in zip(levels, DASHES, strict=False):
        look: dict[str, Any] = {"color": INK, "lw": 1.0, "linestyle": dashes}
        handles += axes.plot(level.x, level.y, label=level.label, **look)
    axes.set(xscale="log", yscale="log")
    plain_numbers(axes.xaxis)
    plain_numbers(axes.yaxis)
    return handles
