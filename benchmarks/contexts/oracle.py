"""How much of the regret is the price of waiting: a rival that is told what nobody can know.

The oracle is told the family of a world, the shapes of its laws, and the laws from which all other
parameters are drawn. It has to find these parameters, and to wait for answers like everybody else.
It learns from all plays, those still out included. By m, the expected payoff of an arm for this
request given all that it has seen, and d, the payoff by a draw from the law of the parameters, it
plays the arm with the largest (cost: the smallest)

    m + sqrt(share) * (d - m)      share 0 is greedy, share 1 is Thompson sampling
    max(m, d)                      optimist: a draw counts where it is better than expected
    d one time in six, else m      rare draws, for each arm by itself (Jin et al. 2023)
"""

import sys
from collections.abc import Callable
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import tarry
from benchmarks.contexts.rival_linear import Linear
from benchmarks.contexts.rival_scales import Plays, Scales
from benchmarks.contexts.rival_segments import Segments
from benchmarks.contexts.worlds import ARMS, FIRST_RUN, FIRST_SEED, World, simulated
from benchmarks.kept import code_at, code_of, keep, kept
from tarry.arrays import FloatArray, IntArray

OURS = "SurvivalRegression"
RUNS = 3
PEER_RUNS = {"cost": 3, "reward": 10}  # on the seeds of the peers, from run 0 on
PARTS = (500, 2000, 8000, 50_000)  # regret up to these steps; D is 2000
KINDS = ("weibull", "log-normal", "segments", "linear")  # of worlds that the oracle plays
FILES = ("oracle", "rival_scales", "rival_segments", "rival_linear")

Rule = Callable[[FloatArray, FloatArray, Any], FloatArray]  # of m, d and a generator
Play = Callable[[World, int], FloatArray]
Waited = dict[tuple[str, str], FloatArray]  # by key of the world and player: (runs, parts)


def shrunk(share: float, m: FloatArray, d: FloatArray, rng: Any) -> FloatArray:
    """A draw with this share of its variance."""
    return m + np.sqrt(share) * (d - m)


def optimist(m: FloatArray, d: FloatArray, rng: Any) -> FloatArray:
    """The better of both."""
    return np.maximum(m, d)


def rare(m: FloatArray, d: FloatArray, rng: Any) -> FloatArray:
    """A draw, but seldom."""
    return np.where(rng.random(m.shape) < 1 / ARMS, d, m)


FORMS: dict[str, Rule] = {
    **{f"share {share:g}": partial(shrunk, share) for share in (0.0, 0.1, 0.25, 0.5, 1.0)},
    "optimist": optimist,
    "rare draws": rare,
}


class Rival(Protocol):
    """What the oracle knows of a world."""

    def learn(self, plays: Plays) -> None:
        """Take in all plays."""

    def payoffs(self, kinds: IntArray, rng: Any) -> tuple[FloatArray, FloatArray]:
        """Of these requests, (requests, arms): expected payoffs, and payoffs by one draw each."""


def rival_of(world: World, problem: Any, number: int, rng: Any, *, laws: bool) -> Rival:
    """The one for this world; where scales are log-linear it may be told less than all."""
    if world.key.startswith("segments"):
        return Segments(problem, number)
    if world.key.startswith("linear"):
        return Linear(problem, rng)
    return Scales(world, problem, number, laws=laws)


