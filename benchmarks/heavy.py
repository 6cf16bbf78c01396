"""Delays with heavy tails, where the largest delay is only a technical cap.

python -m benchmarks.heavy            the tables of docs/open-questions.md
python -m benchmarks.heavy --quick    two runs of each
"""

import argparse
from typing import Any

import numpy as np
from rich.progress import Progress

import tarry
from tarry.policies.label import policy_label
from tarry.problems.problem import Problem
from tarry.tables import markdown_table
from tarry.theory import unbounded_plays

HORIZON = 100_000
CAP = 2**20
WORLDS: dict[str, Problem] = {
    "finite means": tarry.problems.pareto([2.5, 2.5, 1.5, 1.2], [12, 20, 10, 10], max_delay=CAP),
    "two infinite": tarry.problems.pareto([3.0, 3.0, 0.8, 0.5], [20, 40, 15, 10], max_delay=CAP),
    "three infinite": tarry.problems.pareto([1.5, 0.9, 0.7, 0.5], [10, 15, 10, 10], max_delay=CAP),
}
POLICIES: list[Any] = [
    tarry.IncrementUCB(unbounded=True),
    tarry.IncrementUCB(),
    tarry.SurvivalThompson(),
    tarry.SurvivalUCB(),
    tarry.DelayedThompson(),
    tarry.DelayedUCB(),
    tarry.BDSE(),
]


def bad_plays(policy: Any, problem: Problem, seed: int) -> int:
    """How many plays were not of the best arm."""
    run = tarry.play(policy, problem, payoff="cost", horizon=HORIZON, seed=seed)
    return int(np.sum(run.arms != problem.best("cost")))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.heavy")
    parser.add_argument("--quick", action="store_true", help="two runs of each")
    count = 2 if parser.parse_args().quick else 20
    rows = []
    with Progress() as bar:
        task = bar.add_task("Runs", total=len(POLICIES) * len(WORLDS) * count)
        for policy in POLICIES:
            row = [f"`{policy_label(policy)}`"]
            for problem in WORLDS.values():
                found = []
                for seed in range(700, 700 + count):
                    found.append(bad_plays(policy, problem, seed))
                    bar.advance(task)
                row.append(f"{np.mean(found):.0f} ({max(found)})")
            rows.append(row)
    proven = [unbounded_plays(problem, HORIZON) for problem in WORLDS.values()]
    most = [f"{most[most < HORIZON].sum():.0f}" for most in proven]
    rows.append(["proven for `unbounded=True`", *most])
    print(markdown_table(["bad plays, mean (worst)", *WORLDS], rows))


if __name__ == "__main__":
    main()
