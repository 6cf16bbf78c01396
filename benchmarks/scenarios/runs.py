"""Simulating, and keeping what came of it in a folder: one file per scenario and chooser.

A file says which code, scenario and seeds it is of, and serves no others; so whoever is interrupted
goes on from there, and what changed is simulated anew.
"""

import hashlib
import io
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import tarry.scenarios
from benchmarks.tails.runs import code_of
from tarry.arrays import FloatArray
from tarry.files import write_atomically
from tarry.policies.protocol import Policy
from tarry.scenarios import Measures, Scenario, measure, simulate

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
    home = Path(str(tarry.scenarios.__file__)).parent
    named = ["simulate", "timeline", "laws", "arrivals", "measures"]
    files = [home / f"{name}.py" for name in named] + sorted((home / "routers").glob("*.py"))
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def kept(path: Path, code: str) -> dict[int, list[float]]:
    """What a file holds, by seed; nothing if it is not there or of other code."""
    if not path.exists():
        return {}
    with np.load(path) as file:
        if str(file["code"]) != code:
            return {}
        return dict(zip(file["seeds"].tolist(), file["measures"].tolist(), strict=True))


def keep(path: Path, code: str, found: Mapping[int, Sequence[float]]) -> None:
    """Write all that is known."""
    content = io.BytesIO()
    table = np.array([found[seed] for seed in found])
    np.savez_compressed(content, code=code, seeds=np.array(list(found)), measures=table)
    write_atomically(path, content.getvalue())


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
                found = kept(place, code)
                missing = [seed for seed in seeds if seed not in found]
                for seed in missing:
                    found[seed] = list(measure(simulate(scenario, chooser, seed)))
                    bar.advance(task)
                bar.advance(task, len(seeds) - len(missing))
                if missing:
                    keep(place, code, found)
                results[scenario.name, name] = np.array([found[seed] for seed in seeds])
    return results


def slug(name: str) -> str:
    """A name as part of the name of a file."""
    return "".join(c if c.isalnum() else "_" for c in name)
