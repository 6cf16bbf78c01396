"""How much of the regret is the price of waiting: a rival that is told what nobody can know.

The oracle plays the worlds with Weibull delays and log-linear scales. It knows that they are such,
the shape of every arm, and the laws from which levels and effects are drawn:

    log delay = level + beta . x + W / shape,     level ~ N(log(D / 10), 1/4),   beta ~ N(0, I / p)

and has to find levels and effects only. It fits them to all plays by their joint likelihood, those
still out included, over and over again, and plays what is best by the fit, or by a draw from the
normal law around it with the share `share` of its variance.
"""

import sys
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gamma, gammainc

import tarry
from benchmarks.contexts.worlds import ARMS, FEATURES, FIRST_RUN, FIRST_SEED, World, simulated
from benchmarks.kept import code_at, code_of, keep, kept
from tarry.arrays import FloatArray
from tarry.problems.regressions import Points

RUNS = 3
SHARES = (0.0, 0.25)
PARTS = (500, 2000, 8000, 50_000)  # regret up to these steps; D is 2000
LOGS = np.linspace(-6.0, 16.0, 2201)  # of scales


class Told(NamedTuple):
    """What the oracle knows of a world before it plays."""

    most: int
    reward: bool
    shapes: FloatArray  # by arm
    rows: FloatArray  # (contexts, 1 + features)
    means: FloatArray  # (arms, logs of scales): mean payoff

    @classmethod
    def of(cls, world: World, problem: Any, number: int) -> "Told":
        """Shapes as `log_linear` draws them, and the means that follow."""
        most = problem.max_delay
        drawn = Points.checked("log_linear", 0, ARMS, FEATURES, most, FIRST_SEED + number, 1000)
        shapes = 0.7 + 0.8 * drawn.uniform(3, ARMS, 1).ravel()
        scale, k = np.exp(LOGS)[None, :], shapes[:, None]
        end = (most / scale) ** k
        below = scale * gamma(1 + 1 / k) * gammainc(1 + 1 / k, end)
        rows = np.column_stack([np.ones(len(problem.features)), problem.features])
        return cls(most, world.payoff == "reward", shapes, rows, below / most + np.exp(-end))


class Fit:
    """Level and effects of one arm: the most likely ones, and the normal law around them."""

    def __init__(self, most: int, shape: float) -> None:
        self.shape = shape
        self.centre = np.array([np.log(most / 10), *np.zeros(FEATURES)])
        self.weight = np.diag([4.0, *np.full(FEATURES, float(FEATURES))])
        self.found, self.spread = self.centre.copy(), np.linalg.inv(self.weight)

    def learn(self, rows: FloatArray, times: FloatArray, back: FloatArray) -> None:
        """Newton's method on all plays: `times` until they were back, or until now."""
        logs, k = np.log(np.maximum(times, 0.5)), self.shape
        for _ in range(8):
            rates = np.exp(np.clip(k * (logs - rows @ self.found), -30.0, 6.0))
            slope = k * ((rates - back) @ rows) - self.weight @ (self.found - self.centre)
            bend = (rows * (k * k * rates)[:, None]).T @ rows + self.weight
            step = np.linalg.solve(bend, slope)
            self.found += np.clip(step, -1.0, 1.0)
            if np.abs(step).max() < 1e-4:
                break
        self.spread = np.linalg.inv(bend)


def play_told(world: World, number: int, share: float) -> FloatArray:
    """Regret of the oracle over that of uniform play at the horizon, up to each of `PARTS`."""
    problem, seed = world.problem(number), FIRST_SEED + number
    told = Told.of(world, problem, number)
    steps = np.arange(1, world.horizon + 1)
    kinds = problem.contexts(seed, steps)
    delays = problem.delays(seed, steps[:, None], np.arange(ARMS)[None, :])
    fits = [Fit(told.most, shape) for shape in told.shapes]
    rng, arms, again = np.random.default_rng(seed), np.zeros(world.horizon, int), 10
    for t in steps.tolist():
        if t == again:
            again += 10 if t < 2000 else 100 if t < 6000 else 1000
            for arm, fit in enumerate(fits):
                mine = np.flatnonzero(arms[: t - 1] == arm)
                age, delay = np.minimum(t - 1 - mine, told.most), delays[mine, arm]
                back = (delay < age) & (delay < told.most)
                fit.learn(told.rows[kinds[mine]], np.where(back, delay + 0.5, age), back)
        x = told.rows[kinds[t - 1]]
        values = []
        for arm, fit in enumerate(fits):
            noise = np.sqrt(share * (x @ fit.spread @ x)) * rng.normal() if share else 0.0
            values.append(np.interp(x @ fit.found + noise, LOGS, told.means[arm]))
        arms[t - 1] = np.argmax(values) if told.reward else np.argmin(values)
    return parts(np.cumsum(problem.context_gaps(world.payoff)[kinds, arms]), world, problem)


def parts(regret: FloatArray, world: World, problem: Any) -> FloatArray:
    """Regret up to each of `PARTS`, over that of uniform play at the horizon."""
    uniform = world.horizon * problem.fixed_gaps(world.payoff).mean()
    return np.array([regret[min(part, world.horizon) - 1] / uniform for part in PARTS])


def play_ours(world: World, policy: Any, number: int) -> FloatArray:
    """The same of a policy."""
    problem = world.problem(number)
    run = tarry.play(
        policy, problem, payoff=world.payoff, horizon=world.horizon, seed=FIRST_SEED + number
    )
    return parts(run.regret, world, problem)


def measure_waiting(
    folder: Path, runs: int = RUNS, most: int | None = None, *, kept_only: bool = False
) -> dict[tuple[str, str], FloatArray]:
    """By payoff and player: (runs, parts), kept in the folder; only who has all runs."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[tuple[str, str], FloatArray] = {}
    policy = tarry.SurvivalRegression()
    here = sha256(code_at(Path(__file__))).hexdigest()[:16]
    for world in list(simulated())[:2]:
        small = world._replace(horizon=min(most or world.horizon, world.horizon))
        players: dict[str, tuple[str, Any]] = {"SurvivalRegression": (code_of(policy), policy)}
        players |= {f"oracle, share {share:g}": (here, share) for share in SHARES}
        for name, (code, player) in players.items():
            path = folder / f"waiting {world.key} {name}.npz"
            shares = list(kept(path, code).get("shares", ()))
            for number in () if kept_only else range(len(shares), runs):
                print(f"\rwaiting: {world.key}, {name}, {number + 1}  ", end="", file=sys.stderr)
                if isinstance(player, float):
                    shares.append(play_told(small, FIRST_RUN + number, player))
                else:
                    shares.append(play_ours(small, player, FIRST_RUN + number))
                keep(path, code, shares=np.array(shares))
            if len(shares) >= runs:
                found[world.payoff, name] = np.array(shares[:runs])
    return found
