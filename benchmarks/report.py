"""The tables, on the screen and as a page of the documentation."""

import math
from collections.abc import Sequence

from rich.console import Console

from benchmarks.speed import ARMS, HORIZON, MAX_DELAY, SOURCES, Speeds
from benchmarks.starts import Long, Starts
from benchmarks.targets import Target
from tarry.tables import markdown_table, terminal_table

Cells = list[list[str]]

SPEED_HEAD = ["policy", "kind", "ns / step", "x limit", *(f"x plain, {s}" for s in SOURCES)]
TARGET_HEAD = ["target", "measured", "wanted", ""]
SIZE = f"T = {HORIZON:_}, K = {ARMS}, D = {MAX_DELAY:_}".replace("_", " ")
INTRODUCTION = (
    "Written by `make bench ARGS=--write`; do not edit. Everything on this page was measured in "
    "one run, side by side, as the least processor time of several rounds. The ratios carry over "
    "to other machines; times do not."
)
COMPARISON = (
    "The *limit loop* draws the delay of an arm in each step and adds its gap, compiled in the "
    "same way; nothing that draws these delays can be faster. *Plain* is a simulator in plain "
    "Python (`benchmarks/plain.py`): arrivals in buckets, running totals, lists, no compiler, the "
    "same arms in every step. Much depends on where it has its delays from. *Drawn*: play by "
    "play, in plain Python, by the same generator, which then takes most of the time. *In blocks*: "
    "drawn ahead by NumPy, the quickest way we know that draws its own delays. *Ready*: handed "
    "over as a table of size T x K whose making is not counted."
)
GROWTH = (
    "Elimination hardly notices the number of arms, an index policy looks at every arm in every "
    "step, and SurvivalThompson draws for a few of them. Memory holds the plays of the last D "
    "steps, so a large D costs cache misses. The time per step does not grow with the horizon."
)


def speed_cells(speeds: Speeds) -> Cells:
    """One line per policy, the limit loop first."""
    lines = [["limit loop", "", f"{speeds.limit:.1f}", "1", *[""] * len(SOURCES)]]
    for row in speeds.rows:
        over = [ratio(row.over.get(source, math.nan)) for source in SOURCES]
        ratios = [ratio(row.to_limit), *over]
        lines.append([row.policy, row.kind, f"{row.nanoseconds:.1f}", *ratios])
    return lines


def ratio(value: float) -> str:
    """A ratio with two or three figures, nothing for nan."""
    if math.isnan(value):
        return ""
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def target_cells(targets: Sequence[Target]) -> Cells:
    """One line per target."""
    return [
        [t.what, f"{t.measured:.3g}{t.unit}", t.wanted, "met" if t.met else "MISSED"]
        for t in targets
    ]


def plain_line(speeds: Speeds) -> str:
    """How fast the plain simulators are by themselves."""
    rates = [
        f"{label} " + ", ".join(f"{rate / 1e3:.0f} 000 {source}" for source, rate in each.items())
        for label, each in speeds.plain_rates.items()
    ]
    return f"Plain Python on {speeds.problem}, steps per second: {'; '.join(rates)}."


def long_line(long: Long) -> str:
    """Memory and the longest horizon."""
    return (
        f"Peak memory of a whole process: {long.short:.0f} MiB at T = 10^6, {long.long:.0f} MiB at "
        f"T = 10^8, {long.longest:.0f} MiB in the first pieces of T = 10^9, which would take "
        f"{long.estimate:.0f} s in full."
    )


def start_line(starts: Starts) -> str:
    """How soon a process simulates."""
    return (
        f"A first-ever process simulates after {starts.cold:.1f} s, later ones after "
        f"{starts.warm:.2f} s ({starts.warm_work:.2f} s of processor time); `import tarry` takes "
        f"{starts.imported:.3f} s."
    )


def show(console: Console, title: str, head: Sequence[str], cells: Cells) -> None:
    """A table on the screen; numbers are aligned to the right."""
    words = [k for k, name in enumerate(head) if name in ("policy", "kind", "target", "wanted", "")]
    console.print(terminal_table(head, list(cells), left=words, title=title))


def page(speeds: Sequence[Speeds], starts: Starts, long: Long, targets: Sequence[Target]) -> str:
    """The page docs/benchmarks.md: ratios, and times only where a target is one."""
    parts = [
        "# Benchmarks",
        INTRODUCTION,
        "## Targets",
        markdown_table(TARGET_HEAD, target_cells(targets)),
        "## Time per step",
        f"All at {SIZE}. {COMPARISON}",
    ]
    head = [*SPEED_HEAD[:2], *SPEED_HEAD[3:]]
    for each in speeds:
        cells = [[*line[:2], *line[3:]] for line in speed_cells(each)]
        parts += [f"### {each.problem}", markdown_table(head, cells)]
    parts += [
        "## Growth",
        "![Time per step against arms, largest delay and horizon](figures/growth.svg)",
        GROWTH,
        "## Starting, and long runs",
        f"On the machine of this run: {start_line(starts)}",
        long_line(long),
    ]
    return "\n\n".join(parts) + "\n"
