"""`make bench-peers`: install the peers, give them the same work, and say what each one can do."""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import tarry
from benchmarks.contexts.runs import shares_of
from benchmarks.contexts.worlds import KEPT, USELESS, simulated
from benchmarks.peers.contextual import compare, gather
from benchmarks.peers.contextual_page import LIBRARIES, contexts_page
from benchmarks.peers.driver import World
from benchmarks.peers.installs import PEERS, ROOT, TARRY, Installed, Peer, install
from benchmarks.peers.page import page
from benchmarks.peers.reach import judge
from benchmarks.peers.report import Measured, Sheet, regret_sheet
from tarry.files import write_atomically

FAMILIES = ("bernoulli", "truncated_normal")
PAYOFFS = ("cost", "reward")
PATIENCE = 1800  # seconds for one policy


def main() -> int:
    """Run what is asked for; the exit status is 0 if tarry itself could be measured."""
    parser = argparse.ArgumentParser("python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--horizon", type=int, default=20_000, help="steps of a run")
    parser.add_argument("--arms", type=int, default=30, help="K")
    parser.add_argument("--max-delay", type=int, default=500, help="D")
    parser.add_argument("--runs", type=int, default=3, help="runs per world")
    parser.add_argument("--fresh", action="store_true", help="install the peers anew")
    parser.add_argument("--write", action="store_true", help="write the pages of the docs")
    parser.add_argument("--only", choices=("plain", "contexts"), help="one part")
    parser.add_argument("--context-runs", type=int, default=10, help="runs with contexts")
    parser.add_argument("--kept", action="store_true", help="contexts: play nothing new")
    parser.add_argument(
        "--gather", nargs="+", choices=LIBRARIES, help="contexts: play these peers, print nothing"
    )
    given = parser.parse_args()
    console = Console(width=max(140, Console().width))
    done = 0
    if given.gather:
        chosen = [peer for name in given.gather for peer in PEERS if peer.name == name]
        for peer in chosen:
            install(peer, fresh=given.fresh)
        gather(list(simulated()), chosen, ask, ROOT / "results", given.context_runs)
        return 0
    if given.only != "contexts":
        done = plain(console, given)
    if given.only != "plain":
        done = with_contexts(console, given) or done
    return done


def with_contexts(console: Console, given: argparse.Namespace) -> int:
    """Worlds with contexts, for the peers that can look at them; an hour, and it can go on.

    0 if there is something to show.
    """
    for peer in PEERS:
        if peer.name in LIBRARIES:
            console.print(f"Installing {peer.name}.", highlight=False)
            install(peer, fresh=given.fresh)
    peers = [peer for peer in PEERS if peer.name in LIBRARIES]
    tried = {peer.name: len(ask(peer, {"do": "settings"})["tried"]) for peer in peers}
    runs: int = given.context_runs
    kept_only: bool = given.kept
    found = list(compare(simulated(), peers, ask, ROOT / "results", runs, kept_only=kept_only))
    if not found:
        console.print(f"No world has {runs} runs of ours yet; leave --kept out, or ask for fewer.")
        return 1
    folder, name = ROOT / "results" / KEPT, "SurvivalThompson"
    blind = {
        world.key: shares_of(world, name, world.problem, folder, runs, first=0, kept_only=kept_only)
        for world, _ in found
        if world.title == USELESS
    }
    whole = {key: shares for key, shares in blind.items() if len(shares) == runs}
    judged = judge(found, peers, ask, ROOT / "results", runs, kept_only=kept_only)
    text = contexts_page(found, runs, tried, whole, judged)
    if given.write:
        write_atomically(ROOT / "docs" / "peers-contexts.md", text.encode())
        console.print("docs/peers-contexts.md is new.", highlight=False)
    else:
        console.print(text, highlight=False, markup=False)
    return 0


