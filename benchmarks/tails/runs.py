"""Playing, and keeping what was played in a folder: one file per problem and policy.

A file holds the runs made so far. It is written anew every few seconds, so that whoever is
interrupted goes on from there. Results of a policy whose code has changed are not used.
"""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import tarry
from benchmarks.kept import code_of, keep, kept
from benchmarks.tails.first import FirstThompson
from benchmarks.tails.worlds import FIRST_SEED, World
from tarry.arrays import FloatArray
from tarry.policies import POLICIES

OURS, RIVAL, FIRST = "SurvivalThompson", "DelayedThompson", "its first definition"
LAST = 10  # a run ends on a wrong arm if most of this fraction of its plays, the last, are not best
SAVE_EVERY = 20.0  # seconds


class Tail(NamedTuple):
    """All runs of one policy on one problem."""

    regret: FloatArray
    wrong: FloatArray  # 1 where the run ended on a wrong arm


Results = dict[tuple[str, str], Tail]  # by key of the world and name of the policy


def policies() -> dict[str, Any]:
    """Who plays: what is recommended anywhere in the documentation, and whom it is measured by."""
    names = (OURS, RIVAL, "SurvivalUCB", "IncrementUCB")
    return {OURS: POLICIES[OURS](), FIRST: FirstThompson()} | {n: POLICIES[n]() for n in names}


def runs_of(world: World, policy: str) -> int:
    """How many runs a policy makes; 0 if it is not asked."""
    most = {OURS: world.runs, RIVAL: world.rival, FIRST: world.first}.get(policy, world.most)
    return min(world.runs, most)


def same_runs(worlds: Sequence[World]) -> int:
    """So many runs all policies that are asked make in all of these worlds."""
    counts = [runs_of(world, name) for world in worlds for name in policies()]
    return min(count for count in counts if count)


def players(worlds: Sequence[World], results: Results) -> list[str]:
    """Who has played in these worlds."""
    keys = {world.key for world in worlds}
    return list(dict.fromkeys(policy for key, policy in results if key in keys))


def one_run(world: World, policy: Any, number: int) -> tuple[float, bool]:
    """Regret at the horizon, and whether the run ended on a wrong arm."""
    problem = world.problem(number)
    steps = np.arange(world.horizon - world.horizon // LAST + 1, world.horizon + 1)
    run = tarry.play(
        policy,
        problem,
        payoff=world.payoff,
        horizon=world.horizon,
        seed=FIRST_SEED + number,
        record=steps,
    )
    not_best = problem.gaps(world.payoff)[run.arms] > 0
    return float(run.regret[-1]), bool(not_best.mean() > 0.5)


def measure(worlds: Iterable[World], folder: Path) -> Results:
    """Play what is not in the folder yet, and return all of it."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [
        (world, name, policy)
        for world in worlds
        for name, policy in policies().items()
        if runs_of(world, name)
    ]
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    results = {}
    with Progress(*columns) as bar:
        task = bar.add_task("runs", total=sum(runs_of(world, name) for world, name, _ in tasks))
        for world, name, policy in tasks:
            bar.update(task, description=f"{world.group}, {world.payoff}, {world.name}: {name}")
            path = folder / f"{world.key}-{''.join(filter(str.isalnum, name))}.npz"
            code, wanted = code_of(policy), runs_of(world, name)
            before = kept(path, code)
            tail = Tail(before.get("regret", np.zeros(0)), before.get("wrong", np.zeros(0)))
            bar.advance(task, min(len(tail.regret), wanted))
            saved = time.monotonic()
            regret, wrong = tail.regret.tolist(), tail.wrong.tolist()
            for number in range(len(regret), wanted):
                outcome = one_run(world, policy, number)
                regret.append(outcome[0])
                wrong.append(float(outcome[1]))
                bar.advance(task)
                if number + 1 == wanted or time.monotonic() - saved > SAVE_EVERY:
                    tail = Tail(np.array(regret), np.array(wrong))
                    keep(path, code, regret=tail.regret, wrong=tail.wrong)
                    saved = time.monotonic()
            results[world.key, name] = Tail(tail.regret[:wanted], tail.wrong[:wanted])
    return results