def pause(t: int) -> int:
    """How many steps after step t the oracle looks at the plays again."""
    return max(1, t // 100) if t < 8000 else t // 20


def play_told(world: World, number: int, rule: Rule, *, laws: bool = True) -> FloatArray:
    """Regret of the oracle over that of uniform play at the horizon, up to each of `PARTS`."""
    problem = world.problem(number)
    rng = np.random.default_rng(FIRST_SEED + number)
    rival = rival_of(world, problem, number, rng, laws=laws)
    return parts(play_rival(world, number, rival, rule, pause, rng), world, problem)


def play_rival(
    world: World,
    number: int,
    rival: Rival,
    rule: Rule,
    rest: Callable[[int], int],
    rng: Any = None,
) -> FloatArray:
    """Regret up to each step of a rival that looks at all plays, then `rest(t)` steps later."""
    problem, seed = world.problem(number), FIRST_SEED + number
    rng = np.random.default_rng(seed) if rng is None else rng
    steps = np.arange(1, world.horizon + 1)
    kinds = problem.contexts(seed, steps)
    delays = problem.delays(seed, steps[:, None], np.arange(ARMS)[None, :])
    arms, begin = np.zeros(world.horizon, int), 0
    while begin < world.horizon:
        end = min(begin + rest(begin), world.horizon)
        means, draws = rival.payoffs(kinds[begin:end], rng)
        sign = 1.0 if world.payoff == "reward" else -1.0
        arms[begin:end] = np.argmax(rule(sign * means, sign * draws, rng), axis=1)
        begin = end
        age = np.minimum(begin + 1 - steps[:begin], problem.max_delay)
        mine = delays[np.arange(begin), arms[:begin]]
        back = mine < age
        shown = np.where(back, mine, age)
        rival.learn(Plays(kinds[:begin], arms[:begin], shown, back.astype(float)))
    found: FloatArray = np.cumsum(problem.context_gaps(world.payoff)[kinds, arms])
    return found


def parts(regret: FloatArray, world: World, problem: Any) -> FloatArray:
    """Regret up to each of `PARTS`, over that of uniform play at the horizon."""
    uniform = world.horizon * problem.fixed_gaps(world.payoff).mean()
    return np.array([regret[min(part, world.horizon) - 1] / uniform for part in PARTS])


def play_ours(world: World, number: int, policy: Any) -> FloatArray:
    """The same of a policy."""
    problem = world.problem(number)
    run = tarry.play(
        policy, problem, payoff=world.payoff, horizon=world.horizon, seed=FIRST_SEED + number
    )
    return parts(run.regret, world, problem)


def told_worlds() -> list[World]:
    """The worlds that the oracle plays."""
    return [world for world in simulated() if world.key.rsplit(" ", 1)[0] in KINDS]


def measure_waiting(
    folder: Path, runs: int = RUNS, most: int | None = None, *, kept_only: bool = False
) -> Waited:
    """The first world on the seeds of the measurement, cost and reward, kept in the folder."""
    counts = dict.fromkeys(told_worlds()[:2], runs)
    return measure_told(folder, counts, FIRST_RUN, most, kept_only=kept_only)


def measure_told_beside_peers(
    folder: Path, runs: int | None = None, most: int | None = None, *, kept_only: bool = False
) -> Waited:
    """All worlds of the oracle on the seeds of the peers, kept in the folder."""
    counts = {world: runs or PEER_RUNS[world.payoff] for world in told_worlds()}
    return measure_told(folder, counts, 0, most, kept_only=kept_only)


def measure_told(
    folder: Path,
    counts: dict[World, int],
    first: int,
    most: int | None = None,
    *,
    kept_only: bool = False,
) -> Waited:
    """So many runs in each world, numbered from `first` on; only who has all of them."""
    found: Waited = {}
    for world, runs in counts.items():
        small = world._replace(horizon=min(most or world.horizon, world.horizon))
        for name in (OURS, *map(told, FORMS)):
            done = told_runs(folder, small, name, range(first, first + runs), kept_only=kept_only)
            if len(done) >= runs:
                found[world.key, name] = done
    return found


def told_runs(
    folder: Path, world: World, name: str, runs: range, *, kept_only: bool = False
) -> FloatArray:
    """What a form of the oracle, or SurvivalRegression, had in these runs: (runs, parts)."""
    code, play = entrants()[name]
    return runs_kept(folder, world, name, code, play, runs, kept_only=kept_only)


def runs_kept(
    folder: Path,
    world: World,
    name: str,
    code: str,
    play: Play,
    runs: range,
    *,
    kept_only: bool = False,
) -> FloatArray:
    """What a player had in these runs, kept in the folder: (runs, parts)."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"waiting from run {runs.start} {world.key} {name}.npz"
    done = list(kept(path, code).get("shares", ()))
    for number in () if kept_only else runs[len(done) :]:
        print(f"\r{world.key}, {name}, run {number}  ", end="", file=sys.stderr, flush=True)
        done.append(play(world, number))
        keep(path, code, shares=np.array(done))
    return np.array(done[: len(runs)])


@cache
def entrants() -> dict[str, tuple[str, Play]]:
    """By name: a fingerprint of the code that decides, and how a run is played."""
    policy = tarry.SurvivalRegression()
    digest = sha256()
    for name in FILES:
        digest.update(code_at(Path(__file__).parent / f"{name}.py"))
    here = digest.hexdigest()[:16]
    found: dict[str, tuple[str, Play]] = {
        OURS: (code_of(policy), partial(play_ours, policy=policy))
    }
    for name, rule in FORMS.items():
        found[told(name)] = here, partial(play_told, rule=rule)
        found[told(name, laws=False)] = here, partial(play_told, rule=rule, laws=False)
    return found


def told(form: str, *, laws: bool = True) -> str:
    """What the oracle of this form is called."""
    return f"oracle, {form}" if laws else f"told the family only, {form}"