def plain(console: Console, given: argparse.Namespace) -> int:
    """Worlds without contexts; 0 if tarry itself could be measured."""
    attempts: dict[Peer, Installed] = {}
    for peer in (TARRY, *PEERS):
        console.print(f"Installing {peer.name}.", highlight=False)
        attempts[peer] = install(peer, fresh=given.fresh)
    working = {peer: done for peer, done in attempts.items() if done.works}
    with tempfile.TemporaryDirectory() as folder:
        worlds = make_worlds(Path(folder), given)
        measured = measure(console, working, worlds, given.horizon)
    regret = regret_sheet(measured, list(worlds))
    features = feature_sheet(attempts, measured)
    for sheet in (regret, features):
        sheet.show(console)
    notes = [f"{peer.name}: {done.note}." for peer, done in attempts.items() if done.note]
    for note in notes:
        console.print(note, highlight=False, markup=False)
    if given.write:
        setting = {
            "arms": given.arms,
            "horizon": given.horizon,
            "max_delay": given.max_delay,
            "runs": given.runs,
            "python": platform.python_version(),
        }
        (ROOT / "docs" / "peers.md").write_text(page(regret, features, notes, setting))
        console.print("docs/peers.md is new.", highlight=False)
    return 0 if TARRY in working else 1


def make_worlds(folder: Path, given: argparse.Namespace) -> dict[str, list[str]]:
    """Files with the delays that all libraries meet, by world; each run has other arms."""
    worlds: dict[str, list[str]] = {}
    max_delay: int = given.max_delay
    steps, arms = np.arange(1, given.horizon + 1)[:, None], np.arange(given.arms)[None, :]
    for family in FAMILIES:
        for run in range(given.runs):
            problem = getattr(tarry.problems, family)(
                arms=given.arms, max_delay=max_delay, seed=run
            )
            table = problem.delays(run, steps, arms).astype(np.int32)
            recipe = {"family": family, "seed": run, "draws": run}
            for payoff in PAYOFFS:
                path = folder / f"{family}-{payoff}-{run}.npz"
                gaps = problem.gaps(payoff)
                World(table, gaps, max_delay, payoff == "reward", recipe).save(str(path))
                worlds.setdefault(f"{family.replace('_', ' ')}, {payoff}", []).append(str(path))
    return worlds


def measure(
    console: Console, working: dict[Peer, Installed], worlds: dict[str, list[str]], horizon: int
) -> list[Measured]:
    """Every policy of every library in every world, one after the other."""
    measured = []
    for peer in working:
        for policy in ask(peer, {"do": "list"}):
            one = Measured(peer.name, policy, {})
            try:
                for label, paths in worlds.items():
                    outcomes = ask(peer, {"do": "run", "policy": policy, "worlds": paths})
                    one.shares[label] = [
                        outcome["regret"] / (horizon * World.load(path).gaps.mean())
                        for outcome, path in zip(outcomes, paths, strict=True)
                    ]
                    one.speeds += [outcome["steps"] / outcome["seconds"] for outcome in outcomes]
            except RuntimeError as error:
                one.trouble = str(error)
            measured.append(one)
            said = one.trouble or f"{one.speed:,.0f} steps/s"
            console.print(f"{peer.name}, {policy}: {said}", highlight=False, markup=False)
    return measured


def feature_sheet(attempts: dict[Peer, Installed], measured: list[Measured]) -> Sheet:
    """One row per question, one column per library."""
    sheet = Sheet("What each really does", ["", *[peer.name for peer in attempts]])
    seen = {
        peer: ask(peer, {"do": "probe", "module": peer.module}) if done.works else {}
        for peer, done in attempts.items()
    }
    for label in seen[TARRY]:
        sheet.rows.append([label, *[seen[peer].get(label, "not run") for peer in attempts]])
    fastest = {
        peer: max((one.speed for one in measured if one.library == peer.name), default=0.0)
        for peer in attempts
    }
    done = attempts.values()
    sheet.rows += [
        ["Fastest policy, steps/s", *[f"{speed:,.0f}" for speed in fastest.values()]],
        ["Works as pip installs it", *["no" if one.note else "yes" for one in done]],
        ["Version", *[one.version or "none" for one in done]],
        ["Releases that pip offers", *[str(one.releases or "not asked") for one in done]],
        ["Packages installed with it", *[str(one.packages - 1) for one in done]],
    ]
    return sheet


def ask(peer: Peer, task: dict[str, Any]) -> Any:
    """Let the environment of a peer do something; a RuntimeError says in one line what failed."""
    quiet = {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}
    quiet["TARRY_COMPILE"] = "now"  # an agent is measured once its machine code is loaded
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "outcome.json"
        command = [peer.python, "-m", "benchmarks.peers.worker", peer.adapter, json.dumps(task)]
        try:
            done = subprocess.run(
                [*command, str(out)],
                env=os.environ | quiet,
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=False,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"not finished after {PATIENCE} seconds") from None
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        return json.loads(out.read_text())


if __name__ == "__main__":
    sys.exit(main())
