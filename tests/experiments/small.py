"""Small experiments that the tests share."""

from typing import Any

import numpy as np

import tarry
from tarry.experiments.experiment import Case, Experiment, Seeds, Task
from tarry.experiments.finished_run import FinishedRun
from tarry.experiments.result import assemble


def coins(seed: int) -> tarry.problems.Problem:
    """Three Bernoulli arms, drawn anew for each run."""
    return tarry.problems.bernoulli(3, 40, seed=seed)


def compare_small(**changes: Any) -> tarry.Result:
    """Two policies, three runs, quickly."""
    settings: dict[str, Any] = {
        "problems": coins,
        "payoff": "cost",
        "horizon": 600,
        "runs": 3,
        "record": 20,
        "progress": False,
        **changes,
    }
    policies = settings.pop("policies", [tarry.SE(), tarry.Uniform()])
    return tarry.compare(policies, **settings)


def result_from(regrets: dict[str, dict[str, list[float]]], payoff: str = "cost") -> tarry.Result:
    """A result with given final regrets: problem -> policy -> one number for each run."""
    world = tarry.problems.deterministic([1, 2], max_delay=2)
    labels = list(next(iter(regrets.values())))
    runs = len(next(iter(next(iter(regrets.values())).values())))
    experiment = Experiment(
        {label: tarry.Uniform() for label in labels},
        [Case(name, world, 10, points=1) for name in regrets],
        "reward" if payoff == "reward" else "cost",
        runs,
    )
    finished_runs = [
        FinishedRun(
            Task(run, case, labels.index(label)),
            Seeds(0, 0),
            "",
            np.array([value]),
            np.zeros(1, np.int32),
            np.zeros(1, np.int32),
            np.array([run], np.int32),
            "",
        )
        for case, row in enumerate(regrets.values())
        for label, values in row.items()
        for run, value in enumerate(values)
    ]
    return assemble(experiment.description, finished_runs)
