"""SurvivalThompson written down a second time, slowly and literally.

Events and passes are counted anew from the list of plays at every draw, and nothing is kept but the
latest draws. No code of the package is used except its stream of random numbers.
"""

from collections.abc import Iterator
from typing import TypeAlias

from tarry.randomness import SELECT, Random
from tests.policies.literal import World

Bin: TypeAlias = tuple[float, float, float, float]  # events, passes, sum of payoffs, of squares


def counts(world: World, arm: int, edges: list[int]) -> list[Bin]:
    """What the plays of an arm say about each bin, at step t."""
    plays = [(s, d) for s, a, d in world.plays.tolist() if a == arm]
    bins = []
    low = 0
    for edge in edges:
        events = [d / world.max_delay for s, d in plays if s + d < world.t and low <= d < edge]
        passes = sum(world.t - s >= edge and d >= edge for s, d in plays)
        squares = sum(x * x for x in events)
        bins.append((float(len(events)), float(passes), float(sum(events)), float(squares)))
        low = edge
    return bins


def carried_back(bins: list[Bin], mean: float, square: float) -> tuple[float, float]:
    """Mean and mean square of the mean payoff before these bins, from those after them."""
    for events, passes, first, second in reversed(bins):
        n = events + passes
        square = (
            second + first**2 + 2 * first * passes * mean + passes * (passes + 1) * square
        ) / (n * (n + 1))
        mean = (first + passes * mean) / n
    return mean, square


def drawn_beta(mean: float, square: float, rng: Random) -> float:
    """A draw from the Beta law with this mean and mean square; the mean where it has no spread."""
    variance = square - mean**2
    if mean in (0.0, 1.0) or variance <= 1e-14 * mean**2:
        return mean
    weight = max(mean * (1 - mean) / variance - 1, 1e-3)
    shapes = (mean * weight, (1 - mean) * weight)
    return rng.beta(*(round(x) if abs(x - round(x)) < 1e-9 * round(x) else x for x in shapes))


def widened(mean: float, square: float, n: float, c: float) -> float:
    """The mean square of a draw whose variance is V (1 + c V / W), but within W."""
    v, w = square - mean**2, mean * (1 - mean) / (n + 1)
    return mean**2 + max(v, min(v * (1 + c * v / w), w)) if w > 0 else square


def draw(world: World, arm: int, edges: list[int], rng: Random, c: float = 0.0) -> float:
    """X."""
    return draw_from(world, counts(world, arm, edges), edges, rng, c)


def draw_from(
    world: World, bins: list[Bin], edges: list[int], rng: Random, c: float = 0.0
) -> float:
    """X, from what is known of each bin; Y is drawn wider by c."""
    reached = [b for b, (events, passes, _, _) in enumerate(bins) if events + passes > 0]
    if not reached:
        return 1.0 if world.reward else 0.0
    n = bins[0][0] + bins[0][1]
    rho = 1 - (1 - rng.random()) ** (1 / n)  # Beta(1, n): its distribution is 1 - (1 - rho)^n
    b = reached[-1] + 1
    events, passes, first, second = bins[b - 1]
    if b == len(edges) and passes > 0:
        mean, square = carried_back(bins, 1.0, 1.0)
    else:
        h = v = 1.0
        spread = 0.0
        if events > 0:
            inside = first / events
            spread = max(second / events - inside**2, 0.0) / (events + 1)
            h = rng.beta(events, passes) if passes > 0 else 1.0
            v = h * inside + (1 - h)
        mean, square = carried_back(bins[: b - 1], v, v**2 + h**2 * spread)
    y = drawn_beta(mean, widened(mean, square, n, c) if c else square, rng)
    return 1 - (1 - rho) * (1 - y) if world.reward else (1 - rho) * y


def survival_thompson(world: World, rng: Random, bins: int = 24) -> Iterator[int]:
    """SurvivalThompson."""
    arms = range(world.arms)
    edges = sorted({round(world.max_delay ** (i / (bins - 1))) for i in range(bins)})
    draws: dict[int, float] = {}
    known: dict[int, list[Bin]] = {}  # when it was drawn
    last = other = -1

    def far(arm: int) -> bool:
        """Whether a look at it is left out in this turn."""
        distance, nearest = (1 - draws[a] if world.reward else draws[a] for a in (arm, last))
        heard = counts(world, arm, edges) != known[arm]
        u = rng.random()
        return not heard and u >= 1 / 4 and distance * u > nearest

    while True:
        rng = rng.of_play(world.t, SELECT)
        anew = list(arms)
        if draws and world.arms > 4:
            anew = [last]
            while len(anew) < 5:
                other = (other + 1) % world.arms
                if other != last:
                    anew.append(other)
        for arm in anew:
            if world.arms <= 5 or not draws.keys() >= {*arms} or arm == last or not far(arm):
                draws[arm] = draw(world, arm, edges, rng, 1 / 7)
                known[arm] = counts(world, arm, edges)
        best = max(draws.values()) if world.reward else min(draws.values())
        last = min(
            (arm for arm in arms if draws[arm] == best), key=lambda arm: (len(world.of(arm)), arm)
        )
        yield last
