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
GROUP = 100  # instances of a family among which worst runs are compared


class Outcome(NamedTuple):
    """A figure that should not exceed a limit, with its 95 % interval."""

    name: str
    value: float
    low: float
    high: float
    limit: float
    counts: str = ""  # what is shown in place of the figure, if it is a share

    @property
    def met(self) -> bool:
        """What the figure says, whatever its interval."""
        return self.value <= self.limit

    @property
    def sure(self) -> bool:
        """Whether the whole interval says the same."""
        return self.high <= self.limit if self.met else self.low > self.limit

    def __str__(self) -> str:
        """The figure with its interval, and whether more runs may turn it."""
        told = "beyond chance" if self.sure else "undecided"
        figure = self.counts or f"{self.value:.4g}"
        between = "" if self.low == self.high else f" ({self.low:.2f} to {self.high:.2f})"
        return f"{self.name}: {figure}{between}, {told}"


class Ratios(NamedTuple):
    """Ours over the rival's on one problem, each with an interval."""

    world: World
    mean: FloatArray  # ratio, low, high
    tail: FloatArray  # of the 99 % quantiles
    wrong: tuple[int, int]
    alone: tuple[int, int]  # runs that end wrong for one of the two and not for the other


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
            (int((ours.wrong > theirs.wrong).sum()), int((ours.wrong < theirs.wrong).sum())),
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
            [within(r.world, r.mean, MEAN_WITHIN) for r in found],
        ),
        verdict(
            f"99 % quantile at most {TAIL_WITHIN} times",
            [within(r.world, r.tail, TAIL_WITHIN) for r in found],
        ),
        verdict("no more runs that end on a wrong arm", [wrong_ends(r) for r in found]),
        *example_verdict(worlds, results),
        *hard_verdict(worlds, results),
        *former_verdict(worlds, results),
    ]
    return markdown_table(["target", "met in", "beyond chance", "not met"], rows)


def within(world: World, figure: FloatArray, limit: float) -> Outcome:
    """A figure, with the low and the high end of its interval, next to its limit."""
    value, low, high = figure.tolist()
    return Outcome(title(world), value, low, high, limit)


def wrong_ends(found: Ratios) -> Outcome:
    """Of the runs that end wrong for one policy and not for the other, at most half are ours."""
    ours, theirs = found.alone
    counts = f"{found.wrong[0]} for {found.wrong[1]}"
    return Outcome(title(found.world), *share_of(ours, ours + theirs), 0.5, counts)


def share_of(some: int, all_of_them: int) -> tuple[float, float, float]:
    """A share with its exact 95 % interval; of nothing it is a half, and may be anything."""
    if all_of_them == 0:
        return 0.5, 0.0, 1.0
    interval = stats.binomtest(some, all_of_them).proportion_ci(0.95)
    return some / all_of_them, float(interval.low), float(interval.high)


def verdict(what: str, outcomes: Sequence[Outcome]) -> list[str]:
    """A row: how many were met, how many of these beyond chance, and the others by name."""
    met = [outcome for outcome in outcomes if outcome.met]
    missed = [str(outcome) for outcome in outcomes if not outcome.met]
    sure = sum(outcome.sure for outcome in met)
    return [what, f"{len(met)} of {len(outcomes)}", f"{sure}", "; ".join(missed) or "-"]


def title(world: World) -> str:
    """The name of a setting."""
    return f"{world.payoff}, {world.name}"


def example_verdict(worlds: Sequence[World], results: Results) -> Iterator[list[str]]:
    """The pair on which the former definition now and then locked in: a count, and no more."""
    for world in worlds:
        if world.group == "example":
            tail = results[world.key, OURS]
            wrong = int(tail.wrong.sum())
            what = f"none of {len(tail.wrong)} runs of T = {world.horizon} on the pair {world.name}"
            outcome = Outcome(title(world), wrong, wrong, wrong, 0)
            yield verdict(f"{what} ends on the wrong arm", [outcome])


