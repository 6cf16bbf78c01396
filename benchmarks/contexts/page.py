"""The page of the measurement: targets are compared with what was measured, not typed."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contexts.floor import TIMES
from benchmarks.contexts.niches import Niche
from benchmarks.contexts.runs import FIXED, OURS, POLICIES, Results, plays_here
from benchmarks.contexts.turned import PARTS, STEPS
from benchmarks.contexts.waiting_page import spaced
from benchmarks.contexts.worlds import (
    ARMS,
    FEATURES,
    FIRST_RUN,
    FIRST_SEED,
    HORIZON,
    TABLE_HORIZON,
    World,
)
from benchmarks.contexts.worlds import simulated as all_simulated
from tarry.arrays import FloatArray

HEAD = (
    "# Contexts, measured\n"
    "\n"
    "Written by `python -m benchmarks.contexts --write`. What the policies do, and what "
    "contexts cost where they are useless, is told in [](concepts/contexts.md).\n"
    "\n"
    "Regret over that of uniform play: the mean of {runs} runs ({own} of SurvivalRegression),"
    " and the worst in brackets; lower is better, 0 is the best arm of every request. "
    "*Target* is what was asked of SurvivalRegression before it was measured.\n"
    "Simulated worlds have {arms} arms and {features} features (five where delays are 0 or D,"
    " one per segment in *five segments*), a new world for each run, {horizon} steps, and a "
    "seed for each run from {seed} on.\n"
    "The policies have their defaults. What they are made of was chosen on other seeds; what was "
    "tried stands at the end of the page.\n"
)
MEASURED = (
    "\n## Run times of solvers and queries\n\n"
    "Each step draws an instance at random; its times under all arms are known, so regret is "
    "exact. 20 000 steps, three runs; D is the cutoff in seconds (30 s in tenths for *job*). "
    "Features that are never negative are given as logarithms.\n"
    "ASlib (Bischl et al. 2016): 86 to 134 features of an instance. *job* (LimeQO, Yi et al. "
    "2025): 49 hint sets of a database, and the context is the template of the query. The files "
    "are not part of this project; `--folder` says where they are.\n"
    "These instances are not unseen: half of those of ASP-POTASSCO and of SAT12-INDU, drawn with "
    "another seed, served to choose the share of the variance (at the end of the page). Before the "
    "third round the table had, in three runs, 0.120, 0.332, 0.310 and 0.208.\n"
)
MIXTURE = (
    "\nA mixture of the experts SurvivalRegression and LinearThompson was not built, and not "
    "measured. What there is to gain: the better of the two in each world, known in advance, has "
    "{gain:.0%} less regret than SurvivalRegression alone (geometric mean over {count} worlds). "
    "That is an indication, not a bound: a mixture could also be better than both, and would have "
    "to find out which one is.\n"
)
NICHES = (
    "\n## An arm for a few requests\n\n"
    "The last arm is bad for most requests and by far the best for the share of them that is "
    "named. Regret over that of the best *fixed* arm, {runs} runs: the mean of all steps, and in "
    "brackets that of the last quarter in the worst run. Who never finds the niche has 1 and more; "
    "above 1 in all and little late is the price of learning about many arms and kinds.\n"
    "Each world has its own horizon, 10 000 to 50 000 steps. In *a step*, the last arm is good "
    "above a threshold of a number, which no linear model of these policies can tell. The same "
    "world is played again with the square of each number beside it, which is what "
    "`tarry.numeric(curve=True)` gives, and with the first number as one of ten ranges: the niche "
    "is half of the last of them, so that in its mean the last arm is no better there.\n\n"
)
FLOOR = (
    "\n## What nobody can do without\n\n"
    "A floor under the mean regret of every policy in worlds that are drawn like these, over that "
    "of uniform play in all {horizon} steps. It is what a player loses who is given more than any "
    "policy has: the family of the laws, the laws of their parameters, and in each step what all "
    "{arms} arms have shown by then, whichever was played. That player need not explore, and the "
    "arm that is best in expectation is the best there is (with *five segments* it is told all "
    "but level and shape of an arm). Estimated from below, over the first {last} steps of {runs} "
    "worlds of each kind, with the standard error; the module `benchmarks.contexts.floor` says "
    "why what is wrong with the estimate makes it too low and not too high.\n\n"
)
TURNED = (
    "\n## A world that turns\n\n"
    "The first world above, {steps} steps; then, from one step to the next, another draw of it: "
    "every law changes, and nobody says so. An agent of SurvivalRegression is asked and told. "
    "Regret over that of uniform play, mean of {runs} runs, and the worst in brackets.\n\n"
)
TIME = (
    "\n## Time\n\n"
    "A decision of SurvivalRegression with 10 arms, 8 features and D = 2000 took {micros:.0f} "
    "microseconds of processor time, learning included, compiled, on the machine that wrote "
    "this page (asked for: at most 30). What it keeps does not grow with the horizon.\n"
    "Live, as machine code, `ask(context=...)` and `tell` of an agent with 10 arms and 8 features "
    "took {live:.0f} microseconds, the sum of their medians (asked for: at most 150); "
    "`python -m benchmarks.live --only contexts` has more.\n"
)


def page(
    worlds: Sequence[World],
    results: Results,
    turn: dict[str, FloatArray],
    rare: Mapping[tuple[Niche, str], FloatArray],
    wait: str,
    least: Mapping[str, FloatArray],
    **micros: float,
) -> str:
    """The whole page; `wait` is its section about the wait."""
    tables = [world for world in worlds if world.horizon == TABLE_HORIZON]
    simulated = [world for world in worlds if world not in tables]
    sizes: dict[str, Any] = {"arms": ARMS, "features": FEATURES, "seed": FIRST_SEED + FIRST_RUN}
    sizes["own"] = runs_of(results, [(world.key, OURS) for world in simulated])
    sizes["runs"] = runs_of(results, [(w.key, n) for w in simulated for n in (*POLICIES, FIXED)])
    sizes["runs"] = sizes["runs"].split(" to ")[0]
    text = HEAD.format(horizon=spaced(HORIZON), **sizes)
    text += "\n" + table(simulated, results) + "\n" + verdict(simulated, results)
    text += mixture(simulated, results)
    if blanks(simulated + tables, results):
        text += "A policy or a cell that is not there was not played on these seeds yet.\n"
    missing = len(list(all_simulated())) - len(simulated)
    if missing:
        text += f"{missing} more worlds are not measured yet; the command goes on with them.\n"
    text += wait
    text += floor_part(least) if least else ""
    text += MEASURED
    if tables:
        text += "\n" + table(tables, results) + "\n" + verdict(tables, results)
    text += niche_part(rare) if rare else ""
    text += (turned(turn) if turn else "") + TIME.format(**micros)
    return text + "\n" + (Path(__file__).parent / "tried.md").read_text()


def blanks(worlds: Sequence[World], results: Results) -> bool:
    """Whether anything of the tables was not played yet."""
    return any(
        (world.key, name) not in results
        for world in worlds
        for name in POLICIES
        if plays_here(name, world)
    )


def runs_of(results: Results, keys: Sequence[tuple[str, str]]) -> str:
    """How many runs there are of these, as one number or two."""
    sizes = [len(results[key]) for key in keys if key in results]
    return f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"


def floor_part(least: Mapping[str, FloatArray]) -> str:
    """What every policy loses, at least."""
    runs = len(next(iter(least.values())))
    lines = [["world", "cost", "reward"], ["---", "--:", "--:"]]
    for title, shares in least.items():
        errors = shares.std(axis=0, ddof=1) / math.sqrt(runs) if runs > 1 else np.zeros(2)
        pairs = zip(shares.mean(axis=0), errors, strict=True)
        lines.append([title, *(f"{mean:.4f} ± {error:.4f}" for mean, error in pairs)])
    text = FLOOR.format(horizon=spaced(HORIZON), arms=ARMS, last=spaced(TIMES[-1]), runs=runs)
    return text + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def mixture(worlds: Sequence[World], results: Results) -> str:
    """What choosing between SurvivalRegression and LinearThompson with hindsight would gain."""
    means = [
        shared_means(results, world, "LinearThompson")
        for world in worlds
        if (world.key, "LinearThompson") in results
    ]
    if not means:
        return ""
    ratios = [min(linear / own, 1.0) for own, linear in means]
    gain = 1.0 - math.exp(np.mean(np.log(ratios)))
    return MIXTURE.format(gain=gain, count=len(means))


def niche_part(rare: Mapping[tuple[Niche, str], FloatArray]) -> str:
    """Who finds an arm that is made for a few requests."""
    lines = [["world", "payoff", *POLICIES], ["---", "---", *["--:"] * len(POLICIES)]]
    for niche in dict.fromkeys(each for each, _ in rare):
        cells = []
        for name in POLICIES:
            shares = rare.get((niche, name))
            told = "" if shares is None else f"{shares[:, 0].mean():.2f} ({shares[:, 1].max():.2f})"
            cells.append(told)
        lines.append([niche.title, niche.payoff, *cells])
    runs = len(next(iter(rare.values())))
    return NICHES.format(runs=runs) + "\n".join("| " + " | ".join(x) + " |" for x in lines) + "\n"


def turned(turn: dict[str, FloatArray]) -> str:
    """Before and after a turn, by half-life."""
    lines = [["", *PARTS], ["---", *["--:"] * len(PARTS)]]
    for name, shares in turn.items():
        lines.append([name, *("" if np.isnan(each).any() else cell(each) for each in shares.T)])
    count = len(next(iter(turn.values())))
    text = TURNED.format(steps=spaced(STEPS), runs=count)
    return text + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def cell(shares: FloatArray) -> str:
    """Mean and worst of some runs."""
    return f"{np.mean(shares):.3f} ({max(shares):.3f})"


def table(worlds: Sequence[World], results: Results) -> str:
    """Who has how much regret where."""
    names = [name for name in POLICIES if any((w.key, name) in results for w in worlds)]
    lines = [["world", "payoff", "target", *names, FIXED]]
    for world in worlds:
        cells = [cell(results[world.key, n]) if (world.key, n) in results else "" for n in names]
        aim = f"{world.target:g}" if world.target is not None else asked(world)
        lines.append([world.title, world.payoff, aim, *cells, cell(results[world.key, FIXED])])
    lines.insert(1, ["---", "---", "--:", *["--:"] * (len(names) + 1)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def asked(world: World) -> str:
    """The target of a world without a number, in words."""
    return "no worse than without contexts" if world.key == "job" else "below the best fixed arm"


def limit(world: World, results: Results) -> float:
    """What the regret of SurvivalRegression must not exceed."""
    if world.target is not None:
        return world.target
    return float(np.mean(results[world.key, "SurvivalThompson" if world.key == "job" else FIXED]))


def verdict(worlds: Sequence[World], results: Results) -> str:
    """Which targets are met, and how SurvivalRegression compares with LinUCB, in sentences."""
    missed = []
    for world in worlds:
        shares = results[world.key, OURS]
        if np.mean(shares) > limit(world, results):
            error = np.std(shares, ddof=1) / math.sqrt(len(shares))
            missed.append(
                f"{world.title}, {world.payoff}: {np.mean(shares):.4f} (standard error "
                f"{error:.4f}) against {limit(world, results):.4f}"
            )
    met = f"SurvivalRegression meets {len(worlds) - len(missed)} of {len(worlds)} targets"
    text = f"{met}{'; it misses ' + '; '.join(missed) if missed else ''}.\n"
    there = [world for world in worlds if (world.key, "LinUCB") in results]
    if there:
        means = [shared_means(results, world, "LinUCB") for world in there]
        ratios = [own / other for own, other in means]
        text += f"It has {min(ratios):.2f} to {max(ratios):.2f} times the regret of LinUCB"
        text += "" if len(there) == len(worlds) else f" in the {len(there)} where that was played"
        text += ".\n"
    best = []
    for world in worlds:
        if (world.key, "LinearThompson") in results:
            own, other = shared_means(results, world, "LinearThompson")
            if other < own:
                best.append(f"{world.title}, {world.payoff}")
    return text + (f"LinearThompson is better in: {'; '.join(best)}.\n" if best else "")


def shared_means(results: Results, world: World, name: str) -> tuple[float, float]:
    """Mean regret of SurvivalRegression and of another policy, in the runs that both have."""
    own, other = results[world.key, OURS], results[world.key, name]
    count = min(len(own), len(other))
    return float(np.mean(own[:count])), float(np.mean(other[:count]))
