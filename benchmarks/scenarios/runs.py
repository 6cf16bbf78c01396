"""Simulating, and keeping what came of it in a folder: one file per scenario and chooser.

A file says which code, scenario and seeds it is of, and serves no others; so whoever is interrupted
goes on from there, and what changed is simulated anew.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from benchmarks.kept import code_in, code_of, keep, kept
from tarry.arrays import FloatArray
from tarry.policies.protocol import Policy
from tarry.scenarios import Measures, Scenario, measure, simulate

HOME = "tarry.scenarios"
# By scenario and chooser: for each seed the six numbers of `Measures`.
Results = dict[tuple[str, str], FloatArray]


def numbers(results: Results, scenario: str, chooser: str, field: str) -> FloatArray:
    """One measure, by seed."""
    return results[scenario, chooser][:, Measures._fields.index(field)]


def fingerprint(scenario: Scenario, chooser: Any) -> str:
    """What the numbers depend on besides the seed: code, scenario and settings."""
    digest = hashlib.sha256(f"{scenario!r} {code_of_chooser(chooser)}".encode())
    return digest.hexdigest()[:16]


@cache
def code_of_chooser(chooser: Any) -> str:
    """Its settings and its code, and that of the simulator."""
    digest = hashlib.sha256(repr(chooser).encode())
    if isinstance(chooser, Policy):
        digest.update(code_of(chooser).encode())
        modules = [f"{HOME}.by_agent"]
    else:
        modules = [f"{HOME}.routers.guards", type(chooser).__module__]
    for name in ("simulate", "timeline", "laws", "arrivals", "measures"):
        modules.append(f"{HOME}.{name}")
    for module in modules:
        digest.update(code_in(module))
    return digest.hexdigest()[:16]


def found_in(path: Path, code: str) -> dict[int, list[float]]:
    """The measures that a file holds, by seed."""
    file = kept(path, code)
    if not file:
        return {}
    return dict(zip(file["seeds"].tolist(), file["measures"].tolist(), strict=True))


def campaign(
    scenarios: Sequence[Scenario], choosers: Mapping[str, Any], seeds: Sequence[int], folder: Path
) -> Results:
    """Simulate what is not in the folder yet, and return all of it."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    results = {}
    # All at once, since files may be edited while this runs.
    codes = {(s.name, name): fingerprint(s, c) for s in scenarios for name, c in choosers.items()}
    with Progress(*columns) as bar:
        total = len(scenarios) * len(choosers) * len(seeds)
        task = bar.add_task("runs", total=total)
        for scenario in scenarios:
            for name, chooser in choosers.items():
                bar.update(task, description=f"{scenario.name}: {name}")
                place = folder / f"{slug(scenario.name)}-{slug(name)}.npz"
                code = codes[scenario.name, name]
                found = found_in(place, code)
                missing = [seed for seed in seeds if seed not in found]
                for seed in missing:
                    found[seed] = list(measure(simulate(scenario, chooser, seed)))
                    bar.advance(task)
                bar.advance(task, len(seeds) - len(missing))
                if missing:
                    table = np.array(list(found.values()))
                    keep(place, code, seeds=np.array(list(found)), measures=table)
                results[scenario.name, name] = np.array([found[seed] for seed in seeds])
    return results


def slug(name: str) -> str:
    """A name as part of the name of a file."""
    return "".join(c if c.isalnum() else "_" for c in name)
