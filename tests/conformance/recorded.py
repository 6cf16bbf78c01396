"""Trajectories as the first release played them, to be compared with what is played today.

`recorded.json` holds, for each case of that release that draws no random number, each world and
each seed, a digest of the arms, the restarts and the step of a failure. A policy that is meant to
choose otherwise from then on is recorded anew, and CHANGELOG.md says so.

    python -m tests.conformance.recorded     writes these cases anew, from the version imported
"""

import functools
import hashlib
import json
from pathlib import Path

import numpy as np
from tests.conformance.cases import CASES, CORNERS, Case

import tarry
from tarry.problems.problem import Problem
from tarry.simulation.play import Run

FILE = Path(__file__).with_name("recorded.json")
SEEDS = range(12)
RECORDED: dict[str, dict[str, str]] = json.loads(FILE.read_text())


@functools.cache
def worlds() -> dict[str, tuple[Problem, int]]:
    """The corners, and four worlds with room for restarts, ties and long waits."""
    return {
        **CORNERS,
        "two-point": (tarry.problems.bernoulli(arms=4, max_delay=60, seed=3), 4000),
        "spread": (tarry.problems.truncated_normal(5, 200, mean_scale=0.2, seed=4), 5000),
        "short": (tarry.problems.bernoulli(arms=3, max_delay=7, seed=5), 3000),
        "long": (tarry.problems.bernoulli(arms=6, max_delay=5000, seed=6), 12_000),
    }


def recorded_cases() -> list[Case]:
    """The cases on record."""
    return [case for case in CASES if str(case) in RECORDED]


def digest(run: Run) -> str:
    """Arms, restarts and failure of a run, in a few letters."""
    parts = (run.arms, run.restarts, np.array([run.failed_at or 0]))
    return hashlib.sha256(b"|".join(p.astype(np.int64).tobytes() for p in parts)).hexdigest()[:12]


def digests(case: Case) -> dict[str, str]:
    """By world: the digests of all seeds, joined."""
    found = {}
    for name, (problem, horizon) in worlds().items():
        runs = [
            tarry.play(case.policy, problem, payoff=case.payoff, horizon=horizon, seed=seed)
            for seed in SEEDS
        ]
        found[name] = " ".join(digest(run) for run in runs)
    return found


def write() -> None:
    """Record all cases."""
    found = {str(case): digests(case) for case in recorded_cases()}
    FILE.write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    write()
