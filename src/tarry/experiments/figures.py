"""Regret against steps, drawn: the numbers come from elsewhere.

Policies differ by colour, problems by line style.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tarry.arrays import FloatArray
from tarry.drawing import (
    Axes,
    FuncFormatter,
    Line2D,
    figure_of,
    legend_below,
    new_figure,
    plain_numbers,
    rendered,
    save_figure,
    short_number,
    styled,
)
from tarry.errors import InputError
from tarry.experiments.curves import RegretCurve
from tarry.palette import INK, LINE_STYLES, colours

__all__ = [
    "Level",
    "draw_curves",
    "figure_of",
    "legend_handles",
    "plot_curves",
    "rendered",
    "save_figure",
    "short_number",
]

BANDS = ("std", "interval", "quantiles", "none")
DASHES: tuple[Any, ...] = ((0, (1, 1)), (0, (1, 3)), (0, (4, 1, 1, 1)))  # of floors and bounds


class Level(NamedTuple):
    """A thin line to compare with: a bound or a floor."""

    label: str
    x: Any
    y: Any


def plot_curves(
    curves: Mapping[tuple[str, str], RegretCurve],
    *,
    path: str | os.PathLike[str] | None = None,
    axes: Axes | None = None,
    band: str = "std",
    log: bool = False,
    title: str = "",
    levels: Sequence[Level] = (),
    marks: Sequence[int] = (),
) -> Axes:
    """Regret against steps, for curves by (problem, policy), into a file or into `axes`.

    `marks` are steps at which something changes.
    """
    if band not in BANDS:
        raise InputError(f"The band is {band!r}; it must be one of {', '.join(BANDS)}.")
    with styled():
        own = axes is None
        target = new_figure(3.5).subplots() if axes is None else axes
        policies = list(dict.fromkeys(policy for _, policy in curves))
        problems = list(dict.fromkeys(problem for problem, _ in curves))
        draw_curves(target, curves, band=band, log=log, levels=levels)
        last = max((int(curve.steps[-1]) for curve in curves.values()), default=0)
        for step in marks:
            if step <= last:
                target.axvline(step, color=INK, lw=0.6, alpha=0.45, linestyle=(0, (2, 2)), zorder=0)
        target.set_title(title)
        handles = legend_handles(policies, problems, levels)
        if own:
            legend_below(figure_of(target), handles)
        else:
            target.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
        if path is not None:
            save_figure(figure_of(target), path)
    return target


def draw_curves(
    axes: Axes,
    curves: Mapping[tuple[str, str], RegretCurve],
    *,
    band: str,
    log: bool,
    levels: Sequence[Level] = (),
) -> None:
    """Lines and bands into given axes."""
    colour = colours(policy for _, policy in curves)
    style = dict(zip(dict.fromkeys(problem for problem, _ in curves), LINE_STYLES, strict=False))
    for (problem, policy), curve in curves.items():
        look: dict[str, Any] = {"color": colour[policy], "linestyle": style.get(problem, "-")}
        axes.plot(curve.steps, curve.mean, **look, label=policy)
        if band != "none":
            low, high = band_of(curve, band)
            floor = (
                curve.mean / 3 if log else 0.0
            )  # what is not positive has no place on a log axis
            low = np.maximum(low, floor)
            axes.fill_between(curve.steps, low, high, color=colour[policy], alpha=0.16, lw=0)
        if band == "quantiles":
            axes.plot(curve.steps, curve.worst, **look, lw=0.6, alpha=0.8)
    for level, dashes in zip(levels, DASHES, strict=False):
        axes.plot(level.x, level.y, color=INK, lw=1.0, linestyle=dashes, label=level.label)
    axes.set(xlabel="step", ylabel="regret")
    axes.margins(x=0)
    axes.xaxis.set_major_formatter(FuncFormatter(short_number))
    if log:
        axes.set_yscale("log")
        plain_numbers(axes.yaxis)
    else:
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(FuncFormatter(short_number))


def band_of(curve: RegretCurve, band: str) -> tuple[FloatArray, FloatArray]:
    """The edges of the band; none where there is a single run."""
    if band == "interval":
        return curve.low, curve.high
    if band == "quantiles":
        return curve.few, curve.most
    return curve.mean - curve.std, curve.mean + curve.std


def legend_handles(
    policies: Sequence[str], problems: Sequence[str], levels: Sequence[Level]
) -> list[Any]:
    """A line of each policy's colour, one of each problem's style, one for each level."""
    handles = [Line2D([], [], color=c, label=name) for name, c in colours(policies).items()]
    if len(problems) > 1:
        handles += [
            Line2D([], [], color=INK, linestyle=style, lw=1.1, label=name)
            for name, style in zip(problems, LINE_STYLES, strict=False)
        ]
    handles += [
        Line2D([], [], color=INK, lw=1.0, linestyle=dash, label=level.label)
        for level, dash in zip(levels, DASHES, strict=False)
    ]
    return handles
