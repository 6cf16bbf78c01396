"""Play thousands of runs and show the tails of their regret.

python -m benchmarks.tails --quick      a minute or two: few runs, printed
python -m benchmarks.tails              all runs, about an hour of processor time, printed
python -m benchmarks.tails --write      the same, into docs/tails.md and docs/figures/tails.svg

Whatever was played is kept in a folder (results/tails) and not played again; Ctrl-C at any time.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.tails.figure import draw
from benchmarks.tails.page import page
from benchmarks.tails.runs import measure
from benchmarks.tails.worlds import all_worlds
from tarry.files import write_atomically

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Read the arguments, measure, print or write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few runs, in a folder of their own")
    parser.add_argument("--write", action="store_true", help="write the page and its figure")
    parser.add_argument("--folder", type=Path, help="where runs are kept")
    given = parser.parse_args()
    if given.quick and given.write:
        parser.error("--quick makes too few runs for the page; leave out one of the two.")
    folder = given.folder or ROOT / "results" / ("tails-quick" if given.quick else "tails")
    worlds = all_worlds(quick=given.quick)
    try:
        results = measure(worlds, folder)
    except KeyboardInterrupt:
        print(f"Interrupted; what was played is kept in {folder}. The same command goes on.")
        return 130
    text = page(worlds, results)
    if given.write:
        draw(worlds, results, ROOT / "docs" / "figures" / "tails.svg")
        write_atomically(ROOT / "docs" / "tails.md", text.encode())
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
