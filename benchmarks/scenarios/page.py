"""The page docs/scenarios.md from what was simulated."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.scenarios.entrants import BEST, OURS
from benchmarks.scenarios.runs import Results, numbers
from benchmarks.scenarios.verdicts import rivals_table, targets, together
from tarry.arrays import FloatArray
from tarry.scenarios import Fails, Hangs, Scenario
from tarry.scenarios.laws import expected_cost
from tarry.tables import markdown_table

INTRODUCTION = """\
# Routes that break

Written by `make scenarios`; do not edit.

Every route breaks, recovers and drifts. This page is about what that costs: {count} named scenarios
in virtual time, the same requests and the same luck for everybody, {seeds} seeds by which no
setting was chosen. Policies of tarry decide through the core of a live agent; the routers
of others are written anew from their sources ([which](reference/scenarios.md)), each with its best
documented setting (epsilon-greedy, which has none, the best of nine on other seeds). A request
that fails, or is not answered within D, costs D. The *best backend* knows every law and when it
changes, and of queues how long they are; nobody else does. [A scenario of your
own](own-scenarios.md) says how to try yours."""
FIGURE = """\
:::{drawing} figures/scenarios.svg
:alt: Six panels, one for each of six scenarios. Over time, the share of the requests that each of \
seven choosers sends to the backend that is the best of that moment.

