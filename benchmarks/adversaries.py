"""What policies lose where an adversary wrote down the delays.

python -m benchmarks.adversaries            the table of docs/open-questions.md
python -m benchmarks.adversaries --quick    two tables of each kind
"""

import argparse
from typing import Any

import numpy as np
from rich.progress import Progress

import tarry
from tarry.policies.label import policy_label
from tarry.problems import Replay
from tarry.tables import markdown_table
from tarry.theory import hindsight_regret

HORIZON, MAX_DELAY = 50_000, 200
FIRST = 400  # first seed
POLICIES: list[Any] = [
    tarry.DelayedFTRL(),
    tarry.AccrualFTRL(),
    tarry.IncrementUCB(),
    tarry.SurvivalThompson(),
    tarry.SurvivalUCB(),
    tarry.DelayedThompson(),
    tarry.DelayedUCB(),
    tarry.BDSE(),
    tarry.Uniform(),
]


def stochastic(seed: int) -> Replay:
    """A table drawn from laws: five arms of the paper's first family."""
    problem = tarry.problems.truncated_normal(5, MAX_DELAY, seed=seed)
    steps = np.arange(1, HORIZON + 1)[:, None]
    return tarry.problems.replay(problem.delays(seed, steps, np.arange(5)[None, :]), MAX_DELAY)


def world(kind: str, seed: int) -> Replay:
    """A table of this kind."""
    if kind == "stochastic":
        return stochastic(seed)
    tactic: Any = kind
    return tarry.problems.adversary(tactic, max_delay=MAX_DELAY, horizon=HORIZON, seed=seed)


def regrets(kinds: list[str], count: int) -> dict[tuple[str, str], list[float]]:
    """Regret in hindsight at the horizon, by policy and kind of table."""
    found: dict[tuple[str, str], list[float]] = {}
    with Progress() as bar:
        task = bar.add_task("Tables", total=len(kinds) * count)
        for kind in kinds:
            for seed in range(FIRST, FIRST + count):
                problem = world(kind, seed)
                for policy in POLICIES:
                    run = tarry.play(policy, problem, payoff="cost", horizon=HORIZON, seed=seed)
                    lost = float(hindsight_regret(run, problem, "cost")[-1])
                    found.setdefault((policy_label(policy), kind), []).append(lost)
                bar.advance(task)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.adversaries")
    parser.add_argument("--quick", action="store_true", help="two tables of each kind")
    kinds = ["stochastic", "swap", "slow leader", "random"]
    found = regrets(kinds, 2 if parser.parse_args().quick else 20)
    rows = [
        [
            f"`{policy_label(policy)}`",
            *(
                f"{np.mean(found[policy_label(policy), kind]):.0f} "
                f"({np.max(found[policy_label(policy), kind]):.0f})"
                for kind in kinds
            ),
        ]
        for policy in POLICIES
    ]
    print(markdown_table(["policy", *kinds], rows))


if __name__ == "__main__":
    main()
