"""Drawing: the only module that imports matplotlib. What is drawn comes from elsewhere.

Colours are those of `tarry.palette`, which colour-blind readers can tell apart. A legend stands
below the axes and never hides data. Nothing is shown on a screen: a figure goes into a file, into
axes of the caller, or into a page as SVG.
"""

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tarry.errors import InputError, MissingExtraError, WriteError
from tarry.files import write_atomically
from tarry.palette import INK

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
except ModuleNotFoundError as error:
    raise MissingExtraError.of("A figure", "matplotlib", "plots") from error

__all__ = [
    "Axes",
    "Figure",
    "FuncFormatter",
    "Line2D",
    "figure_of",
    "legend_below",
    "new_figure",
    "plain_numbers",
    "rendered",
    "save_figure",
    "short_number",
    "styled",
]

COLUMN = 3.9  # inches; drawn so that 3.4 inches, a column of a paper, is readable
STYLE: Any = {
    "font.size": 8.5,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "legend.fontsize": 8,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
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
    "text.parse_math": False,  # names of arms and policies may have dollars in them
    "svg.fonttype": "path",
    "svg.hashsalt": "tarry",  # the same figure has the same bytes
    "figure.constrained_layout.use": True,
}


@contextmanager
def styled() -> Iterator[None]:
    """Our style inside the block, the caller's afterwards."""
    with mpl.rc_context(STYLE):
        yield


def new_figure(height: float) -> Figure:
    """An empty figure as wide as a column, `height` inches high."""
    return Figure(figsize=(COLUMN, height))


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
        raise WriteError(
            f"The figure {str(place)!r} cannot be written: {error.strerror or error}."
        ) from error


def rendered(figure: Figure, kind: str, *, transparent: bool = False) -> bytes:
    """The bytes of a figure in a format, the same each time."""
    sink = io.BytesIO()
    with styled():
        dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        figure.savefig(sink, format=kind, dpi=200, metadata=dated, transparent=transparent)
    return sink.getvalue()
