"""Draw docs/figures/timeline.svg: eleven plays at time 12, with D = 8.

Run it with: python docs/figures/make_timeline.py
"""

from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tarry.drawing import save_figure, styled
from tarry.palette import BLUE, GREY, INK, RED

NOW = 12
MAX_DELAY = 8
COLOURS = {"A": BLUE, "B": RED}


class Played(NamedTuple):
    """One play of the figure."""

    step: int
    arm: str
    delay: int

    @property
    def seen(self) -> bool:
        """Whether its answer is known at time NOW."""
        return self.step + self.delay < NOW

    @property
    def known(self) -> str:
        """What is known of its delay."""
        age = NOW - self.step
        if self.seen:
            return f"seen, {self.delay}"
        return f"missing, at least {age}" if age < MAX_DELAY else f"missing, so it is {MAX_DELAY}"


ARMS, DELAYS = "ABABABABABA", (3, 8, 2, 8, 4, 7, 1, 8, 5, 6, 0)
PLAYS = [Played(k + 1, arm, d) for k, (arm, d) in enumerate(zip(ARMS, DELAYS, strict=True))]


def draw_play(axes: Axes, play: Played) -> None:
    """One row: the time a play has taken, and the time it may still take."""
    row, colour = play.step, COLOURS[play.arm]
    end = min(play.step + play.delay, NOW)
    axes.plot([play.step, end], [row, row], color=colour, lw=4.5, solid_capstyle="round")
    if play.seen:
        axes.plot([end], [row], "o", color=colour, ms=8)
    else:
        latest = play.step + MAX_DELAY
        axes.plot([NOW, latest], [row, row], color=colour, lw=1.4, ls=(0, (1, 2)))
    axes.text(0.2, row, f"play {play.step}", ha="right", va="center")
    axes.text(0.55, row, play.arm, ha="center", va="center", color=colour, weight="bold")
    axes.text(NOW + 8.2, row, play.known, va="center")


def draw() -> Figure:
    """The whole figure."""
    with styled():
        figure = Figure(figsize=(7.4, 3.9))
        axes = figure.subplots()
        axes.axhspan(0.5, NOW - MAX_DELAY + 0.5, color=GREY, alpha=0.13, lw=0)
        axes.text(NOW + 4.1, 2.5, "complete:\nat least D = 8 old", ha="center", va="center")
        for play in PLAYS:
            draw_play(axes, play)
        axes.plot([NOW, NOW], [0.3, 11.7], color=INK, lw=1.2)
        top = 0.0
        axes.text(NOW, top, "now: time 12", ha="center", va="bottom", weight="bold")
        axes.text(NOW + 8.2, top, "known of the delay", va="bottom", weight="bold")
        axes.text(NOW + 4.1, top, "may still take", ha="center", va="bottom", color=GREY)
        axes.set(xlim=(-1.9, NOW + 14.4), ylim=(12, -0.9), yticks=[], xlabel="time")
        axes.set_xticks(range(1, NOW + 8))
        axes.xaxis.set_label_coords(0.38, -0.09)
        axes.grid(visible=False, axis="y")
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        axes.tick_params(length=0)
    return figure


if __name__ == "__main__":
    save_figure(draw(), Path(__file__).parent / "timeline.svg")
