"""The policies written down a second time, slowly and literally.

Every set of the paper (M, O, F) is rebuilt from the list of plays whenever a bound is asked for,
nothing is kept between two sweeps but the list of plays, and no code of the package is used but
its random numbers. A transcription is a generator of arms: `plays` grows outside, one (step, arm,
delay) at a time.
"""

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tarry.randomness import RETURN, SELECT, Random

Plays: TypeAlias = npt.NDArray[np.int64]


@dataclass
class World:
    """What a transcription may look at: the plays of the current phase, and the sizes."""

    arms: int
    max_delay: int
    horizon: int
    reward: bool = False
    played: int = 0
    phase_start: int = 1
    restarts: list[int] = field(default_factory=list)
    sweeps: list[tuple[int, int]] = field(default_factory=list)  # last step, size

    def __post_init__(self) -> None:
        """Room for the list of plays: rows of step, arm, delay."""
        self.rows = np.zeros((self.horizon, 3), np.int64)
        self.known: dict[tuple[int, int, int], Plays] = {}  # formulas ask for the same many times

    @property
    def plays(self) -> Plays:
        """The plays so far."""
        return self.rows[: self.played]

    @property
    def t(self) -> int:
        """The next step to be played."""
        return self.played + 1

    def play(self, arm: int, delay: int) -> None:
        """Add a play."""
        self.rows[self.played] = self.t, arm, delay
        self.played += 1

    def of(self, arm: int) -> Plays:
        """The plays of `arm` in this phase: rows of step and delay."""
        asked = self.phase_start, self.played, arm
        if asked not in self.known:
            phase = self.plays[self.phase_start - 1 :]
            self.known[asked] = phase[phase[:, 1] == arm][:, [0, 2]]
        return self.known[asked]

    def seen(self, arm: int) -> Plays:
        """O."""
        plays = self.of(arm)
        return plays[plays.sum(axis=1) < self.t]

    def missing(self, arm: int) -> Plays:
        """M."""
        plays = self.of(arm)
        return plays[plays.sum(axis=1) >= self.t]

    def complete(self, arm: int) -> Plays:
        """F."""
        plays = self.of(arm)
        return plays[plays[:, 0] <= self.t - self.max_delay]

    def mu_minus(self, arm: int) -> float:
        """Each missing play counts its age."""
        total = (self.t - self.missing(arm)[:, 0]).sum() + self.seen(arm)[:, 1].sum()
        return total / (self.max_delay * len(self.of(arm)))

    def mu_plus(self, arm: int) -> float:
        """Each missing play counts D."""
        total = len(self.missing(arm)) * self.max_delay + self.seen(arm)[:, 1].sum()
        return total / (self.max_delay * len(self.of(arm)))

    def mu_complete(self, arm: int) -> float:
        """Mean over F, 0 over 1 if it is empty."""
        complete = self.complete(arm)
        return complete[:, 1].sum() / (self.max_delay * max(len(complete), 1))


Bounds = Callable[[int], tuple[float, float]]


def survivors(world: World, active: list[int], bounds: Bounds, threshold: float) -> list[int]:
    """Remove, all at once, what is worse than another arm or than the threshold."""
    both = {arm: bounds(arm) for arm in active}
    if world.reward:
        bar = max(threshold, *(low for low, _ in both.values()))
        return [arm for arm in active if not bar > both[arm][1]]
    bar = min(threshold, *(up for _, up in both.values()))
    return [arm for arm in active if not bar < both[arm][0]]


def successive(world: World, bounds: Callable[[int, int], tuple[float, float]]) -> Iterator[int]:
    """Sweeps and elimination without a threshold; `bounds` gets |S| and the arm."""
    active = list(range(world.arms))
    nothing = -math.inf if world.reward else math.inf
    while True:
        yield from active
        size = len(active)
        active = survivors(world, active, functools.partial(bounds, size), nothing)


def cse_bounds(world: World, log_term: float, size: int, arm: int) -> tuple[float, float]:
    """LCB and UCB of CSE."""
    n, m, f = len(world.of(arm)), len(world.missing(arm)), max(len(world.complete(arm)), 1)
    big_d = world.max_delay
    l1 = world.mu_minus(arm) - math.sqrt(2 * log_term / n)
    l2 = world.mu_complete(arm) - math.sqrt(2 * log_term / f)
    l3 = size / big_d * (m / 2 - 8 * log_term - 1)
    return max(l1, l2, l3), world.mu_complete(arm) + math.sqrt(2 * log_term / f)


def rse_bounds(world: World, log_term: float, arm: int) -> tuple[float, float]:
    """LCB and UCB of RSE."""
    n, f = len(world.of(arm)), max(len(world.complete(arm)), 1)
    u1 = world.mu_plus(arm) + math.sqrt(2 * log_term / n)
    u2 = world.mu_complete(arm) + math.sqrt(2 * log_term / f)
    return world.mu_complete(arm) - math.sqrt(2 * log_term / f), min(u1, u2)


def phase_bounds(world: World, log_term: float, size: int, arm: int) -> tuple[float, float]:
    """The bounds of CSE or RSE, whichever the payoff asks for."""
    if world.reward:
        return rse_bounds(world, log_term, arm)
    return cse_bounds(world, log_term, size, arm)


def phase(world: World, log_term: float, threshold: float) -> Iterator[int]:
    """One run of CSE or RSE; it ends where it fails."""
    active = list(range(world.arms))
    while active:
        yield from active
        size = len(active)
        active = survivors(
            world, active, functools.partial(phase_bounds, world, log_term, size), threshold
        )


def single_phase(world: World, threshold: float) -> Iterator[int]:
    """CSE or RSE on its own."""
    yield from phase(world, math.log(world.horizon), threshold)


