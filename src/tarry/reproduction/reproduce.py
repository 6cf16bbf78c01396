"""Reproduce the paper: run its experiments, draw the figures, write the report."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from tarry.errors import UnknownNameError
from tarry.experiments.compare import run_experiment
from tarry.experiments.experiment import Experiment
from tarry.experiments.progress import Advance, bar
from tarry.experiments.result import drawing
from tarry.experiments.results import write_file
from tarry.experiments.runner import compile_policies
from tarry.reproduction.paper import QUICK, Size, paper_experiment
from tarry.reproduction.report import DATA, EVENTS, PAYOFFS, REPORT, figure_files, write_report
from tarry.reproduction.scaling import sweeps
from tarry.reproduction.theory_checks import EventRow, event_rows

PARTS = ("cost", "reward", "scaling", "theory")
SLOWER = {"SurvivalThompson": 7.0, "DelayedThompson": 12.0, "CensoredUCB": 3.0}
DRAWING = 1e7  # a figure takes as long as this many steps of a quick policy
CHECKING = 3e6  # the good event of a run


def reproduce(
    out: str | os.PathLike[str] = "results",
    *,
    parts: Sequence[str] = PARTS,
    quick: bool = False,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Path:
    """Run the parts that are not finished in `out`, and write figures and report there.

    Returns the path of the report. Interrupted, the same call goes on where it stopped.
    """
    for part in parts:
        if part not in PARTS:
            raise UnknownNameError.of("part of the reproduction", part, PARTS)
    drawing()  # without matplotlib there is no report, and it is better to say so first
    place = Path(out)
    size = QUICK if quick else Size()
    jobs = experiments(parts, size, quick=quick)
    if executor is None:
        for experiment in jobs.values():
            compile_policies(experiment)
    checks = PAYOFFS if "theory" in parts else ()
    runs = 1 if quick else 3
    weights = {name: weight(experiment) for name, experiment in jobs.items()}
    figures = figure_files(jobs)
    total = sum(weights.values()) + DRAWING * figures + CHECKING * 10 * runs * len(checks)
    with bar("reproduce", total) as advance:
        for name, experiment in jobs.items():
            run_experiment(
                experiment,
                workers=workers,
                folder=place / DATA / name,
                executor=executor,
                progress=sharing(advance, weights[name] / experiment.size, name),
            )
        rows: list[EventRow] = []
        for payoff in checks:
            rows += event_rows(paper_experiment(payoff, size), runs)
            advance(CHECKING * 10 * runs, what=f"good event, {payoff}")
        if rows:
            keep_events(place, rows)
        write_report(place, told=lambda: advance(DRAWING, what="figures"))
    return place / REPORT


def sharing(advance: Advance, share: float, name: str) -> Callable[[int, int], None]:
    """What a comparison calls after each run: its share of the whole work is done."""
    return lambda _done, _total: advance(share, what=name)


def experiments(parts: Sequence[str], size: Size, *, quick: bool) -> dict[str, Experiment]:
    """The experiments of these parts by name."""
    jobs: dict[str, Experiment] = {}
    for payoff in PAYOFFS:
        if payoff in parts:
            jobs[payoff] = paper_experiment(payoff, size)
    if "scaling" in parts:
        for name, sweep in sweeps(quick=quick).items():
            jobs[f"scaling-{name}"] = sweep.experiment(size.seed)
    return jobs


def weight(experiment: Experiment) -> float:
    """How long an experiment takes, in steps of a quick policy."""
    steps = sum(case.horizon for case in experiment.cases)
    speed = sum(SLOWER.get(type(policy).__name__, 1.0) for policy in experiment.policies.values())
    return steps * speed * experiment.runs


def keep_events(place: Path, rows: Sequence[EventRow]) -> None:
    """Keep what was seen of the good event, for the report."""
    table: Mapping[str, Any] = {"rows": [row._asdict() for row in rows]}
    write_file(place / DATA / EVENTS, json.dumps(table, indent=1).encode())
