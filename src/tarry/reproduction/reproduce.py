"""Reproduce the paper: run its experiments, draw the figures, write the report."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from tarry.checks import check_whole
from tarry.errors import UnknownNameError
from tarry.experiments.compare import run_experiment
from tarry.experiments.experiment import Experiment
from tarry.experiments.progress_bar import Advance, bar
from tarry.experiments.result import drawing
from tarry.experiments.result_files import read_description, write_file
from tarry.experiments.runner import compile_policies
from tarry.problems.problem import Payoff
from tarry.reproduction.paper import QUICK, Size, field_experiment, paper_experiment
from tarry.reproduction.report import (
    DATA,
    EVENTS,
    PAYOFFS,
    REPORT,
    figure_count,
    finished,
    write_report,
)
from tarry.reproduction.scaling import scaling_experiments
from tarry.reproduction.theory_checks import CHECKED, EventRow, event_rows
from tarry.reproduction.variation import variation_experiment

PARTS = ("cost", "reward", "scaling", "theory")
SLOWNESS = {
    "SurvivalThompson": 4.0,
    "SurvivalUCB": 3.0,
    "IncrementUCB": 5.0,
    "DelayedThompson": 9.0,
    "CensoredUCB": 3.0,
}
DRAWING = 1e7  # a figure takes as long as this many steps of a quick policy
CHECKING = 3e6  # the good event of a run


def reproduce(
    out: str | os.PathLike[str] = "results",
    *,
    parts: Sequence[str] = PARTS,
    quick: bool = False,
    runs: int | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Path:
    """Run the parts that are not finished in `out`, and write figures and report there.

    `runs` is how many runs the verdicts on the paper's claims are made from. Returns the path of
    the report. Interrupted, the same call goes on where it stopped; with more runs it goes on from
    those that are there.
    """
    for part in parts:
        if part not in PARTS:
            raise UnknownNameError.of("part of the reproduction", part, PARTS)
    drawing()  # without matplotlib there is no report, and it is better to say so first
    place = Path(out)
    size = QUICK if quick else Size()
    if runs is not None:
        size = size._replace(runs=check_whole("number of runs", runs, 3))
    jobs = experiments(parts, size, quick=quick)
    if executor is None:
        for experiment in jobs.values():
            compile_policies(experiment)
    checks = PAYOFFS if "theory" in parts else ()
    watched = 1 if quick else 3
    weights = {name: weight_of(experiment) for name, experiment in jobs.items()}
    checked = {payoff: CHECKING * event_runs(payoff, size, watched) for payoff in checks}
    drawing_all = DRAWING * figure_count(to_draw(place, jobs))
    total = sum(weights.values()) + sum(checked.values()) + drawing_all
    with bar("reproduce", total) as advance:
        for name, experiment in jobs.items():
            tell = sharing(advance, weights[name], name)
            run_experiment(
                experiment,
                workers=workers,
                folder=place / DATA / name,
                executor=executor,
                progress=tell,
            )
            tell(experiment.size, experiment.size)  # what was finished before is told by nobody
        rows: list[EventRow] = []
        for payoff in checks:
            rows += event_rows(paper_experiment(payoff, size), watched)
            advance(checked[payoff], what=f"good event, {payoff}")
        if rows:
            keep_events(place, rows)
        write_report(place, told=lambda: advance(DRAWING, what="figures"))
    return place / REPORT


def sharing(advance: Advance, weight: float, name: str) -> Callable[[int, int], None]:
    """What a comparison calls after each run: its share of its weight is done."""
    told = 0.0

    def tell(done: int, total: int) -> None:
        nonlocal told
        now = weight * done / total
        advance(now - told, what=name)
        told = now

    return tell


def experiments(parts: Sequence[str], size: Size, *, quick: bool) -> dict[str, Experiment]:
    """The experiments of these parts by name."""
    jobs: dict[str, Experiment] = {}
    for payoff in PAYOFFS:
        if payoff in parts:
            jobs[payoff] = paper_experiment(payoff, size)
            jobs[f"{payoff}-field"] = field_experiment(payoff, size)
            jobs[f"variation-{payoff}"] = variation_experiment(payoff, size)
    if "scaling" in parts:
        for name, scaling in scaling_experiments(quick=quick).items():
            jobs[f"scaling-{name}"] = scaling.experiment(size.seed)
    return jobs


def to_draw(place: Path, jobs: Mapping[str, Experiment]) -> dict[str, Mapping[str, Any]]:
    """The descriptions of all results that the report will show: these, and those of earlier."""
    there = {name: read_description(place / DATA / name) for name in finished(place / DATA)}
    earlier = {name: description for name, description in there.items() if description is not None}
    return {**earlier, **{name: experiment.description for name, experiment in jobs.items()}}


def event_runs(payoff: Payoff, size: Size, runs: int) -> int:
    """In how many runs the good event is checked."""
    problems = len(paper_experiment(payoff, size).cases)
    return min(runs, size.runs) * problems * len(CHECKED[payoff])


def weight_of(experiment: Experiment) -> float:
    """How long an experiment takes, in steps of a quick policy."""
    steps = sum(case.horizon for case in experiment.cases)
    speed = sum(SLOWNESS.get(type(policy).__name__, 1.0) for policy in experiment.policies.values())
    return steps * speed * experiment.runs


def keep_events(place: Path, rows: Sequence[EventRow]) -> None:
    """Keep what was seen of the good event, for the report."""
    table: Mapping[str, Any] = {"rows": [row._asdict() for row in rows]}
    write_file(place / DATA / EVENTS, json.dumps(table, indent=1).encode())
