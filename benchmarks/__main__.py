"""Run the benchmarks of the simulator: python -m benchmarks [--quick] [--write] [--strict]."""

import argparse
import sys

from rich.console import Console

from benchmarks import report
from benchmarks.growth import measure_growth, save_growth
from benchmarks.speed import measure, problems
from benchmarks.starts import measure_long, measure_starts
from benchmarks.targets import targets
from benchmarks.timing import ROOT

FIGURES = ROOT / "docs" / "figures"
PAGE = ROOT / "docs" / "benchmarks.md"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write the page if asked to; with --strict a missed target is an error."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, shorter long runs")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    parser.add_argument("--strict", action="store_true", help="fail if a target is missed")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 132)
    rounds = 3 if options.quick else 9

    speeds = []
    for name, problem in problems().items():
        console.print(f"Measuring on {name} ...", style="dim")
        speeds.append(measure(name, problem, rounds))
        title = f"{name}, {report.SIZE}"
        report.show(console, title, report.SPEED_HEAD, report.speed_cells(speeds[-1]))
        console.print(report.plain_line(speeds[-1]))
    console.print("Measuring starts and long runs ...", style="dim")
    starts = measure_starts(2 if options.quick else 5)
    console.print(report.start_line(starts))
    long = measure_long(10**7 if options.quick else 10**8)
    console.print(report.long_line(long))
    console.print("Measuring growth ...", style="dim")
    panels = measure_growth(2 if options.quick else 4, quick=options.quick)

    found = targets(speeds, starts, long)
    report.show(console, "Targets", report.TARGET_HEAD, report.target_cells(found))
    if options.write:
        save_growth(panels, FIGURES)
        PAGE.write_text(report.page(speeds, starts, long, found), encoding="utf-8")
        console.print(f"Wrote {PAGE.relative_to(ROOT)} and {FIGURES.relative_to(ROOT)}/growth.*")
    return int(options.strict and not all(target.met for target in found))


if __name__ == "__main__":
    raise SystemExit(main())
