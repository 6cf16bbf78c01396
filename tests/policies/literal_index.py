"""`IncrementUCB` written down a second time, from the list of plays alone.

Each statistic is recounted from all plays when it is asked for. Sums of fractions are added up in
the order in which the answers are seen, so that even the last digit is the same.
"""

import functools
import math
from collections.abc import Callable, Iterator

from tests.policies.literal import World


def kl_low(mean: float, radius: float) -> float:
    """The smallest q with kl(mean, q) <= radius: Newton's method from the left, eight steps."""
    if mean <= 0.0 or mean >= 1.0:
        return 0.0 if mean <= 0.0 else math.exp(-radius)
    rest = 1.0 - mean
    entropy = -mean * math.log(mean) - rest * math.log(rest)
    bernstein, pinsker = math.sqrt(2.0 * mean * radius), math.sqrt(0.5 * radius)
    q = max(mean - min(bernstein, pinsker), math.exp(-min((radius + entropy) / mean, 700.0)))
    for _ in range(8):
        excess = -entropy - mean * math.log(q) - rest * math.log(1.0 - q) - radius
        if excess <= 1e-9 * (radius + entropy) or q >= mean:
            break
        q += excess * q * (1.0 - q) / (mean - q)
    return min(q, mean)


def kl_up(mean: float, radius: float) -> float:
    """The mirror image."""
    return 1.0 - kl_low(1.0 - mean, radius)


def edges_of(max_delay: int) -> list[int]:
    """x_0 .. x_G."""
    rho = max_delay ** (1.0 / 23.0)
    ages = [1.0]
    while ages[-1] < max_delay:
        step = max(min(ages[-1] * (rho - 1.0), max_delay / 16.0), 1.0)
        ages.append(ages[-1] + step)
    ages[-1] = max_delay
    return [0, *sorted({round(age) for age in ages})]


def seen_in_order(world: World, arm: int) -> list[int]:
    """The delays of the seen plays, in the order in which they were seen."""
    return [d for s, d in sorted(world.seen(arm).tolist(), key=lambda p: (p[0] + p[1], -p[0]))]


def level(
    world: World, arm: int, means: int, spread: float, share: float = 1.0
) -> Callable[[int], float]:
    """The level over the count, as a function of the count."""
    t, seen, out = world.t, len(world.seen(arm)), len(world.missing(arm))
    factor = (1.0 + spread) * seen / (seen + min(spread * seen, out)) if seen else 1.0
    base = math.log(2.0 * means * t * (1.0 + math.log(t)))
    base = factor * (base + math.log(share) if share != 1.0 else base)
    return lambda count: (base + factor * 0.5 * math.log(count)) / count


def pieces(world: World, arm: int) -> Iterator[tuple[float, int, int, int, float]]:
    """Of each increment: w_b, n_{b-1}, n_b, full_b and full_b + part_b."""
    x = edges_of(world.max_delay)
    plays, answers = world.of(arm), seen_in_order(world, arm)
    for b in range(1, len(x)):
        width = x[b] - x[b - 1]
        before = len(plays) if b == 1 else int((world.t - plays[:, 0] >= x[b - 1]).sum())
        old = world.t - plays[:, 0] >= x[b]
        full = int((plays[old][:, 1] >= x[b]).sum())
        part = 0.0
        for d in answers:
            if x[b - 1] <= d < x[b]:
                part += (d - x[b - 1]) / width
        yield width / world.max_delay, before, int(old.sum()), full, full + part


def lcb(world: World, spread: float, arm: int) -> float:
    """The index for cost."""
    n, complete = len(world.of(arm)), len(world.complete(arm))
    if n == 0:
        return 0.0
    parts = list(pieces(world, arm))
    radius = level(world, arm, len(parts) + 1, spread)
    best = kl_low(world.mu_minus(arm), radius(n))
    if complete:
        best = max(best, kl_low(world.mu_complete(arm), radius(complete)))
    total = envelope = 0.0
    for width, before, old, full, known in reversed(parts):
        if before:
            envelope = max(envelope, kl_low(known / before, radius(before)))
        if old:
            envelope = max(envelope, kl_low(full / old, radius(old)))
        total += width * envelope
    return max(best, total)


def ucb(world: World, spread: float, arm: int) -> float:
    """The index for reward."""
    n, complete = len(world.of(arm)), len(world.complete(arm))
    if n == 0:
        return 1.0
    parts = list(pieces(world, arm))
    radius = level(world, arm, 2 * len(parts) - 1, spread)
    best = kl_up(world.mu_plus(arm), radius(n))
    if complete:
        best = min(best, kl_up(world.mu_complete(arm), radius(complete)))
    total, envelope = 0.0, 1.0
    for width, _, old, full, known in parts:
        if old:
            envelope = min(envelope, kl_up(min(known / old, 1.0), radius(old)))
        total += width * envelope
        if old:
            envelope = min(envelope, kl_up(full / old, radius(old)))
    return min(best, total)


def unbounded_lcb(world: World, spread: float, arm: int) -> float:
    """The index for cost that knows no D."""
    best, k, age = 0.0, 0, 1
    while age <= world.max_delay:
        plays = world.of(arm)
        old = plays[world.t - plays[:, 0] >= age]
        total = 0.0
        for _, d in sorted(old.tolist(), key=lambda play: play[0]):
            total += min(d, age) / age
        if len(old) == 0:
            break
        radius = level(world, arm, 1, spread, (k + 1.0) * (k + 2.0))
        best = max(best, age * kl_low(total / len(old), radius(len(old))))
        k, age = k + 1, 2 * age
    return best


def lazily(world: World, index: Callable[[int], float]) -> Iterator[int]:
    """Play the best index; each is renewed when t or n has grown by a 64th since then."""
    sign = -1 if world.reward else 1
    made: dict[int, tuple[int, int, float]] = {}  # step, plays and index at the last renewal
    while True:
        for arm in range(world.arms):
            n = len(world.of(arm))
            if arm in made:
                step, plays, _ = made[arm]
                if world.t < step + 1 + step // 64 and n < plays + 1 + plays // 64:
                    continue
            made[arm] = world.t, n, index(arm)
        yield min(range(world.arms), key=lambda arm: (sign * made[arm][2], len(world.of(arm)), arm))


def increment_ucb(world: World, spread: float | None = None) -> Iterator[int]:
    """IncrementUCB."""
    if world.reward:
        index = functools.partial(ucb, world, 0.5 if spread is None else spread)
    else:
        index = functools.partial(lcb, world, spread or 0.0)
    return lazily(world, index)


def unbounded_ucb(world: World, spread: float | None = None) -> Iterator[int]:
    """IncrementUCB(unbounded=True)."""
    return lazily(world, functools.partial(unbounded_lcb, world, spread or 0.0))
