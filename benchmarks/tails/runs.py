"""Playing, and keeping what was played in a folder: one file per problem and policy.

A file holds the runs made so far. It is written anew every few seconds, so that whoever is
interrupted goes on from there. Results of a policy whose code has changed are not used.
"""

import ast
import hashlib
import importlib
import io
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import tarry
from benchmarks.tails.worlds import FIRST_SEED, World
from tarry.arrays import FloatArray
from tarry.files import write_atomically
from tarry.policies import POLICIES

OURS, RIVAL = "SurvivalThompson", "DelayedThompson"
LAST = 10  # a run ends on a wrong arm if most of this fraction of its plays, the last, are not best
SAVE_EVERY = 20.0  # seconds


class Tail(NamedTuple):
    """All runs of one policy on one problem."""

    regret: FloatArray
    wrong: FloatArray  # 1 where the run ended on a wrong arm


Results = dict[tuple[str, str], Tail]  # by key of the world and name of the policy


def policies() -> dict[str, Any]:
    """Who plays: what is recommended anywhere in the documentation, and DelayedThompson."""
    names = (OURS, RIVAL, "SurvivalUCB", "IncrementUCB")
    return {name: POLICIES[name]() for name in names}


def runs_of(world: World, policy: str) -> int:
    """How many runs a policy makes."""
    return world.runs if policy == OURS else min(world.runs, world.most)


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


def code_of(policy: Any) -> str:
    """A fingerprint of the code that decides, without its comments and docstrings.

    That the simulator and the ledger do what they did is what the tests are for.
    """
    digest = hashlib.sha256(repr(policy).encode())
    for name in sorted({*modules_behind(type(policy).__module__), "tarry.randomness"}):
        tree = ast.parse(Path(str(importlib.import_module(name).__file__)).read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                node.value.value = None
        digest.update(ast.dump(tree).encode())
    return digest.hexdigest()[:16]


def modules_behind(name: str) -> set[str]:
    """A module of policies and the others of its kind that it has functions or classes from."""
    found, waiting = set(), [name]
    while waiting:
        module = waiting.pop()
        if module not in found and module.startswith("tarry.policies.") and module.count(".") > 2:
            found.add(module)
            named = vars(sys.modules[module]).values()
            waiting += [str(getattr(value, "__module__", "")) for value in named]
    return found


def kept(path: Path, code: str) -> Tail:
    """What a file holds, nothing if it is not there or of other code."""
    empty = Tail(np.zeros(0), np.zeros(0))
    if not path.exists():
        return empty
    with np.load(path) as file:
        return Tail(file["regret"], file["wrong"]) if str(file["code"]) == code else empty


def keep(path: Path, code: str, tail: Tail) -> None:
    """Write all runs made so far."""
    content = io.BytesIO()
    np.savez_compressed(content, regret=tail.regret, wrong=tail.wrong, code=code)
    write_atomically(path, content.getvalue())


def measure(worlds: Iterable[World], folder: Path) -> Results:
    """Play what is not in the folder yet, and return all of it."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [(world, name, policy) for world in worlds for name, policy in policies().items()]
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
            tail = kept(path, code)
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
                    keep(path, code, tail)
                    saved = time.monotonic()
            results[world.key, name] = Tail(tail.regret[:wanted], tail.wrong[:wanted])
    return results
