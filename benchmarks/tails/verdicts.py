"""What SurvivalThompson must reach next to DelayedThompson, and where it does not."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.tails.runs import OURS, RIVAL, Results
from benchmarks.tails.worlds import World
from tarry.arrays import FloatArray
from tarry.tables import markdown_table

MEAN_WITHIN, TAIL_WITHIN, FLOOR_WITHIN = 1.15, 1.25, 1.1
RESAMPLES = 400
FORMER_WITHIN = 1.1
# Mean and worst regret of the first definition of SurvivalThompson, with a prior for both optimism
# and what nobody has seen, on the first 400 of these instances and seeds, by payoff and family.
FORMER_RUNS = 400
FORMER = {
    ("cost", "truncated normal"): (155.6, 384.0),
    ("cost", "Bernoulli"): (123.8, 787.0),
    ("reward", "truncated normal"): (527.9, 1229.0),
    ("reward", "Bernoulli"): (147.6, 2452.0),
}


class Ratios(NamedTuple):
    """Ours over the rival's on one problem, each with an interval."""

    world: World
    mean: FloatArray  # ratio, low, high
    tail: FloatArray  # of the 99 % quantiles
    wrong: tuple[int, int]


def ratios(worlds: Sequence[World], results: Results) -> Iterator[Ratios]:
    """For every small problem."""
    rng = np.random.default_rng(0)
    for world in worlds:
        if world.group != "small":
            continue
        ours, theirs = results[world.key, OURS], results[world.key, RIVAL]
        count = len(ours.regret)
        means, tails = [], []
        for draw in range(RESAMPLES + 1):
            chosen = rng.integers(count, size=count) if draw else np.arange(count)
            one, other = ours.regret[chosen], theirs.regret[chosen]
            means.append(one.mean() / other.mean())
            tails.append(np.quantile(one, 0.99) / np.quantile(other, 0.99))
        yield Ratios(
            world,
            with_interval(means),
            with_interval(tails),
            (int(ours.wrong.sum()), int(theirs.wrong.sum())),
        )


def with_interval(values: Sequence[float]) -> FloatArray:
    """The first value, and the 95 % interval of the others."""
    return np.array([values[0], *np.quantile(values[1:], [0.025, 0.975])])


def against_rival(worlds: Sequence[World], results: Results) -> str:
    """A row for each small problem."""
    rows = [
        [
            f"{r.world.payoff}: {r.world.name}",
            written(r.mean),
            written(r.tail),
            f"{r.wrong[0]}",
            f"{r.wrong[1]}",
        ]
        for r in ratios(worlds, results)
    ]
    head = ["problem", "mean", "99 %", "runs ending wrong", f"of {RIVAL}"]
    return markdown_table(head, rows)


def written(ratio: FloatArray) -> str:
    """A ratio with its interval."""
    return f"{ratio[0]:.2f} ({ratio[1]:.2f} to {ratio[2]:.2f})"


def targets_met(worlds: Sequence[World], results: Results) -> str:
    """Each demand, in how many settings it is met, and where it is not."""
    found = list(ratios(worlds, results))
    rows = [
        verdict(
            f"mean at most {MEAN_WITHIN} times that of {RIVAL}",
            [(title(r.world), r.mean[0], r.mean[0] <= MEAN_WITHIN) for r in found],
        ),
        verdict(
            f"99 % quantile at most {TAIL_WITHIN} times",
            [(title(r.world), r.tail[0], r.tail[0] <= TAIL_WITHIN) for r in found],
        ),
        verdict(
            "no more runs that end on a wrong arm",
            [(title(r.world), r.wrong[0] - r.wrong[1], r.wrong[0] <= r.wrong[1]) for r in found],
        ),
        *example_verdict(worlds, results),
        *hard_verdict(worlds, results),
        *former_verdict(worlds, results),
    ]
    return markdown_table(["target", "met in", "not met"], rows)


def verdict(what: str, outcomes: Sequence[tuple[str, float, bool]]) -> list[str]:
    """A row: how many were met, and the others by name."""
    missed = [f"{name}: {value:.4g}" for name, value, met in outcomes if not met]
    return [what, f"{len(outcomes) - len(missed)} of {len(outcomes)}", "; ".join(missed) or "-"]


def title(world: World) -> str:
    """The name of a setting."""
    return f"{world.payoff}, {world.name}"


def example_verdict(worlds: Sequence[World], results: Results) -> Iterator[list[str]]:
    """The pair on which the former definition now and then locked in."""
    for world in worlds:
        if world.group == "example":
            tail = results[world.key, OURS]
            wrong = int(tail.wrong.sum())
            what = f"none of {len(tail.wrong)} runs of T = {world.horizon} on the pair {world.name}"
            yield verdict(f"{what} ends on the wrong arm", [(title(world), wrong, wrong == 0)])


def hard_verdict(worlds: Sequence[World], results: Results) -> Iterator[list[str]]:
    """Regret on the hard pairs next to the lower bound."""
    pairs = [w for w in worlds if w.group == "hard" and not w.name.startswith("conservative")]
    outcomes = []
    for world in pairs:
        ratio = float(results[world.key, OURS].regret.mean()) / world.floor
        outcomes.append((title(world), ratio, ratio <= FLOOR_WITHIN))
    if outcomes:
        yield verdict(f"hard pairs within {FLOOR_WITHIN} times the lower bound", outcomes)


def former_verdict(worlds: Sequence[World], results: Results) -> Iterator[list[str]]:
    """The paper's families next to the first definition of the policy, where runs are as many."""
    means, worst = [], []
    for world in worlds:
        tail = results[world.key, OURS]
        if world.group == "family" and len(tail.regret) == FORMER_RUNS:
            mean, most = FORMER[world.payoff, world.name]
            ratio = float(tail.regret.mean()) / mean
            means.append((title(world), ratio, ratio <= FORMER_WITHIN))
            ratio = float(tail.regret.max()) / most
            worst.append((title(world), ratio, ratio <= 1))
    if means:
        yield verdict(f"families: mean at most {FORMER_WITHIN} times the first definition's", means)
        yield verdict("families: worst run no worse than the first definition's", worst)
