"""Playing, and keeping what was played: a file for each world and policy."""

import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import tarry
from benchmarks.contexts.worlds import FIRST_RUN, FIRST_SEED, RUNS, TABLE_HORIZON, TABLE_RUNS, World
from benchmarks.kept import code_of, keep, kept
from tarry.arrays import FloatArray

OURS = "SurvivalRegression"
POLICIES: dict[str, Any] = {
    OURS: tarry.SurvivalRegression(),
    "LinearThompson": tarry.LinearThompson(),
    "LinUCB": tarry.LinUCB(),
    "SegmentThompson": tarry.SegmentThompson(),
    "SurvivalThompson": tarry.SurvivalThompson(),
}
FIXED = "best fixed arm"
Results = dict[tuple[str, str], FloatArray]  # by key of the world and name: a number per run


def measure(
    worlds: Iterable[World],
    folder: Path,
    runs: int = RUNS,
    own: int | None = None,
    *,
    kept_only: bool = False,
) -> Results:
    """Regret over that of uniform play, of every run that is not in the folder already.

    SurvivalRegression has `own` runs in worlds that are drawn. With `kept_only` nothing is played,
    and a policy that has not all of its runs is left out.
    """
    results: Results = {}
    for world in worlds:
        table = world.horizon == TABLE_HORIZON
        count = min(runs, TABLE_RUNS) if table else runs
        problem = lru_cache(world.problem)
        for name in POLICIES:
            if plays_here(name, world):
                wanted = own if own and name == OURS and not table else count
                shares = shares_of(world, name, problem, folder, wanted, kept_only=kept_only)
                if len(shares) >= count:
                    results[world.key, name] = shares
        path = folder / f"from run {FIRST_RUN}" / f"{world.key} fixed.npz"
        shares = kept(path, "").get("shares", np.zeros(0)).tolist()
        for number in range(len(shares), count):
            gaps = problem(FIRST_RUN + number).fixed_gaps(world.payoff)
            shares.append(gaps.min() / gaps.mean())
        keep(path, "", shares=np.array(shares))
        results[world.key, FIXED] = np.array(shares[:count])
    print(file=sys.stderr)
    return results


def shares_of(
    world: World,
    name: str,
    problem: Callable[[int], Any],
    folder: Path,
    count: int,
    *,
    first: int = FIRST_RUN,
    kept_only: bool = False,
) -> FloatArray:
    """Regret of a policy over that of uniform play, one number per run; new runs are kept.

    They are numbered from `first` on.
    """
    folder = folder / f"from run {first}"
    folder.mkdir(parents=True, exist_ok=True)
    path, code = folder / f"{world.key} {name}.npz", code_of(POLICIES[name])
    shares = kept(path, code).get("shares", np.zeros(0)).tolist()
    for number in () if kept_only else range(len(shares), count):
        told = f"\r{world.key}: {name}, run {number + 1} of {count}    "
        print(told, end="", file=sys.stderr, flush=True)
        shares.append(one_run(world, POLICIES[name], problem(first + number), first + number))
        keep(path, code, shares=np.array(shares))
    return np.array(shares[:count])


def complete(world: World, folder: Path, runs: int) -> bool:
    """Whether all runs of SurvivalRegression in a world are in the folder."""
    count = min(runs, TABLE_RUNS) if world.horizon == TABLE_HORIZON else runs
    path = folder / f"from run {FIRST_RUN}" / f"{world.key} {OURS}.npz"
    return len(kept(path, code_of(POLICIES[OURS])).get("shares", ())) >= count


def plays_here(name: str, world: World) -> bool:
    """Whether a policy is measured in a world: not where there are no segments to speak of."""
    return name != "SegmentThompson" or world.key.startswith(("segments", "job"))


def one_run(world: World, policy: Any, problem: Any, number: int) -> float:
    """Regret at the horizon over what uniform play has on average."""
    run = tarry.play(
        policy,
        problem,
        payoff=world.payoff,
        horizon=world.horizon,
        seed=FIRST_SEED + number,
        record=1,
    )
    return float(run.regret[-1] / (world.horizon * problem.fixed_gaps(world.payoff).mean()))
