"""The page docs/tails.md from what was played."""

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.tails.runs import LAST, OURS, RIVAL, Results, Tail, players, same_runs
from benchmarks.tails.verdicts import GROUP, against_first, against_rival, targets_met, with_first
from benchmarks.tails.worlds import World
from tarry.tables import markdown_table, number

GROUPS = {
    "small": "Small problems",
    "example": "The example for longer",
    "family": "The paper's families",
    "realistic": "Problems that look like real systems",
    "hard": "The paper's hard pairs",
    "time-out": "Time-outs far above all delays",
}
INTRODUCTION = """\
# Bad runs

Written by `python -m benchmarks.tails --write`; do not edit.

A mean over twenty runs says nothing about the one run in a thousand that never finds the best arm,
and a user has one run. This page is about that run: for every policy that the documentation
recommends, and `DelayedThompson` as a yardstick, how the regret at the horizon is distributed.
A run **ends on a wrong arm** if most of the last {last} % of its plays are of arms that are not
best. All policies meet the same delays in the same run.

No seed or instance of this page served to choose between definitions or settings. Three of its
problems showed what was missing: *0, 20 or 200, three arms* that `SurvivalThompson` should draw
laws of nearly two points wider, *299 or 240 of 300* that it must count how answers differ within a
bin, and Bernoulli delays as a cost that it should look at near arms more often than at far ones.
Four earlier forms of that were measured on this page as well; the last of them was given up after
a look at 4000 of these Bernoulli costs, for one that was chosen on other instances
([what was tried](survival.md))."""
FIGURE = """\
:::{drawing} figures/tails.svg
:alt: ALT

CAPTION
:::"""
ALT = (
    "Two panels, cost and reward. For each policy the share of runs whose regret exceeds so many "
    "times the mean regret of DelayedThompson on the same problem, on logarithmic axes. The curve "
    "of SurvivalThompson falls like that of DelayedThompson or faster."
)
CAPTION = (
    "All runs on the small problems. How many runs have a regret above so many times the mean "
    "regret of DelayedThompson on the same problem? A curve that runs out flat to the right is a "
    "policy that now and then never recovers."
)
TARGETS = (
    "A target is met, or not, by the figure on this page. *Beyond chance* counts those that are "
    "met with the whole 95 % interval of the figure. What is not met is undecided if its interval "
    "reaches the limit: more runs may turn it either way. For wrong ends the interval is of the "
    "share of ours among the runs that end wrong for one of the two policies only; a half would be "
    "a tie, and where hardly any run ends wrong nothing can be beyond chance."
)
RATIOS = (
    f"Ratios of the mean and of the 99 % quantile on each small problem, below 1 where {OURS} is "
    f"better, with 95 % intervals (runs drawn again with replacement, in pairs)."
)
FIRST_RATIOS = (
    f"{OURS} once had one prior for what it hopes of an arm and for what nobody has seen yet "
    f"([why not any longer](survival.md)). Ratios of the regret now to that of the first "
    f"definition, on the same instances, with 95 % intervals (instances drawn again with "
    f"replacement, in pairs). The worst run of so many hangs on one instance and its interval is "
    f"rough; the last column has the instances in groups of {GROUP} and says in how many of them "
    f"the worst run is no worse than it was: half of them, if nothing has changed."
)
COLUMNS = ["", "policy", "runs", "mean", "median", "99 %", "99.9 %", "worst", "wrong arm"]


def page(worlds: Sequence[World], results: Results) -> str:
    """The whole page."""
    parts = [
        INTRODUCTION.format(last=100 // LAST),
        FIGURE.replace("ALT", ALT).replace("CAPTION", CAPTION),
        "## Targets",
        TARGETS,
        targets_met(worlds, results),
        "## All small problems together",
        pooled(worlds, results),
        f"## {OURS} next to {RIVAL}",
        RATIOS,
        against_rival(worlds, results),
    ]
    if with_first(worlds):
        parts += [f"## {OURS} next to its first definition", FIRST_RATIOS]
        parts += [against_first(worlds, results)]
    for group, title in GROUPS.items():
        chosen = [world for world in worlds if world.group == group]
        if chosen:
            parts += [f"## {title}", about(group, chosen), full_table(chosen, results)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def about(group: str, worlds: Sequence[World]) -> str:
    """What the table of a group shows."""
    horizons = sorted({world.horizon for world in worlds})
    told = f"T = {number(horizons[0])}"
    if len(horizons) > 1:
        told += f" to {number(horizons[-1])}, larger where the gaps are small"
    more = {
        "family": " 30 arms, D = 5000, each run with an instance of its own.",
        "realistic": " Each run with an instance of its own.",
        "hard": " Half of the runs on each instance of a pair; 'lower bound' is on the mean over "
        "both. That of 'conservative' binds only policies that play both arms in turn.",
        "time-out": " Gamma delays of shape 4, and fixed ones. Regret is in units of D: a gap of "
        "10 is 0.001 and 0.00001 here.",
    }
    return f"{told}.{more.get(group, '')}"


def full_table(worlds: Sequence[World], results: Results) -> str:
    """A row for each problem and policy."""
    return markdown_table(COLUMNS, [row for world in worlds for row in rows_of(world, results)])


def rows_of(world: World, results: Results) -> Iterator[list[str]]:
    """The rows of one problem; its name stands in the first."""
    title = f"{world.payoff}: {world.name}"
    for key, policy in results:
        if key == world.key:
            yield [title, policy, *numbers_of(results[key, policy])]
            title = ""
    if world.floor:
        yield ["", "lower bound", "", number(world.floor), "", "", "", "", ""]


def numbers_of(tail: Tail) -> list[str]:
    """Mean, quantiles and worst run."""
    quantiles = np.quantile(tail.regret, [0.5, 0.99, 0.999])
    values = (tail.regret.mean(), *quantiles, tail.regret.max())
    return [str(len(tail.regret)), *(short(float(v)) for v in values), share(tail)]


def short(value: float) -> str:
    """Three digits."""
    return number(round(value)) if value >= 100 else f"{value:.3g}"


def share(tail: Tail) -> str:
    """The share of runs that end on a wrong arm."""
    count = int(tail.wrong.sum())
    return f"{100 * count / len(tail.wrong):.3g} %" if count else "none"


def pooled(worlds: Sequence[World], results: Results) -> str:
    """A row for each policy over all small problems, in units of the mean of the rival."""
    small = [world for world in worlds if world.group == "small"]
    names = players(small, results)
    rows = []
    count = same_runs(small)
    for name in names:
        tails = [results[world.key, name] for world in small]
        base = [float(results[world.key, RIVAL].regret.mean()) for world in small]
        relative = np.concatenate([t.regret[:count] / b for t, b in zip(tails, base, strict=True)])
        wrong = np.concatenate([t.wrong[:count] for t in tails])
        most = max(float(t.wrong.mean()) for t in tails)
        values = (relative.mean(), *np.quantile(relative, [0.5, 0.99, 0.999]), relative.max())
        rows.append(
            [
                name,
                number(count),
                *(f"{v:.2f}" for v in values),
                f"{100 * wrong.mean():.2g} %" if wrong.any() else "none",
                f"{100 * most:.2g} %" if most else "none",
            ]
        )
    head = ["policy", "runs of each", "mean", "median", "99 %", "99.9 %", "worst"]
    table = markdown_table([*head, "wrong arm", "on the worst problem"], rows)
    note = (
        f"Regret in units of the mean regret of {RIVAL} on the same problem. IncrementUCB pays for "
        f"a guarantee; where gaps are small these horizons are too short for it to settle."
    )
    return f"{note}\n\n{table}"
