"""Worlds with a niche: the last arm is bad for most requests and by far the best for a few.

The seeds are those of the campaign; what cures it was chosen on others, from 200 on.
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

import tarry
from benchmarks.contexts.runs import POLICIES
from benchmarks.contexts.worlds import FIRST_RUN, FIRST_SEED, PAYOFFS
from benchmarks.kept import code_of, keep, kept
from tarry.arrays import FloatArray
from tarry.problems import Contextual, Law, contextual, deterministic, segments
from tarry.problems.problem import Payoff, Problem

RUNS = 10
MOST = 20
GOOD, BAD = 0.02, 0.9  # mean cost of the last arm in its niche, and elsewhere
LATE = 4  # the last quarter


class Niche(NamedTuple):
    """A problem for each run."""

    key: str
    title: str
    payoff: Payoff
    horizon: int
    problem: Callable[[int], Contextual]

    @property
    def kinds(self) -> bool:
        """Whether requests come in kinds, and not as numbers."""
        return "kinds" in self.title


def fixed(rare: float, payoff: Payoff, number: int) -> Contextual:
    """Delays 8 and 18 of 20 for most requests, 8 and 0 for the rare kind."""
    usual, other = (
        deterministic([MOST - d if payoff == "reward" else d for d in delays], max_delay=MOST)
        for delays in ([8, 18], [8, 0])
    )
    return segments({"usual": usual, "rare": other}, weights=[1 - rare, rare])


def coin(cost: float, payoff: Payoff) -> Law:
    """Delay 0 or D, with this mean cost, or with the mirrored reward."""
    reach = 1 - cost if payoff == "reward" else cost
    return Law([0, MOST], [1 - reach, reach])


def kinds(arms: int, count: int, rare: float, payoff: Payoff, number: int) -> Contextual:
    """So many kinds of request, the last of them rare, and arms that differ a little in each."""
    rng = np.random.default_rng(FIRST_SEED + number)
    parts = {}
    for kind in range(count):
        costs = 0.3 + 0.05 * np.arange(arms) + 0.05 * rng.random(arms)
        costs[-1] = GOOD if kind == count - 1 else BAD
        parts[f"kind {kind}"] = Problem([coin(cost, payoff) for cost in costs], MOST)
    return segments(parts, weights=[*[(1 - rare) / (count - 1)] * (count - 1), rare])


def smooth(arms: int, features: int, rare: float, payoff: Payoff, number: int) -> Contextual:
    """Numbers: the log odds of the last arm fall with the first one, and cross the others'."""
    rng = np.random.default_rng(FIRST_SEED + number)
    rows = rng.normal(size=(400, features))
    rows[:, 0] = [NormalDist().inv_cdf((i + 0.5) / 400) for i in range(400)]
    steps = 4 * (rows[:, 0] - NormalDist().inv_cdf(1 - rare)) + 0.77
    laws = [
        coin(0.3 + 0.05 * arm if arm < arms - 1 else 0.95 / (1 + np.exp(step)), payoff)
        for step in steps
        for arm in range(arms)
    ]
    return contextual(laws, rows, MOST)


def step(
    arms: int, features: int, rare: float, given: str, payoff: Payoff, number: int
) -> Contextual:
    """Numbers: the last arm is good only where the first one is above a threshold.

    They are `given` as they are, "with squares" as `tarry.numeric(curve=True)` gives them, or the
    first one "in tenths": ten ranges that are equally frequent, as texts would be.
    """
    rng = np.random.default_rng(FIRST_SEED + number)
    rows = rng.normal(size=(400, features))
    rows[:, 0] = [NormalDist().inv_cdf((i + 0.5) / 400) for i in range(400)]
    above = rows[:, 0] > NormalDist().inv_cdf(1 - rare)
    laws = [
        coin(0.3 + 0.05 * arm if arm < arms - 1 else (GOOD if high else BAD), payoff)
        for high in above
        for arm in range(arms)
    ]
    if given == "with squares":
        rows = np.column_stack([rows, rows**2])
    elif given == "in tenths":
        rows = np.column_stack([np.eye(10)[np.arange(400) // 40], rows[:, 1:]])
    return contextual(laws, rows, MOST)


def niches() -> Iterator[Niche]:
    """All of them, for both payoffs."""
    made: dict[str, tuple[int, Callable[..., Contextual], tuple[float | str, ...]]] = {
        "2 kinds, fixed delays, 2 arms, 10 %": (10_000, fixed, (0.1,)),
        "2 kinds, fixed delays, 2 arms, 1 %": (20_000, fixed, (0.01,)),
        "2 kinds, 3 arms, 3 %": (20_000, kinds, (3, 2, 0.03)),
        "6 kinds, 5 arms, 5 %": (30_000, kinds, (5, 6, 0.05)),
        "10 kinds, 10 arms, 1 %": (50_000, kinds, (10, 10, 0.01)),
        "4 numbers, 3 arms, 5 %": (30_000, smooth, (3, 4, 0.05)),
        "10 numbers, 10 arms, 10 %": (50_000, smooth, (10, 10, 0.1)),
        "4 numbers, a step, 3 arms, 5 %": (30_000, step, (3, 4, 0.05, "as they are")),
        "the same, with squares": (30_000, step, (3, 4, 0.05, "with squares")),
        "the same, the first in tenths": (30_000, step, (3, 4, 0.05, "in tenths")),
    }
    for title, (horizon, family, settings) in made.items():
        for payoff in PAYOFFS:
            problem = partial(family, *settings, payoff)
            yield Niche(f"niche {title.replace(',', '')} {payoff}", title, payoff, horizon, problem)


def measure_niches(
    folder: Path,
    runs: int = RUNS,
    most: int | None = None,
    *,
    kept_only: bool = False,
) -> dict[tuple[Niche, str], FloatArray]:
    """By niche and policy: (runs, 2) regret over the best fixed arm's, in all and late.

    With `kept_only` nothing is played, and what has not all of its runs is left out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for niche in niches():
        for name, policy in POLICIES.items():
            if name == "SegmentThompson" and not niche.kinds:
                continue
            path, code = folder / f"{niche.key} {name}.npz", code_of(policy)
            shares = list(kept(path, code).get("shares", ()))
            for number in () if kept_only else range(len(shares), runs):
                print(f"\r{niche.key}: {name}, run {number + 1}    ", end="", file=sys.stderr)
                shares.append(one_run(niche, policy, FIRST_RUN + number, most or niche.horizon))
                keep(path, code, shares=np.array(shares))
            if len(shares) >= runs:
                found[niche, name] = np.array(shares[:runs])
    print(file=sys.stderr)
    return found


def one_run(niche: Niche, policy: Any, number: int, steps: int) -> FloatArray:
    """Regret over that of the best fixed arm: of all steps, and of the last quarter."""
    problem = niche.problem(number)
    run = tarry.play(policy, problem, payoff=niche.payoff, horizon=steps, seed=FIRST_SEED + number)
    least = problem.fixed_gaps(niche.payoff).min()
    first = steps - steps // LATE
    late = run.regret[-1] - run.regret[first - 1]
    return np.array([run.regret[-1] / (steps * least), late / (steps // LATE * least)])
