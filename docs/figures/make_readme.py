"""Draw docs/figures/readme.svg: the paper's setting, its policies and ours.

T = 150 000, K = 30, D = 5000, 10 runs with an instance each, as in the paper's experiments. Run it
with: python docs/figures/make_readme.py
It takes about a minute, and prints the regret at the horizon, which the README quotes.
"""

import re
import sys
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import tarry
from tarry.drawing import legend_below, rendered, styled
from tarry.experiments.figures import draw_curves
from tarry.experiments.from_text import Family
from tarry.palette import colours
from tarry.problems.problem import Payoff

BOTH = [tarry.OPSE(), tarry.DelayedThompson(), tarry.SurvivalUCB(), tarry.SurvivalThompson()]
POLICIES: dict[Payoff, list[Any]] = {
    "cost": [
        tarry.BDSE(),
        tarry.BDSE(keep_history=True),
        tarry.BDSE(bounds="tight"),
        *BOTH,
    ],
    "reward": [
        tarry.BHSE(),
        tarry.BHSE(keep_history=True),
        tarry.BHSE(bounds="tight"),
        tarry.CensoredUCB(),
        *BOTH,
    ],
}
FAMILIES = {
    "truncated normal": Family("truncated_normal", {"arms": 30, "max_delay": 5000}),
    "Bernoulli": Family("bernoulli", {"arms": 30, "max_delay": 5000}),
}
LEGEND = {  # by the policy whose colour it is
    "OPSE": "OPSE",
    "CensoredUCB": "CensoredUCB",
    "BDSE": "BDSE, BHSE: the paper's",
    "BDSE(keep_history=True)": "the same, history kept",
    "BDSE(bounds='tight')": "the same, tighter bounds",
    "DelayedThompson": "DelayedThompson",
    "SurvivalUCB": "SurvivalUCB: ours",
    "SurvivalThompson": "SurvivalThompson: ours",
}


def draw(results: dict[Payoff, tarry.Result]) -> Figure:
    """A panel for each payoff and family."""
    with styled():
        figure = Figure(figsize=(7.4, 5.2))
        rows = figure.subplots(2, 2, sharex=True, sharey=True)
        for line, (payoff, result) in zip(rows, results.items(), strict=True):
            for axes, family in zip(line, result.problems, strict=True):
                curves = {(family, name): result.curve(name, family) for name in result.policies}
                draw_curves(axes, curves, band="std", log=True)
                axes.set_title(f"delay as {payoff}, {family}")
                axes.set_ylim(20, 60_000)
                axes.label_outer()
        colour = colours(LEGEND)
        handles = [Line2D([], [], color=colour[key], label=text) for key, text in LEGEND.items()]
        legend_below(figure, handles, columns=3)
    return figure


def slim(svg: bytes) -> bytes:
    """The same picture with lines to a tenth of a point."""

    def rounded(path: re.Match[bytes]) -> bytes:
        return re.sub(rb"\d+\.\d{2,}", lambda number: b"%.1f" % float(number[0]), path[0])

    return re.sub(rb' d="[^"]*"', rounded, svg)


if __name__ == "__main__":
    found: dict[Payoff, tarry.Result] = {}
    for payoff, policies in POLICIES.items():
        found[payoff] = tarry.compare(
            policies, problems=FAMILIES, payoff=payoff, horizon=150_000, runs=10, record=42
        )
        sys.stdout.write(f"delay as {payoff}\n{found[payoff].final()}\n")
    (Path(__file__).parent / "readme.svg").write_bytes(slim(rendered(draw(found), "svg")))
