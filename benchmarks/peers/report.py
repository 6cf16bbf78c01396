"""Tables for the terminal and for the documentation."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console

from tarry.tables import markdown_table, terminal_table


@dataclass
class Sheet:
    """A table with a title."""

    title: str
    header: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)

    def show(self, console: Console) -> None:
        """Print it."""
        wrap = [k for k in range(len(self.header)) if len(self.header) <= 6 or k != 1]
        table = terminal_table(self.header, self.rows, left=(0, 1), wrap=wrap, title=self.title)
        console.print(table)

    def markdown(self) -> str:
        """The same for a page."""
        return markdown_table(self.header, self.rows)


@dataclass
class Measured:
    """One policy of one library: regret per world as a share of uniform play, and speed."""

    library: str
    policy: str
    shares: dict[str, list[float]]
    speeds: list[float] = field(default_factory=list)  # of each run, in steps per second
    trouble: str = ""

    @property
    def speed(self) -> float:
        """Steps per second: the median of the runs."""
        return statistics.median(self.speeds) if self.speeds else 0.0


def regret_sheet(measured: Sequence[Measured], worlds: Sequence[str]) -> Sheet:
    """Regret and speed; the fastest peer is 1."""
    peers = [one.speed for one in measured if one.library != "tarry"]
    unit = max(peers, default=0.0) or 1.0
    sheet = Sheet("Regret and speed", ["library", "policy", *worlds, "steps/s", "speed", "range"])
    for one in measured:
        if one.trouble:
            sheet.rows.append([one.library, f"{one.policy}: {one.trouble}", *[""] * len(worlds)])
            continue
        cells = [_mean(one.shares[world]) for world in worlds]
        spread = f"{_ratio(min(one.speeds) / unit)} to {_ratio(max(one.speeds) / unit)}"
        speeds = [f"{one.speed:,.0f}", _ratio(one.speed / unit), spread]
        sheet.rows.append([one.library, one.policy, *cells, *speeds])
    return sheet


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def _mean(values: Sequence[float]) -> str:
    """Mean, and its standard error where there is one."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return f"{mean:.2f}"
    return f"{mean:.2f} ± {statistics.stdev(values) / len(values) ** 0.5:.2f}"