def hard_verdict(worlds: Sequence[World], results: Results) -> Iterator[list[str]]:
    """Regret on the hard pairs next to the lower bound."""
    pairs = [w for w in worlds if w.group == "hard" and not w.name.startswith("conservative")]
    outcomes = []
    for world in pairs:
        regret = results[world.key, OURS].regret / world.floor
        halves = (regret[::2], regret[1::2])  # one for each instance of the pair
        ratio = float(regret.mean())
        around = 1.96 * sum(float(half.var(ddof=1)) / len(half) for half in halves) ** 0.5 / 2
        outcomes.append(Outcome(title(world), ratio, ratio - around, ratio + around, FLOOR_WITHIN))
    if outcomes:
        yield verdict(f"hard pairs within {FLOOR_WITHIN} times the lower bound", outcomes)


def former_verdict(worlds: Sequence[World], results: Results) -> Iterator[list[str]]:
    """The paper's families next to the first definition of the policy."""
    found = list(former_ratios(worlds, results))
    if not found:
        return
    yield verdict(
        f"families: mean at most {FORMER_WITHIN} times the first definition's",
        [within(f.world, f.measures[0], FORMER_WITHIN) for f in found],
    )
    yield verdict(
        "families: worst run no worse than the first definition's",
        [within(f.world, f.measures[-1], 1) for f in found],
    )
    worse, groups = sum(f.groups - f.no_worse for f in found), sum(f.groups for f in found)
    outcome = Outcome("all four", *share_of(worse, groups), 0.5, f"{worse} of {groups} are worse")
    yield verdict(
        f"families: the worst of {GROUP} runs no worse than its, in half of all groups", [outcome]
    )


class Former(NamedTuple):
    """Ours over the first definition's on one family."""

    world: World
    instances: int
    measures: FloatArray  # by measure: ratio, low, high
    no_worse: int  # groups of GROUP instances in which our worst run is no worse
    groups: int


def former_ratios(worlds: Sequence[World], results: Results) -> Iterator[Former]:
    """For every family that the first definition has played as well."""
    rng = np.random.default_rng(0)
    for world in with_first(worlds):
        ours, first = results[world.key, OURS].regret, results[world.key, FIRST].regret
        count = len(ours)
        found = []
        for draw in range(RESAMPLES + 1):
            chosen = rng.integers(count, size=count) if draw else np.arange(count)
            found.append(measures(ours[chosen]) / measures(first[chosen]))
        columns = np.array([with_interval(column) for column in np.array(found).T.tolist()])
        yield Former(world, count, columns, *worst_no_worse(ours, first))


def with_first(worlds: Sequence[World]) -> list[World]:
    """Where the first definition plays as many runs as the present one."""
    return [world for world in worlds if world.first >= world.runs]


def against_first(worlds: Sequence[World], results: Results) -> str:
    """A row for each family: how the regret is distributed, over how it was by definition one."""
    rows = [
        [
            title(found.world),
            f"{found.instances}",
            *(written(measure) for measure in found.measures),
            f"{found.no_worse} of {found.groups}",
            *(f"{int(results[found.world.key, who].wrong.sum())}" for who in (OURS, FIRST)),
        ]
        for found in former_ratios(worlds, results)
    ]
    head = ["family", "instances", "mean", "median", "99 %", "99.9 %", "worst"]
    more = [f"worst of {GROUP} no worse", "runs ending wrong", "of the first"]
    return markdown_table([*head, *more], rows)


def measures(regret: FloatArray) -> FloatArray:
    """Mean, median, two high quantiles and the worst run."""
    return np.array([regret.mean(), *np.quantile(regret, [0.5, 0.99, 0.999]), regret.max()])


def worst_no_worse(ours: FloatArray, first: FloatArray) -> tuple[int, int]:
    """In how many groups of GROUP instances the worst run of ours is no worse, and of how many."""
    groups = len(ours) // GROUP
    most = [runs[: groups * GROUP].reshape(groups, -1).max(axis=1) for runs in (ours, first)]
    return int((most[0] <= most[1]).sum()), groups
