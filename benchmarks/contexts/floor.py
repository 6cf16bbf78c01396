"""A floor for every policy, on the families from which the worlds of the measurement are drawn.

A player is given more than any policy has: the family, the laws that its parameters are drawn from,
and in each step what all arms have shown by then, not only the one played. What it plays does not
change what it learns, so nothing is better than the arm with the best mean payoff given all that.
Its expected regret in step t, at a request x,

    E[max_k mu_k(x)] - E[max_k E[mu_k(x) | seen before t]]        (cost: the same of -mu_k)

is at most that of any policy, and never grows with t, since ever more is seen: between two steps
that are looked at it is at least that of the later one, and after the last one at least 0.

The true parameters are themselves a draw from their law given what was seen. A Markov chain that
keeps this law and begins at them is in it from its first state on, however slowly it mixes. Over
the last states of such chains, mean_s max_k mu_k^s - max_k mean_s mu_k^s is in expectation at most
the regret above, because a maximum is convex (Jensen): chains that are few or slow lower the floor.
Payoffs are divided by the regret of uniform play in the world that a state describes, so that it is
a floor for the mean of regret over that of uniform play.
"""

import sys
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from benchmarks.contexts.worlds import ARMS, FIRST_RUN, FIRST_SEED, World, simulated
from benchmarks.kept import code_at, keep, kept
from tarry.arrays import FloatArray, IntArray
from tarry.problems.regressions import Points, grid

RUNS = 3
TIMES = (4, 6, 9, 13, 20, 30, 45, 67, 100, 150, 225, 340, 500, 750, 1125, 1700, 2500)
CHAINS, STATES = 48, 12
REQUESTS = 60  # at which regret is looked at
FREEDOM = 8.0  # of the t law that states are proposed from
TURNS = (1.0, 0.5, 0.2)  # how far from a state the other proposals are
WIDTH = 1e-3  # of differences

Survival = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


class Curves(NamedTuple):
    """Laws of delays by states: rows of numbers that are standard normal at first.

    survival(states, rows, cuts) is log P(delay > e^cut), (states, plays), with a row of features
    and a cut for each play.
    """

    values: IntArray  # the delays there are
    survival: Survival
    plain: int  # numbers of a state before those of a direction, whose length says nothing

    @property
    def cuts(self) -> FloatArray:
        """Logarithms of what lies between two delays."""
        middle: FloatArray = np.log((self.values[1:] + self.values[:-1]) / 2.0)
        return middle

    def means(self, states: FloatArray, rows: FloatArray) -> FloatArray:
        """Mean payoffs, (states, rows)."""
        total = np.zeros((len(states), len(rows)))
        for cut, step in zip(self.cuts, np.diff(self.values) / self.values[-1], strict=True):
            total += step * np.exp(self.survival(states, rows, np.full(len(rows), cut)))
        return total


class Seen(NamedTuple):
    """What is known of some plays: each lasted beyond `low`, and the first ones ended by `high`."""

    rows: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def before(
        cls, t: int, curves: Curves, steps: IntArray, delays: IntArray, rows: FloatArray
    ) -> "Seen":
        """What plays in these steps, with these delays, have shown before step t."""
        age = np.minimum(t - steps, curves.values[-1])
        back = delays < age
        place = np.searchsorted(curves.values, np.where(back, delays, age))
        order = np.argsort(~back, kind="stable")
        low = np.concatenate([[-np.inf], curves.cuts])[place]
        return cls(rows[order], low[order], curves.cuts[place[back]])

    def likelihood(self, curves: Curves, states: FloatArray) -> FloatArray:
        """Its logarithm, by state."""
        count = len(self.high)
        lasted = curves.survival(states, self.rows, self.low)
        ended = curves.survival(states, self.rows[:count], self.high) - lasted[:, :count]
        with np.errstate(divide="ignore"):
            parts = np.log(-np.expm1(np.minimum(ended, 0.0)))
        found: FloatArray = lasted.sum(axis=1) + parts.sum(axis=1)
        return np.where(np.isnan(found), -np.inf, found)


def along(states: FloatArray, rows: FloatArray) -> FloatArray:
    """Tilts x . beta, with beta the direction of a state, (states, plays)."""
    found: FloatArray = (states / np.linalg.norm(states, axis=1, keepdims=True)) @ rows.T
    return found


def weibull(most: int, states: FloatArray, rows: FloatArray, cuts: FloatArray) -> FloatArray:
    """`log_linear`."""
    shift = along(states[:, 2:], rows) if states.shape[1] > 2 else rows[:, 0]
    scales = np.log(most / 10) + 0.5 * states[:, :1] + shift
    found: FloatArray = -np.exp((0.7 + 0.8 * ndtr(states[:, 1:2])) * (cuts - scales))
    return found


