"""The worlds of the measurement: six that are drawn by a seed, and measured run times.

Arms, features, D and all constants were fixed before anything was measured on the seeds here; what
a policy is made of was chosen on other seeds (100 to 102).
"""

import csv
import gzip
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tarry.arrays import FloatArray
from tarry.problems import Contextual, Problem, from_table, linear, log_linear, no_answer, segments
from tarry.problems.problem import Payoff

FIRST_SEED = 53_000  # of run 0; 7000 to 7009 and 31000 to 31009 were looked at before
FIRST_RUN = 3000  # of the measurement; the peers have those from 0 on, a former form had 2000
USELESS = "useless contexts"
KEPT = f"contexts-{FIRST_SEED}"  # folder of the runs: those of other seeds are others
RUNS, TABLE_RUNS = 10, 3
OWN_RUNS = 40  # of SurvivalRegression in the worlds that are drawn
HORIZON, TABLE_HORIZON = 50_000, 20_000
ARMS, FEATURES = 6, 10
PAYOFFS: tuple[Payoff, ...] = ("cost", "reward")


class World(NamedTuple):
    """A problem for each run, and how much regret of uniform play may be left."""

    key: str
    title: str
    payoff: Payoff
    horizon: int
    target: float | None  # regret over that of uniform play; None: less than the best fixed arm
    problem: Callable[[int], Contextual]  # from the number of a run


def five_segments(number: int) -> Contextual:
    """Five kinds of requests, from 35 % to 8 % of all, each with Weibull laws of its own."""
    parts = {
        f"segment {i}": Problem(
            log_linear(ARMS, 1, 2000, seed=FIRST_SEED + 10 * number + i, contexts=1).laws, 2000
        )
        for i in range(5)
    }
    return segments(parts, weights=[0.35, 0.25, 0.2, 0.12, 0.08])


@lru_cache(16)  # whoever plays next mostly plays the same one; thousands of laws take a second
def drawn(
    family: Callable[..., Contextual], most: int, number: int, **settings: object
) -> Contextual:
    """A family at the size of the measurement."""
    return family(ARMS, FEATURES, most, FIRST_SEED + number, **settings)


def small_linear(number: int) -> Contextual:
    """The linear model with five features: with ten, requests hardly differ."""
    return linear(ARMS, 5, 2000, FIRST_SEED + number)


def simulated() -> Iterator[World]:
    """The six worlds that are drawn."""
    kinds: dict[str, tuple[str, tuple[float, float], Callable[[int], Contextual]]] = {
        "weibull": ("Weibull, log-linear scales", (0.03, 0.04), partial(drawn, log_linear, 2000)),
        "log-normal": (
            "log-normal, log-linear scales",
            (0.04, 0.05),
            lambda number: drawn(log_linear, 3000, number, shape="log-normal"),
        ),
        "segments": ("five segments", (0.02, 0.03), five_segments),
        "linear": ("linear, delays 0 or D", (0.05, 0.06), small_linear),
        "useless": (
            USELESS,
            (0.015, 0.03),
            lambda number: drawn(log_linear, 2000, number, effect=0.0),
        ),
        "no answer": (
            "no answer, depending on the request",
            (0.06, 0.05),
            partial(drawn, no_answer, 5000),
        ),
    }
    for key, (title, targets, problem) in kinds.items():
        for payoff, target in zip(PAYOFFS, targets, strict=True):
            yield World(f"{key} {payoff}", title, payoff, HORIZON, target, problem)


TABLES = {"BNSL-2016": (7200, 0.13), "ASP-POTASSCO": (600, 0.34), "SAT12-INDU": (1200, None)}


def measured(folder: Path) -> Iterator[World]:
    """Run times of solvers (ASlib) and of database queries (LimeQO), where they are there."""
    for name, (most, target) in TABLES.items():
        if (folder / "aslib" / f"{name}_runtimes.csv.gz").exists():
            problem = aslib(folder / "aslib", name, most)
            yield World(name, name, "cost", TABLE_HORIZON, target, partial(always, problem))
    if (folder / "limeqo" / "job.csv.gz").exists():
        problem = queries(folder / "limeqo" / "job.csv.gz")
        yield World(
            "job", "job, by template", "cost", TABLE_HORIZON, None, partial(always, problem)
        )


def always(problem: Contextual, number: int) -> Contextual:
    """The same problem in every run."""
    return problem


def rows_of(path: Path) -> tuple[list[str], list[list[str]]]:
    """Head and rows of a packed CSV file."""
    with gzip.open(path, "rt", newline="") as file:
        head, *rows = csv.reader(file)
    return head, rows


def numbers_of(rows: list[list[str]]) -> FloatArray:
    """All cells but the first of each row, NaN where one is empty."""
    return np.array([[float(cell) if cell else np.nan for cell in row[1:]] for row in rows])


def aslib(folder: Path, name: str, most: int) -> Contextual:
    """A scenario: D is its cutoff in seconds; logarithms of features that are never negative."""
    head, rows = rows_of(folder / f"{name}_runtimes.csv.gz")
    features = numbers_of(rows_of(folder / f"{name}_features.csv.gz")[1])
    positive = np.nanmin(features, axis=0) >= 0
    features[:, positive] = np.log1p(features[:, positive])
    return from_table(features, numbers_of(rows), most, head[1:], unit=1.0, above="clip")


def queries(path: Path) -> Contextual:
    """Queries under hint sets, D = 30 s in tenths; the context is the template, one of 33."""
    head, rows = rows_of(path)
    templates = ["".join(c for c in row[0].split(".")[0] if c.isdigit()) for row in rows]
    known = sorted(set(templates))
    features = np.array([[float(one == template) for one in known] for template in templates])
    return from_table(features, numbers_of(rows), 300, head[1:], unit=0.1, above="clip")
