"""docs/figures/tails.svg: how many runs are how much worse than usual."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from benchmarks.tails.runs import RIVAL, Results, players, same_runs
from benchmarks.tails.worlds import PAYOFFS, World
from tarry.drawing import save_figure, styled
from tarry.palette import INK, colours

LEFT = 0.1  # multiples of the usual regret from here on


def draw(worlds: Sequence[World], results: Results, path: Path) -> None:
    """Two panels, one for each payoff."""
    with styled():
        figure = Figure(figsize=(7.4, 3.4))
        panels = figure.subplots(1, 2, sharey=True, sharex=True)
        for axes, payoff in zip(panels, PAYOFFS, strict=True):
            chosen = [w for w in worlds if w.group == "small" and w.payoff == payoff]
            draw_panel(axes, chosen, results)
            axes.set_title(payoff)
        panels[0].set_ylabel("share of runs above")
        figure.supxlabel(f"regret, in means of {RIVAL} on the same problem", fontsize=8.5)
        panels[0].legend(loc="lower left")
        save_figure(figure, path)


def draw_panel(axes: Axes, worlds: Sequence[World], results: Results) -> None:
    """The curve of each policy over these problems."""
    names = players(worlds, results)
    look = colours(names)
    count = same_runs(worlds)
    for name in names:
        parts = [
            results[world.key, name].regret[:count] / results[world.key, RIVAL].regret.mean()
            for world in worlds
        ]
        above = np.sort(np.concatenate(parts))
        share = 1 - np.arange(len(above)) / len(above)
        grid = np.geomspace(LEFT, above[-1], 160)
        places = np.searchsorted(above, grid)
        y = share[np.minimum(places, len(share) - 1)]
        axes.plot(grid, y, color=look[name], label=name, lw=1.6)
        axes.plot(above[-1], share[-1], "o", color=look[name], ms=3.5)
    axes.set(xscale="log", yscale="log", xlim=(LEFT, None))
    axes.axvline(1, color=INK, lw=0.6, alpha=0.4)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(percent))


def percent(share: float, _: object) -> str:
    """A share as people say it."""
    return f"{100 * share:g} %"
