"""Drawing: the only module that imports matplotlib. The numbers come from elsewhere.

Policies differ by colour (Okabe and Ito's palette, which colour-blind readers can tell apart),
problems by line style. A legend stands below the axes and never hides data. Nothing is shown on a
screen: a figure goes into a file, into axes of the caller, or into the report as SVG.
"""

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tarry.arrays import FloatArray
from tarry.errors import InputError, MissingExtraError, ResultsError
from tarry.experiments.curves import Curve
from tarry.experiments.palette import INK, LINE_STYLES, colours
from tarry.files import write_atomically

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
except ModuleNotFoundError as error:
    raise MissingExtraError.of("A figure", "matplotlib", "plots") from error

COLUMN = 3.9  # inches; drawn so that 3.4 inches, a column of a paper, is readable
STYLE: Any = {
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.labelsize": 8.5,
    "legend.fontsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "grid.color": INK,
    "grid.alpha": 0.13,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.5,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "svg.fonttype": "path",
    "svg.hashsalt": "tarry",  # the same figure has the same bytes
    "figure.constrained_layout.use": True,
}
BANDS = ("std", "interval", "none")
DASHES: tuple[Any, ...] = ((0, (1, 1)), (0, (1, 3)), (0, (4, 1, 1, 1)))  # of floors and bounds


class Level(NamedTuple):
    """A thin line to compare with: a bound or a floor."""

    label: str
    x: Any
    y: Any


@contextmanager
def styled() -> Iterator[None]:
    """Our style inside the block, the caller's afterwards."""
    with mpl.rc_context(STYLE):
        yield


def new_figure(height: float) -> Figure:
    """An empty figure as wide as a column, `height` inches high."""
    return Figure(figsize=(COLUMN, height))


def plot_curves(
    curves: Mapping[tuple[str, str], Curve],
    *,
    path: str | os.PathLike[str] | None = None,
    axes: Axes | None = None,
    band: str = "std",
    log: bool = False,
    title: str = "",
    levels: Sequence[Level] = (),
) -> Axes:
    """Regret against steps, for curves by (problem, policy), into a file or into `axes`."""
    if band not in BANDS:
        raise InputError(f"The band is {band!r}; it must be 'std', 'interval' or 'none'.")
    with styled():
        own = axes is None
        target = new_figure(3.5).subplots() if axes is None else axes
        policies = list(dict.fromkeys(policy for _, policy in curves))
        problems = list(dict.fromkeys(problem for problem, _ in curves))
        draw_curves(target, curves, band=band, log=log, levels=levels)
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
    curves: Mapping[tuple[str, str], Curve],
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


def band_of(curve: Curve, band: str) -> tuple[FloatArray, FloatArray]:
    """The edges of the band; none where there is a single run."""
    if band == "interval":
        return curve.low, curve.high
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


def legend_below(figure: Figure, handles: Sequence[Any], columns: int = 2) -> None:
    """The legend of a figure, below everything."""
    figure.legend(handles=handles, loc="outside lower center", ncols=min(columns, len(handles)))


def plain_numbers(axis: Any) -> None:
    """Ticks of a logarithmic axis as plain numbers."""
    axis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0), numticks=8))
    axis.set_major_formatter(FuncFormatter(short_number))
    axis.set_minor_formatter(NullFormatter())


def short_number(value: float, _position: int | None = None) -> str:
    """2500 as 2.5k, 150000 as 150k, 3000000 as 3M."""
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{sign}"
    return f"{value:g}"


def figure_of(axes: Axes) -> Figure:
    """The figure around some axes."""
    figure = axes.get_figure(root=True)
    if figure is None:
        raise InputError("The axes belong to no figure; make them with a figure.")
    return figure


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure whole or not at all; the ending of `path` says in which format."""
    place = Path(path)
    kind = place.suffix.lstrip(".").lower() or "svg"
    if kind not in figure.canvas.get_supported_filetypes():
        known = ", ".join(sorted(figure.canvas.get_supported_filetypes()))
        raise InputError(f"A figure cannot be written as {place.name!r}; the endings are {known}.")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place, rendered(figure, kind))
    except OSError as error:
        raise ResultsError(
            f"The figure {str(place)!r} cannot be written: {error.strerror or error}."
        ) from error


def rendered(figure: Figure, kind: str, *, transparent: bool = False) -> bytes:
    """The bytes of a figure in a format, the same each time."""
    sink = io.BytesIO()
    with styled():
        dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        figure.savefig(sink, format=kind, dpi=200, metadata=dated, transparent=transparent)
    return sink.getvalue()
