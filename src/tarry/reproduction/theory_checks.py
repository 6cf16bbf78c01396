"""The theory next to what was measured: floors, upper bounds, and the good event in runs."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tarry import theory
from tarry.arrays import FloatArray, Steps
from tarry.experiments.experiment import Experiment, seeds_of_run
from tarry.experiments.result import Result
from tarry.problems.problem import Payoff, Problem
from tarry.simulation.play import play
from tarry.theory.blind import blind_groups
from tarry.theory.information import distinguishing, early_plays

CHECKED = {"cost": ("BDSE", "SEPK"), "reward": ("BHSE", "SEPK")}  # with constants in the paper


class BoundRow(NamedTuple):
    """Upper bounds of the paper for one policy on one problem, averaged over the instances."""

    problem: str
    policy: str
    measured: float
    printed: float
    safe: float  # corrected where the print does not follow from its proof
    trivial: float  # T times the greatest gap, which nobody can exceed
    exceeded: int  # instances on which the measured regret is above the printed bound


class EventRow(NamedTuple):
    """One part of the good event over some runs."""

    payoff: str
    policy: str
    part: str
    runs: int
    checks: int
    failed_runs: int
    allowed: float  # the share of runs that the paper's lemma lets fail
    nearest: float  # how much of the bound was left at the closest approach


def instances(experiment: Experiment, number: int) -> Iterator[Problem]:
    """The worlds of one case, run by run."""
    case = experiment.cases[number]
    for run in range(experiment.runs):
        yield case.draw(seeds_of_run(experiment.seed, run).problem)


class Floors(NamedTuple):
    """Regret at least, at the recorded steps, averaged over the instances."""

    asymptotic: FloatArray  # the information floor, capped: a limit, not a bound at these steps
    always: FloatArray  # the greater of the delay floor and the early floor: holds at each step


def floor_curves(experiment: Experiment) -> dict[str, Floors]:
    """The floors by problem."""
    found = {}
    for number, case in enumerate(experiment.cases):
        each = [floors_of(p, experiment.payoff, case.steps) for p in instances(experiment, number)]
        found[case.name] = Floors(*(np.mean(part, axis=0) for part in zip(*each, strict=True)))
    return found


def floors_of(problem: Problem, payoff: Payoff, steps: Steps) -> Floors:
    """The floors of one instance."""
    pairs = distinguishing(problem, payoff)
    per_log = math.fsum(gap / k for gap, k in pairs)
    most = steps * float(problem.gaps(payoff).max())
    groups = blind_groups(problem, payoff)
    always = [
        max(
            math.fsum(gap * early_plays(step, problem.arms, k) for gap, k in pairs),
            *(min(blind, step) * price for blind, price in groups),
        )
        for step in steps.tolist()
    ]
    learnt = per_log * np.log(np.maximum(steps, 2))
    return Floors(np.minimum(learnt, most), np.array(always))


def bound_rows(experiment: Experiment, result: Result) -> list[BoundRow]:
    """Measured regret and the paper's upper bounds."""
    rows = []
    for number, case in enumerate(experiment.cases):
        worlds = list(instances(experiment, number))
        for label in CHECKED[experiment.payoff]:
            policy, payoff = experiment.policies[label], experiment.payoff
            printed, safe = (
                np.array(
                    [
                        theory.upper_bound(policy, w, case.horizon, payoff=payoff, form=form)
                        for w in worlds
                    ]
                )
                for form in ("printed", "safe")
            )
            regret = result.regret(label, case.name)[:, -1]
            trivial = np.mean([theory.trivial_bound(w, payoff, case.horizon) for w in worlds])
            rows.append(
                BoundRow(
                    case.name,
                    label,
                    float(regret.mean()),
                    float(printed.mean()),
                    float(safe.mean()),
                    float(trivial),
                    int(np.sum(regret > printed)),
                )
            )
    return rows


def event_rows(experiment: Experiment, runs: int) -> list[EventRow]:
    """The good event of the paper's proofs, checked at every step of some runs on each problem."""
    rows = []
    for label in CHECKED[experiment.payoff]:
        events = list(events_of(experiment, label, runs))
        rows += [
            EventRow(
                experiment.payoff,
                label,
                part,
                len(events),
                sum(event.checks[part] for event in events),
                sum(event.failures[part] > 0 for event in events),
                events[0].allowed[part],
                min(event.nearest[part] for event in events),
            )
            for part in events[0].checks
        ]
    return rows


def events_of(experiment: Experiment, label: str, runs: int) -> Iterator[theory.GoodEvent]:
    """The good event in the first runs of a policy on each problem."""
    for number, case in enumerate(experiment.cases):
        for run, world in zip(range(runs), instances(experiment, number), strict=False):
            done = play(
                experiment.policies[label],
                world,
                payoff=experiment.payoff,
                horizon=case.horizon,
                seed=seeds_of_run(experiment.seed, run).play,
            )
            yield theory.good_event(done, world)
