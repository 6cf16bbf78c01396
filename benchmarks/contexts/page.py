"""The page of the measurement: targets are compared with what was measured, not typed."""

import math
from collections.abc import Sequence

import numpy as np

from benchmarks.contexts.runs import FIXED, OURS, POLICIES, Results
from benchmarks.contexts.worlds import ARMS, FEATURES, FIRST_SEED, HORIZON, TABLE_HORIZON, World
from benchmarks.contexts.worlds import simulated as all_simulated
from tarry.arrays import FloatArray

HEAD = (
    "# Contexts, measured\n\n"
    "Written by `python -m benchmarks.contexts --write`. What the policies do, and what "
    "contexts cost where they are useless, is told in [](concepts/contexts.md).\n\n"
    "Regret over that of uniform play: the mean of {runs} runs, and the worst in brackets; "
    "lower is better, 0 is the best arm of every request. *Target* is what was asked of "
    "SurvivalRegression before it was measured.\n"
    "Simulated worlds have {arms} arms and {features} features (five where delays are 0 or D, "
    "one per segment in *five segments*), a new world for each run, {horizon} steps, and seeds "
    "from {seed} on, which played no part in any choice.\n"
    "The policies have their defaults. Two variants of SurvivalRegression, with a prior in its "
    "draws and with the pseudo-play of SurvivalThompson, were compared on other seeds; they "
    "were equally good, and the second was taken, since its optimism never dies.\n"
)
MEASURED = (
    "\n## Run times of solvers and queries\n\n"
    "Each step draws an instance at random; its times under all arms are known, so regret is "
    "exact. 20 000 steps, three runs; D is the cutoff in seconds (30 s in tenths for *job*). "
    "Features that are never negative are given as logarithms.\n"
    "ASlib (Bischl et al. 2016): 86 to 134 features of an instance. *job* (LimeQO, Yi et al. "
    "2025): 49 hint sets of a database, and the context is the template of the query. The files "
    "are not part of this project; `--folder` says where they are.\n"
)
TIME = (
    "\n## Time\n\n"
    "A decision of SurvivalRegression with 10 arms, 8 features and D = 2000 took {micros:.0f} "
    "microseconds of processor time, learning included, compiled, on the machine that wrote "
    "this page (asked for: at most 30). What it keeps does not grow with the horizon.\n"
)


def page(worlds: Sequence[World], results: Results, runs: int, micros: float) -> str:
    """The whole page."""
    tables = [world for world in worlds if world.horizon == TABLE_HORIZON]
    simulated = [world for world in worlds if world not in tables]
    sizes = {"arms": ARMS, "features": FEATURES, "seed": FIRST_SEED, "runs": runs}
    text = HEAD.format(horizon=f"{HORIZON:,}".replace(",", " "), **sizes)
    text += "\n" + table(simulated, results) + "\n" + verdict(simulated, results)
    missing = len(list(all_simulated())) - len(simulated)
    if missing:
        text += f"{missing} more worlds are not measured yet; the command goes on with them.\n"
    if tables:
        text += MEASURED + "\n" + table(tables, results) + "\n" + verdict(tables, results)
    return text + TIME.format(micros=micros)


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
                f"{world.title}, {world.payoff}: {np.mean(shares):.3f} (standard error "
                f"{error:.3f}) against {limit(world, results):.3f}"
            )
    met = f"SurvivalRegression meets {len(worlds) - len(missed)} of {len(worlds)} targets"
    text = f"{met}{'; it misses ' + '; '.join(missed) if missed else ''}.\n"
    ratios = [np.mean(results[w.key, OURS]) / np.mean(results[w.key, "LinUCB"]) for w in worlds]
    best = [
        world.title + ", " + world.payoff
        for world in worlds
        if np.mean(results[world.key, "LinearThompson"]) < np.mean(results[world.key, OURS])
    ]
    text += f"It has {min(ratios):.2f} to {max(ratios):.2f} times the regret of LinUCB"
    return text + (f"; LinearThompson is better in: {'; '.join(best)}.\n" if best else ".\n")
