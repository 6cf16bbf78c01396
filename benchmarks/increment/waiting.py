"""What waiting costs IncrementUCB: by the number of arms, and by the spread."""

from typing import Any

import numpy as np

import tarry
from benchmarks.increment.levels import OtherLevel
from benchmarks.increment.worlds import columns
from benchmarks.survival.runs import Cell, measure, table_of
from tarry.problems.problem import Problem
from tarry.tables import markdown_table

ARMS = (3, 6, 12, 24, 48)
SPREADS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
SHARES = (1.0, 0.5, 0.25)
BEST = 1000  # mean delay of the best arm
STAIRCASES: dict[str, Any] = {
    "`IncrementUCB()`": tarry.IncrementUCB(),
    "`IncrementUCB(spread=1)`": tarry.IncrementUCB(spread=1.0),
    '`BDSE(bounds="tight")`': tarry.BDSE(bounds="tight"),
}
NORMALS: dict[str, Any] = {
    "`IncrementUCB()`": tarry.IncrementUCB(),
    "`SurvivalUCB()`": tarry.SurvivalUCB(),
}


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


def by_arms(runs: int) -> str:
    """Regret over d*, the unit of the waiting part, by the number of arms; the worst in brackets.

    For reward the arms are truncated normals, and the unit is the mean of D gap_i: regret that
    grows in proportion to K - 1 stays level there.
    """
    rows = []
    for name, policy in STAIRCASES.items():
        row = [f"cost, staircases: {name}"]
        for arms in ARMS:
            lost = [regret(policy, staircase(arms, seed), "cost", seed) for seed in range(runs)]
            row.append(f"{np.mean(lost) / BEST:.2f} ({np.max(lost) / BEST:.2f})")
        rows.append(row)
    for name, policy in NORMALS.items():
        row = [f"reward, normal: {name}"]
        for arms in ARMS:
            shares = []
            for seed in range(runs):
                problem = tarry.problems.truncated_normal(arms, 5000, seed=seed + 300)
                waiting = 5000 * float(problem.gaps("reward").sum())
                shares.append(regret(policy, problem, "reward", seed) / waiting)
            row.append(f"{np.mean(shares):.3f} ({np.max(shares):.3f})")
        rows.append(row)
    return markdown_table(["", *(f"K = {arms}" for arms in ARMS)], rows)


def regret(policy: Any, problem: Problem, payoff: Any, seed: int) -> float:
    """Regret at T = 100 000."""
    run = tarry.play(policy, problem, payoff=payoff, horizon=100_000, seed=seed, record=1)
    return float(run.regret[-1])


def by_level(first: int, count: int) -> str:
    """Mean regret (worst run) of levels below what can be proven."""
    cells = [
        Cell(
            f"{share:g} of the level", column, OtherLevel("sooner", None, share), payoff, p, 150_000
        )
        for share in SHARES
        for column, payoff, p in columns(first, count)
    ]
    return table_of(measure(cells, "Levels that nothing proves"), worst=True)


def by_spread(title: str, first: int, count: int) -> str:
    """Mean regret (worst run) by spread."""
    cells = [
        Cell(f"c = {c:g}", column, tarry.IncrementUCB(spread=c), payoff, problems, 150_000)
        for c in SPREADS
        for column, payoff, problems in columns(first, count)
    ]
    return table_of(measure(cells, title), worst=True)
