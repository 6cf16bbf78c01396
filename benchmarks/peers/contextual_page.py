"""The page docs/peers-contexts.md: what contexts are worth to whom."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.contexts.worlds import FIRST_SEED, World
from benchmarks.peers.contextual import TUNING_STEPS, Entry, best_peer, ratio
from benchmarks.peers.reach import RUNS, Judged, reach_table
from tarry.arrays import FloatArray
from tarry.experiments.curves import student
from tarry.tables import markdown_table

LIBRARIES = ("Vowpal Wabbit", "MABWiser", "river")


def contexts_page(
    found: Sequence[tuple[World, list[Entry]]],
    runs: int,
    tried: dict[str, int],
    blind: Mapping[str, FloatArray] | None = None,
    judged: Sequence[Judged] = (),
) -> str:
    """The text of the page; `blind` has what SurvivalThompson had, by key of a world."""
    rows = [row(world, entries) for world, entries in found]
    chosen = [[f"{w.title}, {w.payoff}", *tuned_settings(entries)] for w, entries in found]
    heads = ["world", "SurvivalRegression", *LIBRARIES, "best peer", "ratio"]
    return (
        (Path(__file__).parent / "contextual.md")
        .read_text()
        .format(
            horizon=spaced(found[0][0].horizon),
            runs=runs,
            seed=FIRST_SEED,
            fewer=counts(found, runs),
            tried=", ".join(f"{count} ({name})" for name, count in tried.items()),
            tuning=spaced(TUNING_STEPS),
            table=markdown_table(heads, rows),
            settings=markdown_table(["world", *LIBRARIES], chosen),
            verdict=verdict(found),
            blind=what_blind_had(found, blind or {}),
            reach=reach(judged, runs),
            times=times(found),
        )
    )


def reach(judged: Sequence[Judged], runs: int) -> str:
    """What a told rival has where we have more than half of the best peer's regret."""
    if not judged:
        return ""
    text = (Path(__file__).parent / "reach.md").read_text()
    return text.format(runs=runs, more=RUNS, table=reach_table(judged)) + "\n"


def what_blind_had(
    found: Sequence[tuple[World, list[Entry]]], blind: Mapping[str, FloatArray]
) -> str:
    """What remains to be learnt where somebody knows that contexts say nothing."""
    told = []
    for world, entries in found:
        if world.key in blind:
            best = best_peer(entries).shares
            own = blind[world.key]
            part = own[: len(best)].mean() / best.mean()
            told.append(f"{own.mean():.3f} with {world.payoff}, {part:.2f} of the best peer's")
    if not told:
        return ""
    return (
        " Where contexts are useless there is somebody to compare with who knows it: "
        f"SurvivalThompson, which does not look at them, has {', and '.join(told)} in the runs "
        "that both have."
    )


def times(found: Sequence[tuple[World, list[Entry]]]) -> str:
    """What a step takes, of the libraries that were measured."""
    told = []
    for name in LIBRARIES:
        micros = [e.micros for _, entries in found for e in entries if e.library == name]
        if micros:
            told.append(f"{name} {np.median(micros):.0f}")
    took = f"A step takes, in microseconds of processor time: {', '.join(told)}"
    return f"{took}; the loop around it is included."


def counts(found: Sequence[tuple[World, list[Entry]]], runs: int) -> str:
    """Which peers have fewer runs than asked for, and where one was not measured at all."""
    told = []
    for name in LIBRARIES:
        sizes = [len(e.shares) for _, entries in found for e in entries if e.library == name]
        absent = len(found) - sum(
            sum(e.library == name for e in entries) == 2 for _, entries in found
        )
        if sizes and min(sizes) < runs:
            span = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
            told.append(f"{name} has {span}")
        if absent:
            told.append(f"{name} lacks one setting or both in {absent} of {len(found)} worlds")
    return f" So far fewer: {', '.join(told)}; verdicts are as provisional." if told else ""


def spaced(number: int) -> str:
    """A number with a space between thousands."""
    return f"{number:,}".replace(",", " ")


def row(world: World, entries: Sequence[Entry]) -> list[str]:
    """What everybody has in one world: as documented, then tuned."""
    own, *others = entries
    best = best_peer(entries)
    cells = [
        " / ".join(interval(entry.shares) for entry in others if entry.library == name)
        for name in LIBRARIES
    ]
    each = own.shares[: len(best.shares)] / best.shares
    told = f"{ratio(entries):.2f} ({min(each):.2f} to {max(each):.2f})"
    kind = "tuned" if best.tuned else "as documented"
    title = f"{world.title}, {world.payoff}"
    return [title, interval(own.shares), *cells, f"{best.library}, {kind}", told]


def tuned_settings(entries: Sequence[Entry]) -> list[str]:
    """The tuned setting of each library."""
    chosen = {entry.library: entry.setting for entry in entries if entry.tuned}
    return [f"`{chosen[name]}`" if name in chosen else "" for name in LIBRARIES]


def interval(shares: FloatArray) -> str:
    """Mean and half of the 95 % interval, which one run does not have."""
    if len(shares) < 2:
        return f"{shares.mean():.3f} (one run)"
    half = float(student(len(shares) - 1)) * shares.std(ddof=1) / len(shares) ** 0.5
    return f"{shares.mean():.3f} ± {half:.3f}"


def verdict(found: Sequence[tuple[World, list[Entry]]]) -> str:
    """In how many worlds the ratio is at most one half, and where it is not."""
    above = [
        f"{world.title}, {world.payoff} ({ratio(entries):.2f})"
        for world, entries in found
        if ratio(entries) > 0.5
    ]
    met = f"{len(found) - len(above)} of {len(found)} worlds"
    text = f"SurvivalRegression has at most half of the best peer's regret in {met}"
    return text + (f"; not in {'; '.join(above)}." if above else ".")
