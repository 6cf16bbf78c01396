"""What following changes costs where nothing changes, and what it brings where something does.

python -m benchmarks.change            the tables of docs/concepts/change.md, 16 seeds
python -m benchmarks.change --quick    four seeds, on which settings may be chosen
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from rich.progress import Progress

import tarry
from tarry.arrays import FloatArray
from tarry.policies.label import policy_label
from tarry.problems.problem import Payoff, Problem
from tarry.tables import markdown_table

SEEDS = {"tuning": range(500, 504), "report": range(820_000, 820_016)}
STEADY, OURS = tarry.SurvivalThompson(), tarry.RegimeThompson()
RIVALS: tuple[Any, ...] = (
    OURS,
    STEADY,
    tarry.FadingThompson(),
    tarry.DiscountedThompson(),
    tarry.WindowThompson(),
    tarry.CUSUMUCB(),
    tarry.DelayedThompson(),
)
Maker = Callable[[int], Problem]


def stationary() -> dict[str, tuple[Payoff, int, Maker]]:
    """The paper's families at its size, and its hard pairs."""
    return {
        "cost, truncated normal": (
            "cost",
            150_000,
            lambda seed: tarry.problems.truncated_normal(seed=seed),
        ),
        "cost, Bernoulli": (
            "cost",
            150_000,
            lambda seed: tarry.problems.bernoulli(30, seed=seed),
        ),
        "reward, truncated normal": (
            "reward",
            150_000,
            lambda seed: tarry.problems.truncated_normal(seed=seed),
        ),
        "reward, Bernoulli": (
            "reward",
            150_000,
            lambda seed: tarry.problems.bernoulli(30, seed=seed),
        ),
        "hard pair, cost": (
            "cost",
            100_000,
            lambda _: tarry.problems.hard_cost(best_delay=50, max_delay=4000),
        ),
        "hard pair, reward": (
            "reward",
            100_000,
            lambda _: tarry.problems.hard_reward(second_delay=1000, max_delay=4000),
        ),
    }


def worlds() -> dict[str, Maker]:
    """Worlds that change, drawn by a seed; 10 arms, D = 500, 150 000 steps."""

    def drawn(seed: int) -> Problem:
        return tarry.problems.truncated_normal(arms=10, max_delay=500, seed=seed)

    def jumps(seed: int) -> Problem:
        pieces = {1 + 30_000 * i: drawn(seed + 1000 * i) for i in range(5)}
        return tarry.problems.changing(pieces)

    def broken(seed: int, kind: Any) -> Problem:
        calm = drawn(seed)
        return tarry.problems.outage(calm, calm.best("cost"), 50_000, 80_000, kind)

    return {
        "nothing changes": drawn,
        "all arms change five times": jumps,
        "drift": lambda seed: tarry.problems.drifting(
            drawn(seed), drawn(seed + 1000), 30_000, 120_000
        ),
        "the best hangs": lambda seed: broken(seed, "hang"),
        "the best is 20 x slower": lambda seed: broken(seed, "slow"),
    }


def regrets(
    policy: Any, maker: Maker, payoff: Payoff, horizon: int, seeds: Sequence[int]
) -> FloatArray:
    """The regret at the horizon, for each seed: of the world and of the policy."""
    return np.array(
        [
            tarry.play(
                policy, maker(seed), payoff=payoff, horizon=horizon, seed=seed, record=1
            ).regret[-1]
            for seed in seeds
        ]
    )


def tables(seeds: Sequence[int], advance: Callable[[], None]) -> str:
    """Both tables, in Markdown."""
    rows = []
    for title, (payoff, horizon, maker) in stationary().items():
        steady, ours = (regrets(p, maker, payoff, horizon, seeds) for p in (STEADY, OURS))
        ratio = ours.mean() / steady.mean()
        rows.append([title, shown(steady), shown(ours), f"{ratio:.2f}"])
        advance()
    first = markdown_table(
        ["nothing changes", policy_label(STEADY), policy_label(OURS), "ratio"], rows
    )
    rows = []
    found: Mapping[str, Maker] = worlds()
    for policy in RIVALS:
        rows.append(
            [
                policy_label(policy),
                *(shown(regrets(policy, m, "cost", 150_000, seeds)) for m in found.values()),
            ]
        )
        advance()
    return f"{first}\n\n{markdown_table(['policy', *found], rows)}"


def shown(values: FloatArray) -> str:
    """The mean, and the worst in brackets."""
    return f"{values.mean():.0f} ({values.max():.0f})"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.change",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="four seeds")
    seeds = SEEDS["tuning" if parser.parse_args().quick else "report"]
    with Progress() as bar:
        task = bar.add_task("worlds and policies", total=len(stationary()) + len(RIVALS))
        text = tables(seeds, lambda: bar.advance(task))
    print(text)


if __name__ == "__main__":
    main()
