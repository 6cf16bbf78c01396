"""Is one half within reach? Judged by runs that played no part in any choice.

Where SurvivalRegression has more than half of the best peer's regret, the setting of that peer and
the form of the told rival (`benchmarks.contexts.oracle`) are chosen by the runs of the table, and
compared in others.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.contexts.oracle import FORMS, OURS, told, told_runs, told_worlds
from benchmarks.contexts.waiting_page import ratio_of_means
from benchmarks.contexts.worlds import KEPT, World
from benchmarks.peers.contextual import Ask, Entry, Player, best_peer, ratio
from benchmarks.peers.contextual import told as in_words
from benchmarks.peers.installs import Peer
from tarry.arrays import FloatArray
from tarry.tables import markdown_table

RUNS = 20  # after those of the table
LAWS_MATTER = ("weibull", "log-normal")  # where the rival may be told less than all
HEADS = ("world", "best peer", "SurvivalRegression", "told all", "told the family only")


class Judged(NamedTuple):
    """Regret over that of uniform play in the same runs, by player."""

    world: World
    peer: str  # the best one, with its setting
    shares: FloatArray  # of the peer
    others: Mapping[str, FloatArray]  # SurvivalRegression, and the best forms of the told rival


def judge(
    found: Sequence[tuple[World, list[Entry]]],
    peers: Sequence[Peer],
    ask: Ask,
    results: Path,
    runs: int,
    *,
    kept_only: bool = False,
) -> list[Judged]:
    """The worlds in which the ratio is above one half, in `RUNS` runs after the first `runs`."""
    return [
        one
        for world, entries in found
        if ratio(entries) > 0.5
        for one in judge_one(world, entries, peers, ask, results, runs, kept_only=kept_only)
    ]


def judge_one(
    world: World,
    entries: list[Entry],
    peers: Sequence[Peer],
    ask: Ask,
    results: Path,
    runs: int,
    *,
    kept_only: bool,
) -> list[Judged]:
    """One world; nothing if not everybody has played."""
    best = best_peer(entries)
    peer = next(peer for peer in peers if peer.name == best.library)
    settings: dict[str, Any] = ask(peer, {"do": "settings"})
    listed = [settings["documented"], *settings["tried"]]
    setting = next(each for each in listed if in_words(each) == best.setting)
    later, folder = range(runs, runs + RUNS), results / KEPT
    player = Player(peer, ask, world, results / f"peers-{KEPT}", kept_only)
    shares, _ = player.play(setting, later, world.horizon)
    names = [OURS]
    if world.key in {each.key for each in told_worlds()}:
        names.append(best_form(folder, world, runs, laws=True, kept_only=kept_only))
    if world.key.startswith(LAWS_MATTER):
        names.append(best_form(folder, world, runs, laws=False, kept_only=kept_only))
    others = {
        name: told_runs(folder, world, name, later, kept_only=kept_only) for name in names if name
    }
    if len(others) < len(names) or min(map(len, (shares, *others.values()))) < RUNS:
        return []
    finals = {name: parts[:, -1] for name, parts in others.items()}
    return [Judged(world, f"{best.library}, `{best.setting}`", shares, finals)]


def best_form(folder: Path, world: World, runs: int, *, laws: bool, kept_only: bool) -> str:
    """The form of the told rival with the least regret in the first runs, if all were played."""
    means = {}
    for form in FORMS:
        name = told(form, laws=laws)
        parts = told_runs(folder, world, name, range(runs), kept_only=kept_only)
        if len(parts) < runs:
            return ""
        means[name] = float(parts[:, -1].mean())
    return min(means, key=lambda name: means[name])


def reach_table(judged: Sequence[Judged]) -> str:
    """Everybody over the best peer."""
    rows = []
    for one in judged:
        cells = []
        for name, shares in one.others.items():
            over, error = ratio_of_means(shares, one.shares)
            form = "" if name == OURS else f" ({name.split(', ')[-1]})"
            cells.append(f"{over:.2f} ± {error:.2f}{form}")
        cells += [""] * (len(HEADS) - 2 - len(cells))
        rows.append([f"{one.world.title}, {one.world.payoff}", one.peer, *cells])
    return markdown_table(list(HEADS), rows)