def doubling(world: World) -> Iterator[int]:
    """BDSE or BHSE, literally: a failed phase is forgotten."""
    threshold = 1.0 if world.reward else 1 / world.max_delay
    log_term = math.log(world.horizon)
    while True:
        yield from phase(world, log_term, threshold)
        threshold = threshold / 2 if world.reward else threshold * 2
        remaining = world.horizon - world.played
        log_term = math.log(max(remaining, 2))
        world.phase_start = world.t
        world.restarts.append(world.t)


def kept(world: World) -> Iterator[int]:
    """BDSE or BHSE with history."""
    everyone = list(range(world.arms))
    threshold = 1.0 if world.reward else 1 / world.max_delay
    last_threshold = 1 / world.horizon if world.reward else 1.0
    log_term = math.log(world.horizon)
    active = everyone
    while True:
        yield from active
        world.sweeps.append((world.t - 1, len(active)))
        recent = [size for last, size in world.sweeps if last > world.t - world.max_delay]
        smallest = min(recent, default=len(active))

        def bounds(arm: int, size: int = smallest) -> tuple[float, float]:
            return phase_bounds(world, log_term, size, arm)

        active = survivors(world, active, bounds, threshold)
        while not active and threshold != last_threshold:
            threshold = (
                max(threshold / 2, last_threshold)
                if world.reward
                else min(threshold * 2, last_threshold)
            )
            world.restarts.append(world.t)
            active = survivors(world, everyone, bounds, threshold)
        active = active or everyone


def se(world: World) -> Iterator[int]:
    """SE on seen samples."""
    log_term = math.log(world.horizon)

    def bounds(size: int, arm: int) -> tuple[float, float]:
        seen = world.seen(arm)
        if len(seen) == 0:
            return -math.inf, math.inf
        mean = seen[:, 1].sum() / (world.max_delay * len(seen))
        radius = math.sqrt(2 * log_term / len(seen))
        return mean - radius, mean + radius

    return successive(world, bounds)


def opse(world: World, log_term: float) -> Iterator[int]:
    """OPSE."""

    def bounds(size: int, arm: int) -> tuple[float, float]:
        n = len(world.of(arm))
        radius = math.sqrt(2 * log_term / n)
        mean = world.seen(arm)[:, 1].sum() / (world.max_delay * n)
        return mean - radius, world.mu_plus(arm) + radius

    return successive(world, bounds)


def sepk(world: World) -> Iterator[int]:
    """SE-PK."""
    log_term = math.log(world.horizon)

    def bounds(size: int, arm: int) -> tuple[float, float]:
        n, m = len(world.of(arm)), len(world.missing(arm))
        window = (world.of(arm)[:, 0] > world.t - world.max_delay).sum()
        radius = math.sqrt(2 * log_term / n)
        l3 = size / world.max_delay * (m / 2 - 8 * log_term - 1)
        few = (2 * m + 8 * log_term + 1) / window if window else math.inf
        return max(world.mu_minus(arm) - radius, l3), min(world.mu_plus(arm) + radius, few)

    return successive(world, bounds)


def best_index(world: World, index: Callable[[int], float]) -> int:
    """The first arm with the largest index."""
    values = [index(arm) for arm in range(world.arms)]
    return values.index(max(values))


def delayed_ucb(world: World) -> Iterator[int]:
    """DelayedUCB."""
    sign = 1 if world.reward else -1
    while True:
        unseen = [arm for arm in range(world.arms) if len(world.seen(arm)) == 0]
        if unseen:
            yield min(unseen, key=lambda arm: len(world.of(arm)))
            continue

        def index(arm: int) -> float:
            seen = world.seen(arm)
            mean = seen[:, 1].sum() / (world.max_delay * len(seen))
            return sign * mean + math.sqrt(2 * math.log(world.t) / len(seen))

        yield best_index(world, index)


def censored_ucb(world: World, inside: int, rng: Random) -> Iterator[int]:
    """CensoredUCB."""
    sign = 1 if world.reward else -1
    yield from range(world.arms)
    while world.t <= world.max_delay:
        rng = rng.of_play(world.t, SELECT)
        yield min(int(rng.random() * world.arms), world.arms - 1)

    def index(arm: int) -> float:
        old = world.of(arm)
        old = old[old[:, 0] <= world.t - world.max_delay - 1, 1]
        if len(old) == 0:
            return math.inf
        mean = old.sum() / (world.max_delay * len(old))
        return sign * mean + math.sqrt(2 * math.log(inside) / len(old))

    while True:
        yield best_index(world, index)


def thompson(world: World, rng: Random) -> Iterator[int]:
    """DelayedThompson; an answer is turned into a coin when it is seen, the latest play first."""
    successes, failures = [0] * world.arms, [0] * world.arms
    while True:
        for s, arm, d in world.plays[::-1].tolist():
            if s + d == world.t - 1:
                rng = rng.of_play(s, RETURN)
                if rng.random() * world.max_delay < d:
                    successes[arm] += 1
                else:
                    failures[arm] += 1
        rng = rng.of_play(world.t, SELECT)
        draws = [rng.beta(1 + successes[arm], 1 + failures[arm]) for arm in range(world.arms)]
        yield draws.index(max(draws) if world.reward else min(draws))


def trajectory(
    rule: Callable[[World], Iterator[int]], table: Plays, max_delay: int, *, reward: bool
) -> tuple[list[int], list[int]]:
    """Arms played against a table of delays, and the steps at which phases failed."""
    horizon, arms = table.shape
    world = World(arms, max_delay, horizon, reward)
    for arm in rule(world):
        world.play(arm, int(table[world.t - 1, arm]))
        if world.played == horizon:
            break
    return world.plays[:, 1].tolist(), world.restarts
