"""A day in which nothing happens: what do false alarms cost?

python -m benchmarks.scenarios.calm                two hours of each law
python -m benchmarks.scenarios.calm --hours 24     a day of each law, about ten minutes

What was simulated is kept for the page of `make scenarios`. Seeds are those of the report with
--report, else those for tuning.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scenarios.entrants import BEST, OURS, SEEDS, entrants
from benchmarks.scenarios.runs import fingerprint
from tarry.files import write_atomically
from tarry.scenarios import (
    Constant,
    Exponential,
    LogNormal,
    Oracle,
    Scenario,
    Traffic,
    bimodal,
    simulate,
)
from tarry.tables import markdown_table

ROOT = Path(__file__).parents[2]
MOST = 0.01
MEANS = (0.05, 0.08, 0.12)
LAWS: dict[str, list[Any]] = {
    "exponential": [Exponential(mean) for mean in MEANS],
    "log-normal": [LogNormal(mean) for mean in MEANS],
    "bimodal": [bimodal(0.6 * mean, 1.4 * mean) for mean in MEANS],
    "constant": [Constant(mean) for mean in MEANS],
}


def scenario_of(law: str, hours: float) -> Scenario:
    """Calm under this law."""
    return Scenario(f"calm, {law}", LAWS[law], seconds=3600.0 * hours)


def told_of(traffic: Traffic, best: float) -> dict[str, float]:
    """What a run cost beyond the best backend, `best` per request, in all and in the worst hour."""
    hour = (traffic.times / 3600.0).astype(int)
    hours = np.bincount(hour, traffic.costs) / np.bincount(hour)
    away = traffic.backends != traffic.best
    minute = (traffic.times / 60.0).astype(int)
    shares = np.bincount(minute, away) / np.maximum(np.bincount(minute), 1)
    return {
        "cost": traffic.mean / best - 1.0,
        "worst hour": float(hours.max()) / best - 1.0,
        "elsewhere": float(away.mean()),
        "worst minute": float(shares[1:].max()) if len(shares) > 1 else float(shares.max()),
    }


def calm_day(folder: Path, hours: float, seed: int) -> dict[str, Any]:
    """Every law, simulated or read."""
    path = folder / f"calm-{hours:g}h-{seed}.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    for law in LAWS:
        scenario = scenario_of(law, hours)
        policy = entrants()[OURS]
        code = fingerprint(scenario, policy)
        if known.get(law, {}).get("code") == code:
            continue
        print(f"{scenario.name}: {hours:g} hours ...", flush=True)
        best = simulate(scenario, Oracle(), seed).mean
        known[law] = {"code": code, **told_of(simulate(scenario, policy, seed), best)}
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(known).encode())
    return known


def calm_table(known: dict[str, Any]) -> str:
    """A row for each law."""
    rows = [
        [
            law,
            f"{100 * known[law]['cost']:.2f} %",
            "yes" if known[law]["cost"] <= MOST else "**no**",
            f"{100 * known[law]['worst hour']:.2f} %",
            f"{100 * known[law]['elsewhere']:.2f} %",
            f"{100 * known[law]['worst minute']:.1f} %",
        ]
        for law in known
    ]
    head = ["law", f"cost over the {BEST}", f"at most {100 * MOST:.0f} %", "in the worst hour"]
    return markdown_table(
        [*head, "requests elsewhere", "in the worst minute after the first"], rows
    )


def calm_section(folder: Path) -> str:
    """The part of the page: the longest that was simulated with the seed of the report."""
    seed = SEEDS["report"][0]
    hours = [float(p.name.split("-")[1][:-1]) for p in folder.glob(f"calm-*h-{seed}.json")]
    longest = max(hours, default=2.0)
    return section(calm_day(folder, longest, seed), longest)


def section(known: dict[str, Any], hours: float) -> str:
    """What is told of so many hours."""
    return (
        f"## Calm\n\nNothing happens for {hours:g} hours at 100 requests per second, with means of "
        f"50, 80 and 120 ms. What does {OURS} pay for probing and for false alarms? (`python -m "
        f"benchmarks.scenarios.calm --hours 24 --report`)\n\n{calm_table(known)}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Read the arguments, simulate, print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scenarios.calm",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--report", action="store_true", help="with the seed of the report")
    parser.add_argument("--folder", type=Path, default=ROOT / "results" / "scenarios")
    given = parser.parse_args(arguments)
    seed = SEEDS["report" if given.report else "tuning"][0]
    print(calm_table(calm_day(given.folder, given.hours, seed)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
