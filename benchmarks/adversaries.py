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

HORIZON, MAX_DELAY, ARMS = 50_000, 200, 5
FIRST = 400  # first seed
AGAINST = "written against it"
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
    problem = tarry.problems.truncated_normal(ARMS, MAX_DELAY, seed=seed)
    steps = np.arange(1, HORIZON + 1)[:, None]
    return tarry.problems.replay(problem.delays(seed, steps, np.arange(ARMS)[None]), MAX_DELAY)


def against(policy: Any, seed: int) -> Replay:
    """A table written against a policy: in each step the arm that it will play is slow.

    Its arms are those that it plays where every arm is slow, drawn with a seed of their own. A
    policy without randomness walks into it with every step.
    """
    rng = np.random.default_rng(seed)
    noise = rng.uniform(-0.1, 0.1, (HORIZON, ARMS))
    slow = np.rint(MAX_DELAY * (0.9 + noise)).astype(int)
    everywhere = tarry.problems.replay(slow, MAX_DELAY)
    run = tarry.play(policy, everywhere, payoff="cost", horizon=HORIZON, seed=seed + 1000)
    quick = np.rint(MAX_DELAY * (0.1 + noise)).astype(int)
    played = run.arms[:, None] == np.arange(ARMS)
    return tarry.problems.replay(np.where(played, slow, quick), MAX_DELAY)


def world(kind: str, seed: int, policy: Any) -> Replay:
    """A table of this kind."""
    if kind == AGAINST:
        return against(policy, seed)
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
                problem = world(kind, seed, POLICIES[0])
                for policy in POLICIES:
                    if kind == AGAINST:
                        problem = against(policy, seed)
                    run = tarry.play(policy, problem, payoff="cost", horizon=HORIZON, seed=seed)
                    lost = float(hindsight_regret(run, problem, "cost")[-1])
                    found.setdefault((policy_label(policy), kind), []).append(lost)
                bar.advance(task)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.adversaries")
    parser.add_argument("--quick", action="store_true", help="two tables of each kind")
    kinds = ["stochastic", "swap", "slow leader", "random", AGAINST]
    found = regrets(kinds, 2 if parser.parse_args().quick else 8)
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
