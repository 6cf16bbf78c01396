"""Draw docs/figures/survival-curve.svg: a survival curve, learnt while the plays are still out.

Run it with: python docs/figures/make_survival_curve.py
"""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tarry
from tarry.arrays import FloatArray, IntArray
from tarry.drawing import save_figure, styled
from tarry.palette import BLUE, GREY, INK, RED
from tarry.policies.survival.evidence import SurvivalEvidence, empty_evidence

MAX_DELAY, PLAYS, EVERY = 600, 60, 5  # a play every 5 s for 5 minutes, answers within 10
MOMENTS = {60: "after 1 minute", 180: "after 3 minutes", 900: "after 15 minutes"}
BINS = 30


def delays() -> IntArray:
    """The delays of all plays, those nobody knows yet included."""
    problem = tarry.problems.dwell(arms=1, max_delay=MAX_DELAY, seed=2)
    return problem.delays(3, np.arange(1, PLAYS + 1), np.zeros(PLAYS, np.int64))


def evidence_at(now: int, starts: IntArray, took: IntArray) -> SurvivalEvidence:
    """What is known at time `now`."""
    evidence = empty_evidence(1, MAX_DELAY, BINS, 0.5, 0.9)
    for start, delay in zip(starts.tolist(), took.tolist(), strict=True):
        age = now - start
        for edge in range(len(evidence.edges)):
            if evidence.edges[edge] <= min(age, delay):
                evidence.book_pass(0, edge)
        if delay < age:
            evidence.book_event(0, delay)
    return evidence


def learnt_curve(evidence: SurvivalEvidence) -> tuple[FloatArray, FloatArray]:
    """Posterior mean and standard deviation of P(delay >= edge) at every edge."""
    ended = np.asarray(evidence.prior) + np.asarray(evidence.events)
    beyond = np.asarray(evidence.prior_beyond) + np.asarray(evidence.passes)
    total = ended + beyond
    mean = np.cumprod(beyond / total)
    square = np.cumprod(beyond * (beyond + 1) / (total * (total + 1)))
    return mean, np.sqrt(np.maximum(square - mean**2, 0))


def draw_panel(axes: Axes, now: int, title: str, took: IntArray) -> None:
    """The true curve, the learnt one with its uncertainty, and the one of the answers alone."""
    starts = 1 + EVERY * np.arange(PLAYS)
    begun = starts < now
    starts, took = starts[begun], took[begun]
    back = starts + took < now
    evidence = evidence_at(now, starts, took)
    mean, spread = learnt_curve(evidence)
    edges, oldest = np.asarray(evidence.edges), int(now - starts.min())
    ages = np.arange(1, MAX_DELAY + 1)
    law = tarry.problems.dwell(arms=1, max_delay=MAX_DELAY, seed=2).laws[0]
    axes.plot(ages, law.survival(ages), color=GREY, lw=3, alpha=0.5, label="true curve")
    answers = np.array([np.mean(took[back] >= age) for age in ages])
    axes.plot(ages, answers, color=RED, lw=1.3, ls=(0, (4, 1.5)), label="answers alone")
    known = edges <= oldest
    low, high = np.clip(mean - 2 * spread, 0, 1), np.clip(mean + 2 * spread, 0, 1)
    axes.fill_between(edges[known], low[known], high[known], color=BLUE, alpha=0.18, lw=0)
    axes.plot(edges[known], mean[known], color=BLUE, lw=1.8, label="learnt from all plays")
    if oldest < MAX_DELAY:
        axes.axvspan(oldest, MAX_DELAY, color=GREY, alpha=0.13, lw=0)
        axes.text(np.sqrt(oldest * MAX_DELAY), 0.88, "no play is\nthis old", ha="center", va="top")
    out = now - starts[~back]
    axes.plot(out[out < MAX_DELAY], np.full((out < MAX_DELAY).sum(), 0.03), "|", color=INK, ms=7)
    axes.set_title(f"{title}: {back.sum()} back, {(~back).sum()} still out")
    axes.set(xscale="log", xlim=(1, MAX_DELAY), ylim=(0, 1.02), xlabel="age in seconds")
    axes.set_xticks([1, 10, 100, 600], ["1", "10", "100", "600"])


def draw() -> Figure:
    """Three moments side by side."""
    took = delays()
    with styled():
        figure = Figure(figsize=(9.6, 3.3))
        panels = figure.subplots(1, 3, sharey=True)
        for axes, (now, title) in zip(panels, MOMENTS.items(), strict=True):
            draw_panel(axes, now, title, took)
        panels[0].set_ylabel("share that lasts at least as long")
        panels[2].legend(loc="upper right", frameon=False)
    return figure


if __name__ == "__main__":
    save_figure(draw(), Path(__file__).parent / "survival-curve.svg")
