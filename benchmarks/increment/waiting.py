"""What waiting costs IncrementUCB: by the number of arms, and by the spread."""

from typing import Any

import numpy as np

import tarry
from benchmarks.increment.worlds import columns
from benchmarks.survival.runs import Cell, measure, table_of
from tarry.problems.problem import Problem
from tarry.tables import markdown_table

ARMS = (3, 6, 12, 24, 48)
SPREADS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
BEST = 1000  # mean delay of the best arm


def staircase(arms: int, seed: int) -> Problem:
    """A best arm that always takes d*, and arms that look like it until late, each in its own way.

    Each of the others returns with chance 1/2 after an age of its own below d*, and else takes so
    long that its mean is three times d*.
    """
    rng = np.random.default_rng(seed)
    first = np.rint(np.geomspace(8, BEST - 1, arms - 1)).astype(int)
    rng.shuffle(first)
    laws: list[Any] = [([BEST], [1.0])]
    laws += [([int(a), int(6 * BEST - a)], [0.5, 0.5]) for a in first]
    return tarry.problems.from_pmf(laws, max_delay=6 * BEST)


def same(arms: int, seed: int) -> Problem:
    """All others take four times as long as the best arm, or a quarter in reward: fixed delays."""
    return tarry.problems.deterministic([4 * BEST, *[BEST] * (arms - 1)], 4 * BEST)


def by_arms(runs: int) -> str:
    """Regret in units of the delay that the theorem is about, by the number of arms."""
    rows = []
    staircases: dict[str, Any] = {
        "`IncrementUCB()`": tarry.IncrementUCB(),
        "`IncrementUCB(spread=1)`": tarry.IncrementUCB(spread=1.0),
        '`BDSE(bounds="tight")`': tarry.BDSE(bounds="tight"),
    }
    for name, policy in staircases.items():
        row = [f"cost, staircases: {name}"]
        for arms in ARMS:
            lost = [regret(policy, staircase(arms, seed), "cost", seed) for seed in range(runs)]
            row.append(f"{np.mean(lost):.2f} ({np.max(lost):.2f})")
        rows.append(row)
    for spread in (0.0, 0.5):
        row = [f"reward, fixed delays: `IncrementUCB(spread={spread:g})`"]
        policy = tarry.IncrementUCB(spread=spread)
        row += [f"{regret(policy, same(arms, 0), 'reward', 0):.2f}" for arms in ARMS]
        rows.append(row)
    return markdown_table(["regret D / d*", *(f"K = {arms}" for arms in ARMS)], rows)


def regret(policy: Any, problem: Problem, payoff: Any, seed: int) -> float:
    """Regret at T = 100 000, times D, over 1000."""
    run = tarry.play(policy, problem, payoff=payoff, horizon=100_000, seed=seed, record=1)
    return float(run.regret[-1]) * problem.max_delay / BEST


def by_spread(title: str, first: int, count: int) -> str:
    """Mean regret (worst run) by spread."""
    cells = [
        Cell(f"c = {c:g}", column, tarry.IncrementUCB(spread=c), payoff, problems, 150_000)
        for c in SPREADS
        for column, payoff, problems in columns(first, count)
    ]
    return table_of(measure(cells, title), worst=True)
