"""Worlds with contexts: SurvivalRegression beside the libraries that can look at a request.

A peer has two settings: the one of its documentation, and one tuned for each world on other seeds
than those that count. What was played is kept in a folder and not played again.
"""

import hashlib
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.contexts.runs import OURS, shares_of
from benchmarks.contexts.worlds import FIRST_SEED, KEPT, World
from benchmarks.kept import code_at, keep, kept
from benchmarks.peers.contexts import Requests
from benchmarks.peers.driver import Setting
from benchmarks.peers.installs import Peer
from tarry.arrays import FloatArray

Ask = Callable[[Peer, dict[str, Any]], Any]
TUNING_RUN, TUNING_STEPS = 500, 20_000


class Entry(NamedTuple):
    """A library with a setting, in one world."""

    library: str
    tuned: bool
    setting: str
    shares: FloatArray  # regret over that of uniform play, by run
    micros: float  # processor time of a step, the driver included; 0 if not measured


def compare(
    worlds: Iterable[World],
    peers: Sequence[Peer],
    ask: Ask,
    results: Path,
    runs: int,
    *,
    kept_only: bool = False,
) -> Iterator[tuple[World, list[Entry]]]:
    """Every world with what everybody had in it, ours first; at most so many runs each.

    With `kept_only` nothing new is played: peers are there with the runs they have, and worlds
    in which ours has not all of its runs are left out.
    """
    settings = {peer: ask(peer, {"do": "settings"}) for peer in peers}
    for world in worlds:
        own = shares_of(
            world, OURS, world.problem, results / KEPT, runs, first=0, kept_only=kept_only
        )
        if len(own) < runs:
            continue
        entries = [Entry("tarry", False, OURS, own, 0.0)]
        for peer in peers:
            player = Player(peer, ask, world, results / f"peers-{KEPT}", kept_only)
            best = player.tune(settings[peer]["tried"])
            if best is None:
                continue
            for tuned, setting in ((False, settings[peer]["documented"]), (True, best)):
                shares, micros = player.play(setting, range(runs), world.horizon)
                if len(shares):
                    entries.append(Entry(peer.name, tuned, told(setting), shares, micros))
        yield world, entries


def gather(
    worlds: Sequence[World], peers: Sequence[Peer], ask: Ask, results: Path, runs: int
) -> None:
    """Play what the peers lack, and nothing of ours: a run in every world before the next one.

    So that it may be stopped at any time, and all worlds have the same number of runs, nearly.
    """
    settings = {peer: ask(peer, {"do": "settings"}) for peer in peers}
    chosen: dict[tuple[str, str], Setting | None] = {}
    for count in range(1, runs + 1):
        for peer in peers:
            for world in worlds:
                player = Player(peer, ask, world, results / f"peers-{KEPT}")
                if (peer.name, world.key) not in chosen:
                    chosen[peer.name, world.key] = player.tune(settings[peer]["tried"])
                for setting in (settings[peer]["documented"], chosen[peer.name, world.key]):
                    if setting is not None:
                        player.play(setting, range(count), world.horizon)


def best_peer(entries: Sequence[Entry]) -> Entry:
    """The peer and setting with the least regret."""
    return min(entries[1:], key=lambda entry: float(entry.shares.mean()))


def ratio(entries: Sequence[Entry]) -> float:
    """Our regret over that of the best peer, in the runs that both have."""
    best = best_peer(entries)
    return float(entries[0].shares[: len(best.shares)].mean() / best.shares.mean())


def told(setting: Setting) -> str:
    """A setting in a few words."""
    return ", ".join(
        str(value) if isinstance(value, str) else f"{name} {value:g}"
        for name, value in setting.items()
    )


class Player(NamedTuple):
    """A peer in a world."""

    peer: Peer
    ask: Ask
    world: World
    folder: Path
    kept_only: bool = False

    def tune(self, tried: Sequence[Setting]) -> Setting | None:
        """The setting with the least regret in a run that counts for nothing else, if all ran."""
        steps = min(TUNING_STEPS, self.world.horizon)
        runs = range(TUNING_RUN, TUNING_RUN + 1)
        shares = [self.play(setting, runs, steps)[0] for setting in tried]
        if not all(len(each) for each in shares):
            return None
        return tried[int(np.argmin([each.mean() for each in shares]))]

    def play(self, setting: Setting, runs: range, steps: int) -> tuple[FloatArray, float]:
        """Regret over that of uniform play, by run, and the median time of a step."""
        self.folder.mkdir(parents=True, exist_ok=True)
        part = {0: "", TUNING_RUN: "tuning "}.get(runs.start, f"from run {runs.start} ")
        name = f"{part}{self.world.key} {self.peer.name} {told(setting)}".replace("/", "-")
        path, code = self.folder / f"{name}.npz", self.code()
        known = kept(path, code)
        shares, micros = (known.get(word, np.zeros(0)).tolist() for word in ("shares", "micros"))
        for number in () if self.kept_only else runs[len(shares) :]:
            print(f"\r{name}, run {number}    ", end="", file=sys.stderr, flush=True)
            share, time_of_step = self.play_one(setting, requests_of(self.world, number, steps))
            shares.append(share)
            micros.append(time_of_step)
            keep(path, code, shares=np.array(shares), micros=np.array(micros))
        return np.array(shares[: len(runs)]), float(np.median(micros)) if micros else 0.0

    def play_one(self, setting: Setting, requests: Requests) -> tuple[float, float]:
        """One run in the environment of the peer."""
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "requests.npz")
            requests.save(path)
            done = self.ask(self.peer, {"do": "contexts", "setting": setting, "world": path})
        steps = len(requests.table)
        return done["regret"] / (steps * requests.uniform), done["seconds"] / steps * 1e6

    def code(self) -> str:
        """A fingerprint of what drives this peer."""
        here = Path(__file__).parent
        digest = hashlib.sha256()
        for name in ("contexts", "driver", self.peer.adapter):
            digest.update(code_at(here / f"{name}.py"))
        return digest.hexdigest()[:16]


def requests_of(world: World, number: int, steps: int) -> Requests:
    """The requests and delays of a run, those that the simulator meets."""
    problem, seed = world.problem(number), FIRST_SEED + number
    times, arms = np.arange(1, steps + 1), np.arange(problem.arms)
    return Requests(
        table=problem.delays(seed, times[:, None], arms[None, :]).astype(np.int32),
        kinds=problem.contexts(seed, times),
        features=problem.features,
        gaps=problem.context_gaps(world.payoff),
        uniform=float(problem.fixed_gaps(world.payoff).mean()),
        max_delay=problem.max_delay,
        reward=world.payoff == "reward",
    )