def log_normal(most: int, states: FloatArray, rows: FloatArray, cuts: FloatArray) -> FloatArray:
    """`log_linear` with that shape."""
    scales = np.log(most / 10) + 0.5 * states[:, :1] + along(states[:, 2:], rows)
    found: FloatArray = log_ndtr((scales - cuts) / (0.4 + 0.6 * ndtr(states[:, 1:2])))
    return found


def no_answer(most: int, states: FloatArray, rows: FloatArray, cuts: FloatArray) -> FloatArray:
    """`no_answer`."""
    lost = 1 / (1 + np.exp(1 + 0.5 * states[:, :1] - 1.5 * along(states[:, 2:], rows)))
    medians = np.log(most / 50) + 0.5 * states[:, 1:2]
    found: FloatArray = np.log(lost + (1 - lost) * ndtr((medians - cuts) / 0.5))
    return found


def linear(most: int, states: FloatArray, rows: FloatArray, cuts: FloatArray) -> FloatArray:
    """`linear`: what does not end at once lasts D."""
    return np.where(np.isneginf(cuts), 0.0, np.log(ndtr(states) @ rows.T))


class Part(NamedTuple):
    """Requests that have curves of their own, one per arm."""

    curves: Curves
    truth: FloatArray  # (arms, numbers): the states that made the world
    steps: IntArray  # in which such requests come
    delays: IntArray  # (steps, arms)
    rows: FloatArray  # (steps, arms, numbers): what is known of a request
    asked: FloatArray  # (requests, arms, numbers): at which regret is looked at
    weight: float  # of each of these


def parts_of(world: World, number: int, horizon: int) -> list[Part]:
    """The world of a run. In *five segments* all but level and shape of an arm is told."""
    problem = world.problem(number)
    seed, most, key = FIRST_SEED + number, problem.max_delay, world.key.split()[0]
    steps = np.arange(1, horizon + 1)
    kinds = problem.contexts(seed, steps)
    delays = problem.delays(seed, steps[:, None], np.arange(ARMS)[None, :])
    if key == "segments":
        parts = []
        for i, weight in enumerate(problem.weights.tolist()):
            draw = Points.checked("", 0, ARMS, 1, most, FIRST_SEED + 10 * number + i, 1)
            told, mine = draw.tilts(draw.requests())[:, :, None], kinds == i
            rows = np.repeat(told, mine.sum(), axis=0)
            curves = Curves(grid(most), partial(weibull, most), 2)
            some = steps[mine], delays[mine]
            parts.append(Part(curves, levels_and_shapes(draw), *some, rows, told, weight))
        return parts
    table = problem.features
    size = table.shape[1]
    draw = Points.checked(
        "", {"linear": 1, "no": 3}.get(key, 0), ARMS, size, most, seed, len(table)
    )
    if key == "linear":
        curves = Curves(np.array([0, most]), partial(linear, most), size)
        truth = ndtri(draw.uniform(1, ARMS, size))
    elif key == "useless":
        curves, truth = Curves(grid(most), partial(weibull, most), 2), levels_and_shapes(draw)
        table = np.zeros((1, 1))
        kinds = np.zeros_like(kinds)
    else:
        form = {"weibull": weibull, "log-normal": log_normal, "no": no_answer}[key]
        curves = Curves(grid(most), partial(form, most), 2)
        truth = levels_and_shapes(draw)
        if key == "no":
            truth[:, 1] = draw.normal(3, ARMS)
        truth = np.column_stack([truth, draw.normal(1, ARMS, size)])
    every = np.repeat(table[:, None], ARMS, axis=1)
    asked = every[:REQUESTS]
    return [Part(curves, truth, steps, delays, every[kinds], asked, 1 / len(asked))]


def levels_and_shapes(draw: Points) -> FloatArray:
    """As `log_linear` draws them, by arm."""
    return np.column_stack([draw.normal(2, ARMS), ndtri(draw.uniform(3, ARMS))])


