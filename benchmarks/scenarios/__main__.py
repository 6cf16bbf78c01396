"""Simulate every chooser in every named scenario and show how they cope.

python -m benchmarks.scenarios --quick            about a minute: two seeds, printed
python -m benchmarks.scenarios --write            all of it, about a quarter of an hour on one core,
                                                  into docs/scenarios.md and docs/figures
python -m benchmarks.scenarios --policy "RegimeThompson(change_every=60.0)" --scenario swap
                                                  a policy of your choice, in scenarios of which the
                                                  name has "swap" in it, with the tuning seeds
Whatever was simulated is kept in a folder (results/scenarios) and not simulated again; Ctrl-C at
any time. Only --write touches the seeds of the report.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.scenarios.calm import calm_section
from benchmarks.scenarios.entrants import OURS, SEEDS, entrants
from benchmarks.scenarios.figure import draw_shares
from benchmarks.scenarios.page import overview, page
from benchmarks.scenarios.runs import campaign
from tarry.errors import InputError, TarryError
from tarry.files import write_atomically
from tarry.policies.from_text import parse_policy
from tarry.scenarios import Scenario, catalogue

ROOT = Path(__file__).parents[2]


def main(arguments: list[str] | None = None) -> int:
    """Read the arguments, simulate, print or write."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scenarios",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="two seeds, no hour of quiet")
    parser.add_argument("--write", action="store_true", help="write the page and its figures")
    parser.add_argument("--policy", action="append", help="a policy as text, in the place of ours")
    parser.add_argument("--scenario", help="only scenarios with this in their name; ; for several")
    parser.add_argument("--seeds", choices=["tuning"], default="tuning", help="of what is printed")
    parser.add_argument("--count", type=int, default=8, help="how many seeds, at most 8")
    parser.add_argument("--folder", type=Path, help="where results are kept")
    given = parser.parse_args(arguments)
    if given.write and (given.quick or given.policy or given.scenario):
        parser.error("--write takes everything as it is; leave out the others.")
    try:
        return run(given)
    except TarryError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted; what was simulated is kept, and the same command goes on.")
        return 130


def run(given: argparse.Namespace) -> int:
    """What the arguments ask for."""
    seeds = list(SEEDS["report" if given.write else "tuning"])
    scenarios = chosen(given.scenario)
    choosers = entrants()
    if given.policy:
        choosers.pop(OURS)
        choosers |= {text: parse_policy(text) for text in given.policy}
    if given.quick:
        seeds = seeds[:2]
        scenarios = [s for s in scenarios if s.seconds <= 600.0]
    elif not given.write:
        seeds = seeds[: max(given.count, 1)]
    folder = given.folder or ROOT / "results" / "scenarios"
    results = campaign(scenarios, choosers, seeds, folder)
    if not given.write:
        print(overview(results, scenarios, list(choosers), (given.policy or [OURS])[0]))
        return 0
    draw_shares(choosers, seeds[:4], ROOT / "docs" / "figures" / "scenarios.svg")
    text = page(results, scenarios, choosers, calm_section(folder))
    write_atomically(ROOT / "docs" / "scenarios.md", text.encode())
    print(f"Written: {ROOT / 'docs' / 'scenarios.md'}, from {len(seeds)} seeds.")
    return 0


def chosen(texts: str | None) -> list[Scenario]:
    """The scenarios whose name has one of the texts in it."""
    everything = catalogue()
    if texts is None:
        return everything
    found = [s for s in everything if any(text in s.name for text in texts.split(";"))]
    if not found:
        names = "; ".join(s.name for s in everything)
        raise InputError(f"No scenario has {texts!r} in its name; the names are {names}.")
    return found


if __name__ == "__main__":
    sys.exit(main())
