"""Draw docs/figures/averages.svg: what five averages say of one arm while its plays are out.

The arm is a Weibull law with shape 0.7, scale 120 and D = 600, played at every step. Each line is
the mean over 200 seeds. Run it with: python docs/figures/make_averages.py
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy import stats

import tarry
from tarry.arrays import FloatArray, IntArray
from tarry.drawing import save_figure, styled
from tarry.palette import BLUE, GREEN, INK, ORANGE, PURPLE, RED

MAX_DELAY = 600
TIMES = np.unique(np.concatenate([np.arange(10, 100, 6), np.arange(100, 1501, 20)]))
SEEDS = 200
LINES = {
    "seen plays only": RED,
    "missing plays count D": ORANGE,
    "missing plays count their age": PURPLE,
    "complete plays only": BLUE,
    "survival curve": GREEN,
}


def averages(delays: IntArray, now: int) -> list[float]:
    """The five averages at time `now`, from the delays of plays 1, 2, 3, ..."""
    start = np.arange(1, now)
    d = delays[: now - 1]
    seen = start + d < now
    age = now - start
    full = d[start <= now - MAX_DELAY]
    return [
        float(d[seen].mean()) if seen.any() else np.nan,
        float(np.where(seen, d, MAX_DELAY).mean()),
        float(np.where(seen, d, age).mean()),
        float(full.mean()) if full.size else np.nan,
        restricted_mean(np.where(seen, d, np.minimum(age, MAX_DELAY)), seen),
    ]


def restricted_mean(times: IntArray, seen: IntArray) -> float:
    """The area under the Kaplan-Meier curve, up to D; beyond the oldest play it falls to 0."""
    ages = np.arange(MAX_DELAY)
    out = np.bincount(times, minlength=MAX_DELAY + 1)[: MAX_DELAY + 1]
    back = np.bincount(times[seen], minlength=MAX_DELAY + 1)[: MAX_DELAY + 1]
    at_risk = out[::-1].cumsum()[::-1] - (out - back)  # of a missing play, d >= its age is known
    hazard = back / np.maximum(at_risk, 1)
    beyond = np.cumprod(1 - hazard)[ages]  # P(d > age)
    return float(beyond[: int(times.max())].sum())


def measured() -> tuple[FloatArray, float]:
    """The five averages at TIMES, and the truth, all divided by D."""
    law = {"arm": stats.weibull_min(0.7, scale=120)}
    problem = tarry.problems.from_distributions(law, max_delay=MAX_DELAY)
    steps = np.arange(1, TIMES[-1] + 1)
    table = np.zeros((len(TIMES), len(LINES)))
    for seed in range(SEEDS):
        delays = problem.delays(seed, steps, 0)
        table += np.array([averages(delays, int(now)) for now in TIMES])
    return table / SEEDS / MAX_DELAY, float(problem.means[0])


def draw() -> Figure:
    """The whole figure."""
    table, truth = measured()
    with styled():
        figure = Figure(figsize=(6.6, 3.6))
        axes = figure.subplots()
        axes.axhline(truth, color=INK, lw=1.0, ls=(0, (1, 1)))
        axes.text(10, truth + 0.01, "the mean payoff", va="bottom")
        for column, (label, colour) in zip(table.T, LINES.items(), strict=True):
            style = (0, (2, 2)) if label == "complete plays only" else "-"
            order = 3 if label == "complete plays only" else 2  # the survival curve is below it
            axes.plot(TIMES, column, color=colour, label=label, linestyle=style, zorder=order)
        axes.axvline(MAX_DELAY, color=INK, lw=0.7)
        axes.text(MAX_DELAY + 8, 0.93, "D", va="top")
        axes.set(xlabel="time", ylabel="average payoff", xlim=(0, 1500), ylim=(0, 1))
        figure.legend(loc="outside lower center", ncols=3)
    return figure


if __name__ == "__main__":
    save_figure(draw(), Path(__file__).parent / "averages.svg")
