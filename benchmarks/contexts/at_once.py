"""What it costs to learn from each outcome once: a rival that fits all plays at once.

python -m benchmarks.contexts.at_once                four worlds with rewards, 20 runs each
python -m benchmarks.contexts.at_once --runs 4       fewer

SurvivalRegression moves its weights with each outcome and never comes back to it, so that what it
keeps does not grow. The rival (`benchmarks.contexts.rival_hazards`) is told nothing either, keeps
every play, and fits nearly the same model to all of them whenever there are a few per cent more. It
plays by a draw that is moved towards the expectation (`share`), or is `directed` by what a play
tells. The runs are those after the ones of the table on docs/peers-contexts.md, in which its last
section compares: a ratio there times a ratio here is the rival over the best peer.
"""

import argparse
import sys
from functools import partial
from hashlib import sha256
from pathlib import Path

import tarry
from benchmarks.contexts.directed import directed
from benchmarks.contexts.oracle import (
    OURS,
    Play,
    Rule,
    parts,
    play_ours,
    play_rival,
    runs_kept,
    shrunk,
    told_worlds,
)
from benchmarks.contexts.rival_hazards import Hazards
from benchmarks.contexts.waiting_page import ratio_of_means
from benchmarks.contexts.worlds import KEPT, RUNS, World
from benchmarks.kept import code_at, code_of
from tarry.arrays import FloatArray
from tarry.tables import markdown_table

ROOT = Path(__file__).parents[2]
FILES = ("at_once", "directed", "oracle", "rival_hazards")
DRAWS = 32
LATER = 20  # runs, after those of the table
FORMS: dict[str, Rule] = {
    "share 0.5": lambda m, d, rng: shrunk(0.5, m, d[0], rng),
    "directed": lambda m, d, rng: directed(d, rng),
}


def pause(t: int) -> int:
    """How many steps after step t the rival looks at the plays again."""
    return max(1 if t < 60 else 5, t // 25)


def play_at_once(world: World, number: int, rule: Rule) -> FloatArray:
    """Regret over that of uniform play at the horizon, up to each of the parts."""
    problem = world.problem(number)
    regret = play_rival(world, number, Hazards(problem, DRAWS), rule, pause)
    return parts(regret, world, problem)


def players() -> dict[str, tuple[str, Play]]:
    """By name: a fingerprint of the code that decides, and how a run is played."""
    policy = tarry.SurvivalRegression()
    digest = sha256()
    for name in FILES:
        digest.update(code_at(Path(__file__).parent / f"{name}.py"))
    found: dict[str, tuple[str, Play]] = {
        OURS: (code_of(policy), partial(play_ours, policy=policy))
    }
    for name, rule in FORMS.items():
        found[name] = digest.hexdigest()[:16], partial(play_at_once, rule=rule)
    return found


def table(folder: Path, worlds: list[World], runs: range) -> str:
    """Mean and worst of all, and the rival over SurvivalRegression, with 95 % intervals."""
    rows, everybody = [], players()
    for world in worlds:
        finals = {
            name: runs_kept(folder, world, name, code, play, runs)[:, -1]
            for name, (code, play) in everybody.items()
        }
        cells = [f"{shares.mean():.4f} ({shares.max():.4f})" for shares in finals.values()]
        for name in FORMS:
            over, error = ratio_of_means(finals[name], finals[OURS])
            cells.append(f"{over:.2f} ± {error:.2f}")
        rows.append([world.title, *cells])
    return markdown_table(["world", *everybody, *(f"{name}, ratio" for name in FORMS)], rows)


def main() -> int:
    """Read the arguments, play, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=LATER, help="of each player in each world")
    given = parser.parse_args()
    if given.runs < 1:
        parser.error(f"--runs is {given.runs}; it must be at least 1.")
    worlds = [world for world in told_worlds() if world.payoff == "reward"]
    folder = ROOT / "results" / KEPT
    try:
        found = table(folder, worlds, range(RUNS, RUNS + given.runs))
    except KeyboardInterrupt:
        print(f"\nInterrupted; what was played is kept in {folder}. The same command goes on.")
        return 130
    print(f"\nRegret over that of uniform play, {given.runs} runs: mean, and the worst.\n\n{found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
