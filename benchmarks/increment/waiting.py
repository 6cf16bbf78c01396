"""What waiting costs IncrementUCB: by the number of arms, and by the spread."""

from pathlib import Path
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


def by_arms(runs: int, folder: Path | None) -> str:
    """Regret over d*, the unit of the waiting part, by the number of arms; the worst in brackets.

    For reward the arms are truncated normals, and the unit is the sum of D gap_i: regret that
    grows in proportion to K - 1 stays level there.
    """
    stairs = {arms: [staircase(arms, seed) for seed in range(runs)] for arms in ARMS}
    make = tarry.problems.truncated_normal
    normals = {arms: [make(arms, 5000, seed=seed + 300) for seed in range(runs)] for arms in ARMS}
    cells = [
        Cell(f"cost, staircases: {name}", f"K = {arms}", policy, "cost", stairs[arms], 100_000)
        for name, policy in STAIRCASES.items()
        for arms in ARMS
    ]
    cells += [
        Cell(f"reward, normal: {name}", f"K = {arms}", policy, "reward", normals[arms], 100_000)
        for name, policy in NORMALS.items()
        for arms in ARMS
    ]
    found = measure(cells, "Waiting", folder)
    rows: dict[str, list[str]] = {}
    for cell in cells:
        unit = [float(BEST)] * runs
        if cell.payoff == "reward":
            unit = [5000 * float(problem.gaps("reward").sum()) for problem in cell.problems]
        shares = found[cell.row, cell.column] / np.array(unit)
        rows.setdefault(cell.row, [cell.row]).append(f"{shares.mean():.3g} ({shares.max():.3g})")
    return markdown_table(["", *(f"K = {arms}" for arms in ARMS)], list(rows.values()))


def by_level(first: int, count: int, folder: Path | None) -> str:
    """Mean regret (worst run) of levels below what can be proven."""
    cells = [
        Cell(
            f"{share:g} of the level", column, OtherLevel("sooner", None, share), payoff, p, 150_000
        )
        for share in SHARES
        for column, payoff, p in columns(first, count)
    ]
    return table_of(measure(cells, "Levels that nothing proves", folder), worst=True)


def by_spread(title: str, first: int, count: int, folder: Path | None) -> str:
    """Mean regret (worst run) by spread."""
    cells = [
        Cell(f"c = {c:g}", column, tarry.IncrementUCB(spread=c), payoff, problems, 150_000)
        for c in SPREADS
        for column, payoff, problems in columns(first, count)
    ]
    return table_of(measure(cells, title, folder), worst=True)
