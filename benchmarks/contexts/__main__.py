"""Measure the policies that look at the request, on worlds with contexts.

python -m benchmarks.contexts --quick              two runs of 5000 steps, printed
python -m benchmarks.contexts                      ten runs, forty of ours, printed
python -m benchmarks.contexts --folder DATA        with measured run times: DATA/aslib, DATA/limeqo
python -m benchmarks.contexts --write              into docs/contexts-measured.md
python -m benchmarks.contexts --only waiting --write    that section of the page, and nothing else

What was played is kept under results and not played again; Ctrl-C at any time.
"""

import argparse
import sys
import time
from pathlib import Path

import tarry
from benchmarks.contexts.floor import TIMES, measure_floors
from benchmarks.contexts.niches import Niche, measure_niches
from benchmarks.contexts.oracle import measure_told_beside_peers, measure_waiting
from benchmarks.contexts.page import page
from benchmarks.contexts.runs import complete, measure
from benchmarks.contexts.turned import measure_turn
from benchmarks.contexts.waiting_page import waiting_part, with_section
from benchmarks.contexts.worlds import (
    HORIZON,
    KEPT,
    OWN_RUNS,
    RUNS,
    TABLE_HORIZON,
    measured,
    simulated,
)
from benchmarks.live import context_medians
from tarry.arrays import FloatArray
from tarry.files import write_atomically

ROOT = Path(__file__).parents[2]
QUICK_RUNS, QUICK_HORIZON = 2, 5000


def microseconds(steps: int = 20_000) -> float:
    """Time of a step of SurvivalRegression with ten arms and eight features."""
    problem = tarry.problems.log_linear(10, 8, 2000, seed=1)
    taken = []
    for _ in range(3):
        begin = time.process_time()
        tarry.play(tarry.SurvivalRegression(), problem, payoff="cost", horizon=steps, record=1)
        taken.append(time.process_time() - begin)
    return min(taken) / steps * 1e6


def turning(kept: Path, given: argparse.Namespace) -> dict[str, FloatArray]:
    """The world that turns."""
    if given.quick:
        return measure_turn(kept, QUICK_RUNS, QUICK_HORIZON)
    return measure_turn(kept, kept_only=given.kept)


def rare_requests(kept: Path, given: argparse.Namespace) -> dict[tuple[Niche, str], FloatArray]:
    """The worlds in which an arm is made for a few requests."""
    if given.quick:
        return measure_niches(kept, QUICK_RUNS, QUICK_HORIZON)
    return measure_niches(kept, kept_only=given.kept)


def waiting(kept: Path, given: argparse.Namespace) -> str:
    """The section on a rival that is told the laws but for their parameters."""
    if given.quick:
        wait = measure_waiting(kept, QUICK_RUNS, QUICK_HORIZON)
        beside = measure_told_beside_peers(kept, QUICK_RUNS, QUICK_HORIZON)
    else:
        wait = measure_waiting(kept, kept_only=given.kept)
        beside = measure_told_beside_peers(kept, kept_only=given.kept)
    return waiting_part(wait, beside, (ROOT / "docs" / "peers-contexts.md").read_text())


def at_least(kept: Path, given: argparse.Namespace) -> dict[str, FloatArray]:
    """What no policy can do without."""
    if given.quick:
        return measure_floors(kept, QUICK_RUNS, TIMES[:8])
    return measure_floors(kept, kept_only=given.kept)


def main() -> int:
    """Read the arguments, measure, print or write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few and short runs")
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument("--folder", type=Path, help="where the measured run times are")
    parser.add_argument("--kept", action="store_true", help="play nothing: what is kept so far")
    parser.add_argument(
        "--only",
        choices=("drawn", "measured", "niches", "waiting", "floor"),
        help="one part, of which only the one about waiting is printed or written",
    )
    given = parser.parse_args()
    if given.quick and given.write:
        parser.error("--quick makes too few runs for the page; leave out one of the two.")
    if given.write and given.only not in (None, "waiting"):
        parser.error("--write takes the whole page or --only waiting; leave out --write.")
    worlds = list(simulated())
    if given.quick:
        worlds = [world._replace(horizon=QUICK_HORIZON) for world in worlds]
    elif given.folder is not None:
        worlds += measured(given.folder)
    runs, own = (QUICK_RUNS, None) if given.quick else (RUNS, OWN_RUNS)
    if given.only:
        wanted = {"drawn": HORIZON, "measured": TABLE_HORIZON}.get(given.only)
        worlds = [world for world in worlds if world.horizon == wanted]
    kept = ROOT / "results" / (f"{KEPT}-quick" if given.quick else KEPT)
    if given.kept:
        worlds = [world for world in worlds if complete(world, kept, runs)]
    try:
        results = measure(worlds, kept, runs, own, kept_only=given.kept)
        turn = turning(kept, given) if given.only in (None, "drawn") else {}
        rare = rare_requests(kept, given) if given.only in (None, "niches") else {}
        wait = waiting(kept, given) if given.only in (None, "waiting") else ""
        least = at_least(kept, given) if given.only in (None, "floor") else {}
        times = (
            {}
            if given.only
            else {
                "micros": microseconds(),
                "live": context_medians(tarry.SurvivalRegression(), 5000),
            }
        )
        text = wait if given.only else page(worlds, results, turn, rare, wait, least, **times)
    except KeyboardInterrupt:
        print(f"Interrupted; what was played is kept in {kept}. The same command goes on.")
        return 130
    if given.write and not text:
        print("Nothing of this section is kept; without --kept it is played.")
        return 1
    if given.write:
        path = ROOT / "docs" / "contexts-measured.md"
        whole = with_section(path.read_text(), text) if given.only else text
        write_atomically(path, whole.encode())
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
