"""The report's own drawings: how regret grows, and all policies at a glance."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tarry.arrays import FloatArray
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


Series = Mapping[str, Mapping[str, tuple[float, float, float]]]


def plot_headline(panels: Mapping[str, Series]) -> Any:
    """Regret at the horizon of each policy (mean, low, high) under several conditions, stacked."""
    with styled():
        figure = new_figure(2.6 * len(panels) + 1.3)
        every = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
        names = list(dict.fromkeys(name for series in panels.values() for name in series))
        look = colours([name.replace("B*SE", "BDSE") for name in names])
        for axes, (title, series) in zip(every, panels.items(), strict=True):
            conditions = list(dict.fromkeys(name for row in series.values() for name in row))
            spread = np.linspace(-0.34, 0.34, max(2, len(names)))
            for shift, policy in zip(spread, names, strict=False):
                row = series.get(policy, {})
                if not row:
                    continue
                at = np.array([conditions.index(name) for name in row]) + shift
                mean, low, high = np.array(list(row.values())).T
                errors = np.nan_to_num((mean - low, high - mean))
                colour = look[policy.replace("B*SE", "BDSE")]
                axes.errorbar(at, mean, errors, color=colour, fmt="o", ms=4.5, label=policy)
            finish_conditions(axes, conditions, title)
        handles = {handle.get_label(): handle for axes in every for handle in axes.containers}
        legend_below(figure, [handles[name] for name in names])
    return figure


def plot_spread(series: Mapping[str, Mapping[str, FloatArray]], *, title: str) -> Any:
    """Single runs of each policy under several conditions: median, middle half, nine of ten."""
    with styled():
        figure = new_figure(3.7)
        axes = figure.subplots()
        conditions = list(dict.fromkeys(name for row in series.values() for name in row))
        spread = np.linspace(-0.24, 0.24, max(2, len(series)))
        for shift, (policy, row), colour in zip(
            spread, series.items(), colours(series).values(), strict=False
        ):
            at = np.array([conditions.index(name) for name in row]) + shift
            low, left, middle, right, high = np.array(
                [np.quantile(runs, (0.05, 0.25, 0.5, 0.75, 0.95)) for runs in row.values()]
            ).T
            axes.vlines(at, low, high, color=colour, lw=1.0)
            axes.vlines(at, left, right, color=colour, lw=4.5, alpha=0.55)
            axes.plot(at, middle, "o", color=colour, ms=4.5, label=policy)
        finish_conditions(axes, conditions, title)
        legend_below(figure, axes.get_legend_handles_labels()[0])
    return figure


def finish_conditions(axes: Any, conditions: Sequence[str], title: str) -> None:
    """A logarithmic axis of regret over named conditions."""
    axes.set(yscale="log", title=title, ylabel="regret at the horizon")
    axes.set_xticks(range(len(conditions)), conditions)
    axes.grid(visible=False, axis="x")
    plain_numbers(axes.yaxis)


def draw_scaling(axes: Any, found: Mapping[str, Growth], levels: Sequence[Level]) -> list[Any]:
    """Points with intervals and fitted lines; return what the legend shows."""
    handles: list[Any] = []
    looks = zip(found.items(), colours(found).values(), MARKERS, SIZES, strict=False)
    for (policy, data), colour, marker, size in looks:
        errors = np.nan_to_num(np.array([data.mean - data.low, data.high - data.mean]))
        label = f"{policy}: {data.fit.slope:.2f}{'' if data.fit.is_straight else ', bent'}"
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
