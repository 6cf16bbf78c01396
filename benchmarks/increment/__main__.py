"""Print the tables of docs/increment-ucb.md that are made of many runs."""

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tarry
from benchmarks.increment.levels import LEVELS
from benchmarks.increment.waiting import by_arms, by_level, by_spread
from benchmarks.increment.worlds import FRESH, HORIZON, TUNING, columns
from benchmarks.survival.runs import Cell, measure, table_of

FIELD: dict[str, Any] = {
    "BDSE / BHSE": {"cost": tarry.BDSE(), "reward": tarry.BHSE()},
    '`bounds="tight"`': {
        "cost": tarry.BDSE(bounds="tight"),
        "reward": tarry.BHSE(bounds="tight"),
    },
    "IncrementUCB": tarry.IncrementUCB(),
    "SurvivalUCB": tarry.SurvivalUCB(),
}


ROOT = Path(__file__).parents[2]


def table(
    title: str, policies: Mapping[str, Any], first: int, count: int, folder: Path | None
) -> str:
    """Mean regret (worst run) of each policy in each family."""
    cells = [
        Cell(
            row,
            column,
            policy[payoff] if isinstance(policy, dict) else policy,
            payoff,
            problems,
            HORIZON,
        )
        for row, policy in policies.items()
        for column, payoff, problems in columns(first, count)
    ]
    found = measure(cells, title, folder)
    return f"### {title}, {count} instances each\n\n{table_of(found, worst=True)}\n"


def main() -> int:
    """Print all tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.increment", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two instances of each family")
    few = parser.parse_args().quick
    folder = None if few else ROOT / "results" / "increment"
    few_or_8, few_or_40 = (2, 2) if few else (8, 40)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    try:
        for text in tables(few_or_8, few_or_40, 2 if few else 6, folder):
            print(f"{text}\n", flush=True)
    except KeyboardInterrupt:
        where = f"; what was played is kept in {folder}. The same command goes on" if folder else ""
        print(f"Interrupted{where}.")
        return 130
    return 0


def tables(chosen_on: int, fresh: int, waiting: int, folder: Path | None) -> Iterator[str]:
    """One after the other, with so many instances each."""
    yield table("Levels, where they were chosen", LEVELS, TUNING, chosen_on, folder)
    yield table("Levels, fresh instances", LEVELS, FRESH, fresh, folder)
    yield table("Against the paper, fresh instances", FIELD, FRESH, fresh, folder)
    yield f"### Waiting, by the number of arms\n\n{by_arms(waiting, folder)}"
    spreads = by_spread("Spread", TUNING, chosen_on, folder)
    yield f"### Spread, where it was chosen, {chosen_on} instances each\n\n{spreads}"
    shares = by_level(TUNING, chosen_on, folder)
    yield f"### Smaller levels, {chosen_on} instances each\n\n{shares}"


if __name__ == "__main__":
    sys.exit(main())
