"""docs/figures/scenarios.svg: who sends how much to the best backend, over time."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.scenarios.entrants import OURS
from tarry.arrays import FloatArray
from tarry.drawing import Line2D, legend_below, save_figure, styled
from tarry.palette import BLUE, GREEN, INK, ORANGE, PURPLE, RED, SKY
from tarry.scenarios import Scenario, Traffic, catalogue, simulate

SHOWN = ("hang", "20 x slower", "flapping", "swap, 1/s", "a rested one improves", "drift")
LOOK = {
    OURS: INK,
    "SurvivalThompson": SKY,
    "Peak EWMA, all": ORANGE,
    "least request": GREEN,
    "LALB": PURPLE,
    "LiteLLM": RED,
    "epsilon-greedy": BLUE,
}


def draw_shares(choosers: Mapping[str, Any], seeds: Sequence[int], path: Path) -> None:
    """A panel for each scenario shown."""
    scenarios = {scenario.name: scenario for scenario in catalogue()}
    with styled():
        figure = Figure(figsize=(7.4, 7.6))
        panels = figure.subplots(3, 2, sharey=True)
        for axes, name in zip(panels.flat, SHOWN, strict=True):
            draw_panel(axes, scenarios[name], choosers, seeds)
        for axes in panels[:, 0]:
            axes.set_ylabel("share at the best, %")
        for axes in panels[-1]:
            axes.set_xlabel("seconds")
        lines = [Line2D([], [], color=colour, label=name) for name, colour in LOOK.items()]
        legend_below(figure, lines, columns=4)
        save_figure(figure, path)


def draw_panel(
    axes: Axes, scenario: Scenario, choosers: Mapping[str, Any], seeds: Sequence[int]
) -> None:
    """The share at the best backend of the moment of each chooser."""
    width = max(3.0, 30.0 / scenario.rate)
    windows: Sequence[Any] = ()
    for name, colour in reversed(LOOK.items()):
        runs = [simulate(scenario, choosers[name], seed) for seed in seeds]
        share = np.nanmean([at_best(run, width) for run in runs], axis=0)
        middles = (np.arange(len(share)) + 0.5) * width
        axes.plot(middles, 100 * share, color=colour, lw=1.8 if name == OURS else 1.0)
        windows = runs[0].broken
    for window in windows:
        axes.axvspan(window.start, window.end, color=INK, alpha=0.08, lw=0)
    if not windows:
        for change in scenario.changes:
            axes.axvline(change.at, color=INK, lw=0.8, ls=":")
    axes.set_title(scenario.name)
    axes.set(xlim=(0, scenario.seconds), ylim=(-3, 103))


def at_best(run: Traffic, width: float) -> FloatArray:
    """The share of the requests at the best backend, in pieces of `width` seconds."""
    piece = (run.times / width).astype(int)
    count = int(np.ceil(run.scenario.seconds / width))
    sent = np.bincount(piece, minlength=count)[:count]
    good = np.bincount(piece, run.backends == run.best, minlength=count)[:count]
    return np.divide(good, sent, out=np.full(count, np.nan), where=sent > 0)
