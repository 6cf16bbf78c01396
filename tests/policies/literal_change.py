"""The rivals for worlds that change, written down a second time from the list of plays."""

import math
from collections.abc import Iterator

from tarry.randomness import RETURN, SELECT, Random
from tests.policies.literal import World
from tests.policies.literal_survival import Bin, draw_from

Answer = tuple[int, int, bool]  # when it was seen, arm, success


def heard(world: World, rng: Random, answers: list[Answer]) -> None:
    """Add the answers of this step, the latest play first, each turned into a coin."""
    for s, arm, d in world.plays[::-1].tolist():
        if s + d == world.t - 1:
            coin = rng.of_play(s, RETURN).random()
            answers.append((world.t, arm, coin * world.max_delay < d))


def best_of_betas(world: World, shapes: list[tuple[float, float]], rng: Random) -> int:
    """A draw of each arm; the best."""
    stream = rng.of_play(world.t, SELECT)
    draws = [stream.beta(1 + a, 1 + b) for a, b in shapes]
    return draws.index(max(draws) if world.reward else min(draws))


def discounted(world: World, rng: Random, memory: float) -> Iterator[int]:
    """DiscountedThompson."""
    answers: list[Answer] = []
    while True:
        heard(world, rng, answers)
        shapes = []
        for arm in range(world.arms):
            own = [(math.exp((t - world.t) / memory), win) for t, k, win in answers if k == arm]
            shapes.append((sum(w for w, win in own if win), sum(w for w, win in own if not win)))
        yield best_of_betas(world, shapes, rng)


def windowed(world: World, rng: Random, window: int) -> Iterator[int]:
    """WindowThompson."""
    answers: list[Answer] = []
    while True:
        heard(world, rng, answers)
        latest = answers[-window:]
        shapes: list[tuple[float, float]] = [
            (latest_of(latest, arm, win=True), latest_of(latest, arm, win=False))
            for arm in range(world.arms)
        ]
        yield best_of_betas(world, shapes, rng)


def latest_of(answers: list[Answer], arm: int, *, win: bool) -> int:
    """Successes or failures of an arm."""
    return sum(k == arm and x == win for _, k, x in answers)


def cusum(
    world: World, rng: Random, warm_up: int, slack: float, threshold: float, explore: float
) -> Iterator[int]:
    """CUSUMUCB."""
    began = [0] * world.arms
    seen: list[list[float]] = [[] for _ in range(world.arms)]
    while True:
        for s, arm, d in world.plays[::-1].tolist():
            if s + d == world.t - 1 and s >= began[arm]:
                seen[arm].append(d / world.max_delay)
                up = down = 0.0
                usual = sum(seen[arm][:warm_up]) / warm_up
                for x in seen[arm][warm_up:]:
                    up = max(0.0, up + x - usual - slack)
                    down = max(0.0, down + usual - x - slack)
                if max(up, down) >= threshold:
                    began[arm], seen[arm] = world.t, []
        stream = rng.of_play(world.t, SELECT)
        if stream.random() < explore:
            yield stream.integers(world.arms)
            continue
        unknown = [arm for arm in range(world.arms) if not seen[arm]]
        n = sum(map(len, seen))
        asleep = [arm for arm in unknown if n == 0 or not len(world.missing(arm))]
        if asleep:
            yield min(asleep, key=lambda arm: len(world.missing(arm)))
            continue
        sign = 1 if world.reward else -1
        bounds = [
            sign * sum(own) / len(own) + math.sqrt(math.log(n) / 2 / len(own)) if own else -math.inf
            for own in seen
        ]
        yield bounds.index(max(bounds))


def fading(world: World, rng: Random, memory: float, bins: int) -> Iterator[int]:
    """FadingThompson: as the transcription of SurvivalThompson, each fact with a weight."""
    arms = range(world.arms)
    edges = sorted({round(world.max_delay ** (i / (bins - 1))) for i in range(bins)})
    draws: dict[int, float] = {}
    last = other = -1
    while True:
        stream = rng.of_play(world.t, SELECT)
        anew = list(arms)
        if draws and world.arms > 2:
            anew = [last]
            while len(anew) < 3:
                other = (other + 1) % world.arms
                if other != last:
                    anew.append(other)
        for arm in anew:
            draws[arm] = draw_from(world, faded(world, arm, edges, memory), edges, stream)
        best = max(draws.values()) if world.reward else min(draws.values())
        last = min(
            (arm for arm in arms if draws[arm] == best), key=lambda arm: (len(world.of(arm)), arm)
        )
        yield last


def faded(world: World, arm: int, edges: list[int], memory: float) -> list[Bin]:
    """What the plays of an arm say about each bin, a fact heard before fade n faded since."""
    fades = range(16, world.t, 16)  # plays at which all fades; the last has just been made, or not

    def left(when: int) -> float:
        later = [step for step in fades if step >= when]
        return math.exp(-(later[-1] - previous(later[0])) / memory) if later else 1.0

    def previous(step: int) -> int:
        return step - 16 if step > 16 else 0

    plays = [(s, d) for s, a, d in world.plays.tolist() if a == arm]
    bins, low = [], 0
    for edge in edges:
        events = [
            (left(s + d + 1), d / world.max_delay)
            for s, d in plays
            if s + d < world.t and low <= d < edge
        ]
        passes = sum(left(s + edge) for s, d in plays if world.t - s >= edge and d >= edge)
        weights = sum(w for w, _ in events)
        sums = sum(w * x for w, x in events), sum(w * x * x for w, x in events)
        bins.append((float(weights), float(passes), float(sums[0]), float(sums[1])))
        low = edge
    return bins
