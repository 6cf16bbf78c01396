"""Draw docs/figures/readme.svg: the paper's setting, its policies and ours.

T = 150 000, K = 30, D = 5000, 10 runs with an instance each, as in the paper's experiments; the
table in the README is made of 100 runs. Run it with: python docs/figures/make_readme.py
It takes a few minutes, and prints that table, and how many times less regret ours have in pairs.
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
from tarry.tables import markdown_table, number

RUNS, SHOWN = 100, 10  # of the table, and of the figure
BOTH = [
    tarry.OPSE(),
    tarry.DelayedThompson(),
    tarry.IncrementUCB(),
    tarry.SurvivalUCB(),
    tarry.SurvivalThompson(),
]
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
    "IncrementUCB": "IncrementUCB: ours, proven",
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


ROWS = {  # of the table: what the README calls a policy, and its names for cost and reward
    "CensoredUCB": ("", "CensoredUCB"),
    "OPSE": ("OPSE", "OPSE"),
    "BDSE or BHSE, as printed in the paper": ("BDSE", "BHSE"),
    "the same, history kept": ("BDSE(keep_history=True)", "BHSE(keep_history=True)"),
    "the same, tighter bounds at the same confidence": (
        "BDSE(bounds='tight')",
        "BHSE(bounds='tight')",
    ),
    "DelayedThompson, answers only": ("DelayedThompson", "DelayedThompson"),
    "**IncrementUCB**, with a theorem": ("IncrementUCB", "IncrementUCB"),
    "**SurvivalUCB**": ("SurvivalUCB", "SurvivalUCB"),
    "**SurvivalThompson**": ("SurvivalThompson", "SurvivalThompson"),
}


def table(results: dict[Payoff, tarry.Result]) -> str:
    """The table of the README: means with their 95 % intervals."""
    heads = ["", *(f"{payoff}, {name}" for payoff in results for name in FAMILIES)]
    rows = []
    for title, names in ROWS.items():
        cells = [
            cell(result, policy, family) if policy else ""
            for policy, result in zip(names, results.values(), strict=True)
            for family in FAMILIES
        ]
        rows.append([title, *cells])
    return markdown_table(heads, rows)


def cell(result: tarry.Result, policy: str, family: str) -> str:
    """A mean with its interval."""
    row = result.final().row(policy, family)
    return f"{number(row.mean)} ({number(row.low)} to {number(row.high)})"


if __name__ == "__main__":
    found: dict[Payoff, tarry.Result] = {}
    for payoff, policies in POLICIES.items():
        found[payoff] = tarry.compare(
            policies, problems=FAMILIES, payoff=payoff, horizon=150_000, runs=RUNS, record=42
        )
        paper = found[payoff].policies[0]
        for policy in found[payoff].policies[1:]:
            sys.stdout.write(f"{found[payoff].differences(policy, paper)}\n")
    sys.stdout.write(f"{table(found)}\n")
    shown = {payoff: result.first(SHOWN) for payoff, result in found.items()}
    (Path(__file__).parent / "readme.svg").write_bytes(slim(rendered(draw(shown), "svg")))
