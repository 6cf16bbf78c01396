"""Logs whose truth is known."""

import numpy as np
import scipy.stats

import tarry
from tarry.problems.problem import Problem

VISITS = 400


def pages() -> Problem:
    """Two pages: the essay holds readers longer."""
    laws = {"quiz": scipy.stats.expon(scale=101), "essay": scipy.stats.expon(scale=141)}
    return tarry.problems.from_distributions(laws, max_delay=600)


def export(seed: int) -> tarry.Log:
    """Visits of both pages up to an export; most readers of the essay have only just come."""
    problem = pages()
    since = {
        "quiz": np.linspace(900, 1, VISITS),
        "essay": np.concatenate([np.linspace(900, 90, 80), np.linspace(90, 1, VISITS - 80)]),
    }
    arms: list[str] = []
    times: list[float] = []
    finished: list[bool] = []
    for arm, (name, ages) in enumerate(since.items()):
        delays = problem.delays(seed=seed, steps=np.arange(1, VISITS + 1), arms=arm)
        arms += [name] * VISITS
        times += np.minimum(delays, ages.round()).tolist()
        finished += (delays <= ages).tolist()
    return tarry.Log.of(arms, times, finished, max_delay=600)


def censored_log(rng: np.random.Generator, plays: int, limit: float = 50.0) -> tarry.Log:
    """Exponential times of two arms, given up at even times; whole numbers, so that some tie."""
    delays = np.ceil(rng.exponential([[20.0], [35.0]], (2, plays))).ravel()
    ages = np.ceil(rng.uniform(0, 90, 2 * plays))
    return tarry.Log.of(
        ["a"] * plays + ["b"] * plays,
        np.minimum(delays, ages),
        delays <= ages,
        max_delay=limit,
    )
