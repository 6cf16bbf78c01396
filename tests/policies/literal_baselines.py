"""The baselines of the field written down a second time; see `literal`."""

import math
from collections.abc import Callable, Iterator

from scipy import special

from tests.policies.literal import World, best_index


def by_index(world: World, index: Callable[[int], float]) -> Iterator[int]:
    """An arm without an answer, fewest plays first; else the first with the largest index."""
    while True:
        unseen = [arm for arm in range(world.arms) if len(world.seen(arm)) == 0]
        if unseen:
            yield min(unseen, key=lambda arm: len(world.of(arm)))
        else:
            yield best_index(world, index)


def payoff(world: World, arm: int) -> float:
    """Mean payoff of the seen plays, to be maximised."""
    seen = world.seen(arm)
    mean = seen[:, 1].sum() / (world.max_delay * len(seen))
    return float(mean if world.reward else 1 - mean)


def coin_entropy(p: float, q: float) -> float:
    """kl(p, q) by its definition."""
    return sum(a * math.log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)


def kl_ucb(world: World, c: float) -> Iterator[int]:
    """KLUCB: the least loss that is still possible, found by halving on a logarithmic scale."""

    def index(arm: int) -> float:
        seen = world.seen(arm)
        loss = seen[:, 1].sum() / (world.max_delay * len(seen))
        loss = float(1 - loss if world.reward else loss)
        if loss == 0:
            return 0.0
        level = (math.log(world.t) + c * math.log(max(math.log(world.t), 1))) / len(seen)
        low, high = -700.0, math.log(loss)
        for _ in range(200):
            middle = (low + high) / 2
            if coin_entropy(loss, math.exp(middle)) > level:
                low = middle
            else:
                high = middle
        return -math.exp(high)

    return by_index(world, index)


def moss(world: World) -> Iterator[int]:
    """MOSS."""

    def index(arm: int) -> float:
        n = len(world.seen(arm))
        level = max(math.log(world.horizon / (world.arms * n)), 0)
        return payoff(world, arm) + math.sqrt(level / n)

    return by_index(world, index)


def imed(world: World) -> Iterator[int]:
    """IMED."""

    def index(arm: int) -> float:
        n, mean = len(world.seen(arm)), payoff(world, arm)
        top = max(payoff(world, other) for other in range(world.arms))
        if mean == top:
            return -math.log(n)
        return -math.inf if top == 1 else -n * coin_entropy(mean, top) - math.log(n)

    return by_index(world, index)


def bayes_ucb(world: World) -> Iterator[int]:
    """BayesUCB, with the quantiles of SciPy."""

    def index(arm: int) -> float:
        n = len(world.seen(arm))
        total = n * payoff(world, arm)
        return round(float(special.betainccinv(1 + total, 1 + n - total, 1 / world.t)), 10)

    return by_index(world, index)


def qpmd(world: World) -> Iterator[int]:
    """QPMD: UCB1 on lists of payoffs, fed in play order with what is back."""
    fed: list[list[float]] = [[] for _ in range(world.arms)]

    def index(arm: int) -> float:
        if not fed[arm]:
            return math.inf
        t = sum(map(len, fed))
        total = 0.0
        for each in fed[arm]:
            total += each
        return total / len(fed[arm]) + math.sqrt(2 * math.log(t) / len(fed[arm]))

    while True:
        arm = best_index(world, index)
        waiting = world.of(arm)[len(fed[arm]) :].tolist()
        if waiting and sum(waiting[0]) < world.t:
            share = waiting[0][1] / world.max_delay
            fed[arm].append(share if world.reward else 1 - share)
        else:
            yield arm
