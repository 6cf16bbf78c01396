"""Draw docs/figures/payoffs.svg: when the best of three fixed delays can be known.

Run it with: python docs/figures/make_payoffs.py
"""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tarry.drawing import save_figure, styled
from tarry.palette import BLUE, GREY, INK

DELAYS = {"arm 0": 2, "arm 1": 5, "arm 2": 9}


def draw_panel(axes: Axes, best: str, moment: int, text: str) -> None:
    """Three plays started together; the best arm in colour, and the moment it stands out."""
    axes.axvspan(0, moment, color=GREY, alpha=0.13, lw=0)
    for row, (name, delay) in enumerate(DELAYS.items()):
        colour = BLUE if name == best else GREY
        axes.plot([0, delay], [row, row], color=colour, lw=5, solid_capstyle="butt")
        axes.plot([delay], [row], "o", color=colour, ms=8)
        axes.text(-0.3, row, name, ha="right", va="center")
    axes.plot([moment, moment], [-0.6, 2.6], color=INK, lw=1.0)
    axes.text(moment + 0.15, 2.75, text, va="top")
    axes.set(xlim=(-1.6, 9.8), ylim=(3.5, -0.7), yticks=[], xlabel="time since the plays started")
    axes.set_xticks([0, *DELAYS.values()])
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)


def draw() -> Figure:
    """Both panels."""
    with styled():
        figure = Figure(figsize=(7.4, 2.5))
        cost, reward = figure.subplots(1, 2)
        draw_panel(cost, "arm 0", 2, "known at d* = 2,\nthe shortest delay")
        cost.set_title("cost: arm 0 is the best")
        draw_panel(reward, "arm 2", 5, "known at d̄ = 5,\nthe second longest")
        reward.set_title("reward: arm 2 is the best")
    return figure


if __name__ == "__main__":
    save_figure(draw(), Path(__file__).parent / "payoffs.svg")