Share of the requests sent to the best backend of the moment, over time (mean of four runs). Grey: a
backend is broken. A line that stays low after the grey has not come back.
:::"""
JUDGED = """\
What {ours} is to reach. Counts and times are judged by the worst of the {seeds} seeds unless a
median is asked for."""
HISTORY = """\
These seeds are new, and nothing was chosen by them. One thing was changed after a first look at
them, for a reason found on other seeds: costs of D say nothing about load any more ([a world that
changes](concepts/change.md)). All counts of this table were the same before.
Earlier reports had other seeds. {ours} was within 10 % in 36 of 39 scenarios at first, in all of
them after work on what had been missed (nine variants, chosen by eight further seeds), and in 43
when five more came with one request per second; *flapping* was one of these. After that it was in
all 44, and ahead of the routers of others by 5 % in 21. What was changed for that, by 110 variants
on seeds that no report has, is told in [a world that changes](concepts/change.md). One rival was
changed, too: epsilon-greedy broke ties by number, and of two equal servers it is number 1 that
breaks; ties are now broken at random."""
TOGETHER = """\
The geometric mean of the ratio to the best backend, in how many scenarios a chooser is within 1 %
of the best of all choosers, and where it is furthest from that one."""
EXPLAINED = "Cells are means over the seeds, with the worst seed in brackets."
BROKEN = "A backend is broken while it hangs, fails, or takes five times as long as at first."
LEFT = """\
Median, with the worst seed in brackets; where a backend breaks several times, the slowest of them.
Left: of the requests of the next second (of the next ten, if they come slowly) less than a
twentieth of its usual share goes there."""
FOUND = """\
Likewise. Found: of the requests of the next second half the share goes there that the chooser gave
to the best backend before anything happened. How fully it is back, the figure and the next table
show."""
ELSEWHERE = """\
In percent of all requests: probes, and what was sent before a change was noticed. Where backends
queue there is no best one to be elsewhere of."""
Cell = Callable[[FloatArray, FloatArray], str]


def page(
    results: Results, scenarios: Sequence[Scenario], choosers: Mapping[str, Any], calm: str
) -> str:
    """The whole page."""
    names = [scenario.name for scenario in scenarios]
    rest = [name for name in choosers if name != BEST]
    seeds = len(results[names[0], BEST])
    parts = [
        INTRODUCTION.format(count=len(names), seeds=seeds),
        FIGURE,
        "## Targets",
        JUDGED.format(ours=OURS, seeds=seeds),
        targets(results, names, OURS),
        HISTORY.format(ours=OURS),
        "## All scenarios together",
        TOGETHER,
        together(results, names, rest),
        "## Against the best rival",
        "Mean cost of a request in milliseconds; the rival is whoever is best in that scenario.",
        rivals_table(results, names, OURS),
        "## Mean cost, relative to the best backend of each moment",
        EXPLAINED,
        table(results, names, rest, "mean", relative),
        "## 99th percentile, relative to that of the best backend of each moment",
        EXPLAINED,
        table(results, names, rest, "p99", relative),
        "## Requests sent into a broken backend",
        f"{EXPLAINED} {BROKEN}",
        table(results, names, rest, "into", counted),
        "## Seconds until a broken backend is left",
        LEFT,
        table(results, names, rest, "left", seconds),
        "## Seconds until a backend that became the best is found",
        FOUND,
        table(results, names, rest, "back", seconds),
        "## Share of the requests that went elsewhere",
        ELSEWHERE,
        table(results, names, rest, "elsewhere", percent),
        calm,
        "## The scenarios",
        descriptions(scenarios),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def table(
    results: Results, names: Sequence[str], choosers: Sequence[str], field: str, cell: Cell
) -> str:
    """A row for each scenario that has something to tell, a column for each chooser."""
    rows = []
    for name in names:
        base = numbers(results, name, BEST, field)
        if not np.isnan(base).any():
            values = [numbers(results, name, chooser, field) for chooser in choosers]
            rows.append([name, *(cell(value, base) for value in values)])
    return markdown_table(["scenario", *choosers], rows)


def relative(values: FloatArray, base: FloatArray) -> str:
    """Ratio to the best backend, seed by seed."""
    ratio = values / base
    return f"{short(ratio.mean())} ({short(ratio.max())})"


def counted(values: FloatArray, _: FloatArray) -> str:
    """Mean and worst count."""
    return f"{values.mean():.0f} ({values.max():.0f})"


def seconds(values: FloatArray, _: FloatArray) -> str:
    """Median and worst time."""
    return f"{time(float(np.median(values)))} ({time(float(values.max()))})"


def percent(values: FloatArray, _: FloatArray) -> str:
    """Mean and worst share."""
    return f"{hundredths(values.mean())} ({hundredths(values.max())})"


def hundredths(share: float) -> str:
    """A share in percent, two digits."""
    return f"{100 * share:.0f}" if share >= 0.1 else f"{100 * share:.2g}"


def time(value: float) -> str:
    """Seconds, or never."""
    if np.isinf(value):
        return "never"
    return f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def short(value: float) -> str:
    """Three digits."""
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def descriptions(scenarios: Sequence[Scenario]) -> str:
    """What happens in each of them."""
    head = ["scenario", "requests per second", "seconds", "D", "backends (ms)", "what happens"]
    return markdown_table(head, [list(described(scenario)) for scenario in scenarios])


def described(scenario: Scenario) -> Iterator[str]:
    """The cells of one scenario."""
    yield scenario.name
    told = f"{scenario.rate:g}"
    if scenario.bursts is not None:
        told += f", times {scenario.bursts.times:g} in bursts"
    yield told + (f", {scenario.clients} clients" if scenario.clients > 1 else "")
    yield f"{scenario.seconds:g}"
    yield f"{scenario.timeout:g} s"
    yield ", ".join(
        f"{1e3 * expected_cost(b.law, 1e9):.0f}" + (f" x {b.servers}" if b.servers else "")
        for b in scenario.pieces
    )
    yield "; ".join(happening(change) for change in sorted(scenario.changes, key=lambda c: c.at))


def happening(change: Any) -> str:
    """A change in words; backends count from 1."""
    state = change.becomes
    if isinstance(state, Hangs):
        what = "hangs"
    elif isinstance(state, Fails):
        what = f"fails after {1e3 * expected_cost(state.after, 1e9):.0f} ms"
    else:
        what = f"to {1e3 * expected_cost(state, 1e9):.0f} ms"
    gradually = f" until {change.at + change.over:g} s" if change.over else ""
    return f"{change.at:g} s{gradually}: {change.backend + 1} {what}"


def overview(
    results: Results, scenarios: Sequence[Scenario], choosers: Sequence[str], ours: str
) -> str:
    """For a terminal: everything about these scenarios, a block for each."""
    lines = []
    for scenario in scenarios:
        lines.append(f"\n{scenario.name}")
        heads = ["into", "left s", "back s", "elsewhere"]
        lines.append(f"  {'':38s} mean ms   worst     p99  " + line(heads))
        for name in choosers:
            cells = {f: numbers(results, scenario.name, name, f) for f in FIELDS}
            base = cells["mean"]
            told = [counted(cells["into"], base)] if not np.isnan(cells["into"]).any() else ["-"]
            told += [
                seconds(cells[f], base) if not np.isnan(cells[f]).any() else "-"
                for f in ("left", "back")
            ]
            away = cells["elsewhere"]
            told.append(percent(away, base) if not np.isnan(away).any() else "-")
            lines.append(
                f"  {name:38s}{1e3 * base.mean():8.1f}{1e3 * base.max():8.1f}"
                f"{1e3 * cells['p99'].mean():8.0f}  " + line(told)
            )
    lines += ["", targets(results, [s.name for s in scenarios], ours)]
    return "\n".join(lines)


def line(cells: Sequence[str]) -> str:
    """Counts, two times and a share in columns."""
    return "".join(f"{cell:>{width}s}" for cell, width in zip(cells, (11, 15, 15, 13), strict=True))


FIELDS = ("mean", "p99", "into", "left", "back", "elsewhere")
