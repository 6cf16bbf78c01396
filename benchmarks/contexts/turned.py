"""A world with contexts that turns: from one step to the next every law is another.

An agent is asked and told, since a problem has either contexts or changes. Its policy is not told
of the turn; `half_life` is all that it has against it.
"""

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import tarry
from benchmarks.contexts.worlds import FIRST_RUN, FIRST_SEED, World, simulated
from benchmarks.kept import code_of, keep, kept
from benchmarks.peers.contexts import Requests, drive_contexts
from benchmarks.peers.contextual import requests_of
from benchmarks.peers.with_tarry import AskedWithContext
from tarry.arrays import FloatArray
from tarry.live.machine import OPTION

STEPS = 20_000  # before the turn, and again after it
LATE = 5_000  # the last of these
AFTER = 1000  # what the number of a run grows by at the turn
RUNS = 5
HALF_LIVES = (20_000, 5_000)
PARTS = ("before the turn", "after it", f"the last {LATE} steps")
ALONE = "begun at the turn"


def measure_turn(
    folder: Path,
    runs: int = RUNS,
    steps: int = STEPS,
    world: World | None = None,
    *,
    kept_only: bool = False,
) -> dict[str, FloatArray]:
    """By policy: (runs, parts) regret over that of uniform play, kept in the folder."""
    os.environ.setdefault(OPTION, "now")
    folder.mkdir(parents=True, exist_ok=True)
    world = world or next(iter(simulated()))
    found = {}
    for name, half_life in named().items():
        policy = tarry.SurvivalRegression(half_life=half_life)
        path, code = folder / f"turned {name}.npz", code_of(policy)
        shares = list(kept(path, code).get("shares", ()))
        for number in () if kept_only else range(len(shares), runs):
            print(f"\rturned: {name}, run {number + 1} of {runs}    ", end="", file=sys.stderr)
            shares.append(one_turn(world, policy, FIRST_RUN + number, steps, alone=name == ALONE))
            keep(path, code, shares=np.array(shares))
        found[name] = np.array(shares[:runs])
    return found if all(len(shares) for shares in found.values()) else {}


def named() -> dict[str, int | None]:
    """The policies: by half-life, and one that begins at the turn, which nobody can know."""
    fading: dict[str, int | None] = {f"half_life {plays}": plays for plays in HALF_LIVES}
    return {"no half-life": None, **fading, ALONE: None}


def one_turn(
    world: World, policy: tarry.SurvivalRegression, number: int, steps: int, *, alone: bool
) -> FloatArray:
    """Regret over uniform play before the turn, after it, and late after it."""
    first, then = (requests_of(world, n, steps) for n in (number, number + AFTER))
    requests = then if alone else joined(first, then)
    agent = AskedWithContext(
        policy, first.table.shape[1], first.max_delay, FIRST_SEED + number, world.payoff
    )
    arms = drive_contexts(agent, requests).arms
    gaps = requests.gaps[requests.kinds, arms]
    late = min(LATE, steps)
    before = np.nan if alone else gaps[:steps].mean() / first.uniform
    return np.array(
        [before, gaps[-steps:].mean() / then.uniform, gaps[-late:].mean() / then.uniform]
    )


def joined(first: Requests, then: Requests) -> Requests:
    """One world after the other."""
    return replace(
        first,
        table=np.concatenate([first.table, then.table]),
        kinds=np.concatenate([first.kinds, then.kinds + len(first.features)]),
        features=np.concatenate([first.features, then.features]),
        gaps=np.concatenate([first.gaps, then.gaps]),
    )
