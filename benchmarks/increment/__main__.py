"""Print the tables of docs/increment-ucb.md that are made of many runs."""

import argparse
from collections.abc import Mapping
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


def table(title: str, policies: Mapping[str, Any], first: int, count: int) -> str:
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
    return f"### {title}, {count} instances each\n\n{table_of(measure(cells, title), worst=True)}"


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.increment", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two instances of each family")
    few = parser.parse_args().quick
    print(table("Levels, where they were chosen", LEVELS, TUNING, 2 if few else 8), flush=True)
    print(table("Levels, fresh instances", LEVELS, FRESH, 2 if few else 40), flush=True)
    print(table("Against the paper, fresh instances", FIELD, FRESH, 2 if few else 40), flush=True)
    print(f"### Waiting, by the number of arms\n\n{by_arms(2 if few else 6)}", flush=True)
    print("### Spread, where it was chosen, 8 instances each\n")
    print(by_spread("Spread", TUNING, 2 if few else 8), flush=True)
    print(
        f"### Smaller levels, 8 instances each\n\n{by_level(TUNING, 2 if few else 8)}", flush=True
    )


if __name__ == "__main__":
    main()
