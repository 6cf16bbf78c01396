"""The picture of a log: who is still there after how long, and the means with their intervals."""

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from tarry.drawing import figure_of, legend_below, new_figure, save_figure, short_number, styled
from tarry.logs.answers import Curve, shown
from tarry.palette import colours

if TYPE_CHECKING:
    from tarry.logs.log import Log

WIDEST = 18  # signs of a name, which stands beside the axes and in the legend
MOST_POINTS = 300  # of a curve; more cannot be seen


def plot_log(log: "Log", *, path: str | os.PathLike[str] | None = None, axes: Any = None) -> Any:
    """The curves with their bands into a file or into `axes`; with a file, the means below."""
    with styled():
        if axes is not None:
            draw_survival(axes, log)
            axes.legend()
            target, figure = axes, figure_of(axes)
        else:
            figure = log_figure(log)
            target = figure.axes[0]
        if path is not None:
            save_figure(figure, path)
    return target


def log_figure(log: "Log") -> Any:
    """Curves above, means below, one legend under both."""
    with styled():
        figure = new_figure(3.6 + 0.22 * len(log.names))
        above, below = figure.subplots(2, 1, height_ratios=[3.0, 0.4 + 0.28 * len(log.names)])
        draw_survival(above, log)
        draw_means(below, log)
        legend_below(figure, above.get_legend_handles_labels()[0])
    return figure


def draw_survival(axes: Any, log: "Log") -> None:
    """The share still going on after each time."""
    hue = colours(log.names)
    for name, curve in log.curves().items():
        times, survival, low, high = thinned(curve, log.max_delay)
        axes.step(times, 100 * survival, where="post", color=hue[name], label=shown(name, WIDEST))
        band = {"step": "post", "color": hue[name], "alpha": 0.14, "lw": 0}
        axes.fill_between(times, 100 * low, 100 * high, **band)
    axes.set(xlabel="time", ylabel="still going on, %", ylim=(0, 102), xlim=(0, log.max_delay))


def thinned(curve: Curve, limit: float) -> tuple[Any, ...]:
    """The arrays of a curve with few enough points to draw, held level up to the end."""
    count = len(curve.times)
    keep = np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).round().astype(int))
    times = np.append(curve.times[keep], limit)
    return (
        times,
        *(np.append(y[keep], y[keep[-1]]) for y in (curve.survival, curve.low, curve.high)),
    )


def draw_means(axes: Any, log: "Log") -> None:
    """A dot and an interval for each arm, the first on top."""
    hue = colours(log.names)
    means = log.means()
    for place, (name, mean) in enumerate(means.items()):
        axes.plot([mean.low, mean.high], [place, place], color=hue[name], lw=2.2)
        axes.plot([mean.mean], [place], "o", color=hue[name], ms=5)
    axes.set_yticks(range(len(means)), [shown(name, WIDEST) for name in means])
    axes.set(xlabel="mean time, 95 % interval", ylim=(len(means) - 0.5, -0.5))
    widest = max(mean.high for mean in means.values())
    # the axis of the curves above, unless everything would be pressed to the left of it
    axes.set_xlim(0, log.max_delay if widest > log.max_delay / 2 else 1.05 * widest or 1)
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_formatter(lambda value, _: short_number(value))
