"""What SurvivalThompson must reach next to DelayedThompson, and where it does not."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from benchmarks.tails.runs import FIRST, OURS, RIVAL, Results
from benchmarks.tails.worlds import World
from tarry.arrays import FloatArray
from tarry.tables import markdown_table

MEAN_WITHIN, TAIL_WITHIN, FLOOR_WITHIN = 1.15, 1.25, 1.1
RESAMPLES = 400
FORMER_WITHIN = 1.1
CHANCE = 0.05
GROUP = 100  # instances of a family among which worst runs are compared


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
        verdict(
            f"not so many more that chance explains it in less than {CHANCE:.0%} of cases",
            [(title(r.world), by_chance(r.wrong), by_chance(r.wrong) >= CHANCE) for r in found],
        ),
        *example_verdict(worlds, results),
        *hard_verdict(worlds, results),
        *former_verdict(worlds, results),
    ]
    return markdown_table(["target", "met in", "not met"], rows)


def by_chance(wrong: tuple[int, int]) -> float:
    """How likely so large a share of all wrong ends is ours, if both policies have as many."""
    return float(stats.binom.sf(wrong[0] - 1, sum(wrong), 0.5))


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
    """The paper's families next to the first definition of the policy."""
    means, worst = [], []
    for world in with_first(worlds):
        ours, first = results[world.key, OURS].regret, results[world.key, FIRST].regret
        ratio = float(ours.mean() / first.mean())
        means.append((title(world), ratio, ratio <= FORMER_WITHIN))
        ratio = float(ours.max() / first.max())
        worst.append((title(world), ratio, ratio <= 1))
    if means:
        yield verdict(f"families: mean at most {FORMER_WITHIN} times the first definition's", means)
        yield verdict("families: worst run no worse than the first definition's", worst)


def with_first(worlds: Sequence[World]) -> list[World]:
    """Where the first definition plays as many runs as the present one."""
    return [world for world in worlds if world.first >= world.runs]


def against_first(worlds: Sequence[World], results: Results) -> str:
    """A row for each family: how the regret is distributed, over how it was by definition one."""
    rng = np.random.default_rng(0)
    rows = []
    for world in with_first(worlds):
        ours, first = results[world.key, OURS].regret, results[world.key, FIRST].regret
        count = len(ours)
        found = []
        for draw in range(RESAMPLES + 1):
            chosen = rng.integers(count, size=count) if draw else np.arange(count)
            found.append(measures(ours[chosen]) / measures(first[chosen]))
        columns = [written(with_interval(column)) for column in np.array(found).T.tolist()]
        better, groups = worst_no_worse(ours, first)
        rows.append([title(world), f"{count}", *columns, f"{better} of {groups}"])
    head = ["family", "instances", "mean", "median", "99 %", "99.9 %", "worst"]
    return markdown_table([*head, f"worst of {GROUP} no worse"], rows)


def measures(regret: FloatArray) -> FloatArray:
    """Mean, median, two high quantiles and the worst run."""
    return np.array([regret.mean(), *np.quantile(regret, [0.5, 0.99, 0.999]), regret.max()])


def worst_no_worse(ours: FloatArray, first: FloatArray) -> tuple[int, int]:
    """In how many groups of GROUP instances the worst run of ours is no worse, and of how many."""
    groups = len(ours) // GROUP
    most = [runs[: groups * GROUP].reshape(groups, -1).max(axis=1) for runs in (ours, first)]
    return int((most[0] <= most[1]).sum()), groups