def nearest(seen: Seen, curves: Curves, at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Centre and root of a normal law near that of the states given what was seen.

    By Newton's method with differences, from `at` on. It need not be exact, and does not look at
    the truth. The density of a direction is highest at length 0, where it has none, so lengths are
    held near their usual one here.
    """
    size, usual = len(at), np.sqrt(len(at) - curves.plain)
    pairs = np.array([(i, j) for i in range(size) for j in range(i)], int).reshape(-1, 2)
    single = WIDTH * np.eye(size)
    moves = [np.zeros((1, size)), single, -single, single[pairs[:, 0]] + single[pairs[:, 1]]]

    def density(states: FloatArray) -> FloatArray:
        lengths = np.linalg.norm(states[:, curves.plain :], axis=1) - usual
        prior = 0.5 * (states[:, : curves.plain] ** 2).sum(axis=1) + lengths**2
        return seen.likelihood(curves, states) - prior

    for _ in range(30):
        value = density(at + np.concatenate(moves))
        up, down, both = np.split(value[1:], [size, 2 * size])
        bend = np.diag(up + down - 2 * value[0])
        i, j = pairs.T
        bend[i, j] = bend[j, i] = both - up[i] - up[j] + value[0]
        steep, axes = np.linalg.eigh(-bend / WIDTH**2)
        steep = np.maximum(steep, 0.5)
        step = axes @ ((axes.T @ (up - down)) / (2 * WIDTH) / steep)
        far = max(float(np.abs(step).max()), 1e-9)
        tried = at + min(1.0, 1.0 / far) * step * 0.5 ** np.arange(8)[:, None]
        at = tried[np.argmax(density(tried))]
        if far < 0.05:
            break
    return at, axes / np.sqrt(steep)


def last_states(
    seen: Seen, curves: Curves, truth: FloatArray, centre: FloatArray, root: FloatArray, rng: Any
) -> FloatArray:
    """The last states of Metropolis chains that begin at the truth.

    Proposals come from a t law around `centre`, and in turn from nearby.
    """
    back = np.linalg.inv(root)

    def excess(states: FloatArray) -> FloatArray:
        """Of the logarithm of the prior over that of the t law."""
        far = (((states - centre) @ back.T) ** 2).sum(axis=1)
        prior = -0.5 * (states**2).sum(axis=1)
        found: FloatArray = prior + 0.5 * (FREEDOM + len(truth)) * np.log1p(far / FREEDOM)
        return found

    states = np.repeat(truth[None], CHAINS, axis=0)
    held = seen.likelihood(curves, states)
    for number in range(STATES):
        wide = np.sqrt(rng.chisquare(FREEDOM, CHAINS) / FREEDOM)[:, None]
        drawn = centre + (rng.normal(size=states.shape) @ root.T) / wide
        likely = seen.likelihood(curves, drawn)
        odds = likely + excess(drawn) - held - excess(states)
        go = np.log(rng.random(CHAINS)) < odds
        states, held = np.where(go[:, None], drawn, states), np.where(go, likely, held)
        turn = TURNS[number % len(TURNS)]
        drawn = np.sqrt(1 - turn**2) * states + turn * rng.normal(size=states.shape)
        likely = seen.likelihood(curves, drawn)
        go = np.log(rng.random(CHAINS)) < likely - held
        states, held = np.where(go[:, None], drawn, states), np.where(go, likely, held)
    return states


def floors(world: World, number: int, times: tuple[int, ...]) -> FloatArray:
    """In one world, at least: regret in each of these steps over that of uniform play.

    (times, 2), cost and reward.
    """
    parts, rng = parts_of(world, number, times[-1]), np.random.default_rng(FIRST_SEED + number)
    centres = [np.repeat(np.ones(part.truth.shape[1])[None], ARMS, axis=0) for part in parts]
    weights = np.concatenate([np.full(len(part.asked), part.weight) for part in parts])
    found = []
    for t in times:
        means = []
        for part, centre in zip(parts, centres, strict=True):
            some = slice(int(np.searchsorted(part.steps, t)))
            by_arm = []
            for arm, truth in enumerate(part.truth):
                plays = part.steps[some], part.delays[some, arm], part.rows[some, arm]
                seen = Seen.before(t, part.curves, *plays)
                centre[arm], root = nearest(seen, part.curves, centre[arm])
                states = last_states(seen, part.curves, truth, centre[arm], root, rng)
                by_arm.append(part.curves.means(states, part.asked[:, arm]))
            means.append(np.stack(by_arm, axis=2))
        every = np.concatenate(means, axis=1)
        found.append([lost(paid, weights) for paid in (-every, every)])
    return np.array(found)


def lost(paid: FloatArray, weights: FloatArray) -> float:
    """By Jensen, from payoffs (states, requests, arms): what the player loses, at least."""
    uniform = (paid.max(axis=2) - paid.mean(axis=2)) @ weights
    share = paid / uniform[:, None, None]
    return float((share.max(axis=2).mean(axis=0) - share.mean(axis=0).max(axis=1)) @ weights)


def measure_floors(
    folder: Path, runs: int = RUNS, times: tuple[int, ...] = TIMES, *, kept_only: bool = False
) -> dict[str, FloatArray]:
    """By title of the world: (runs, 2) of the floors for cost and reward, kept in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    here = sha256(code_at(Path(__file__))).hexdigest()[:16]
    found = {}
    for world in list(simulated())[::2]:
        path = folder / f"floor {world.key}.npz"
        shares = list(kept(path, here).get("shares", ()))
        for number in () if kept_only else range(len(shares), runs):
            print(f"\rfloor: {world.title}, {number + 1}    ", end="", file=sys.stderr)
            each = floors(world, FIRST_RUN + number, times)
            shares.append(np.diff(times, prepend=1) @ each / world.horizon)
            keep(path, here, shares=np.array(shares))
        if len(shares) >= runs:
            found[world.title] = np.array(shares[:runs])
    return found
