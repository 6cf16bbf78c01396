"""The relative entropy of coins, and confidence bounds for a mean in [0, 1] by it.

With kl(p, q) = p log(p / q) + (1 - p) log((1 - p) / (1 - q)), what a mean of n payoffs still allows
for its expectation are the q with n kl(mean, q) <= level. How large the level must be is said by
those who use it: for all n together and a horizon (`uniform_level`), or for all n at each step
(`tarry.policies.index.increment_ucb`).
"""

import math


def coin_entropy(p: float, q: float) -> float:
    """kl(p, q) = p log(p / q) + (1 - p) log((1 - p) / (1 - q)), the relative entropy of two coins.

    0 where p = q, infinite where q is 0 or 1 and p is not.
    """
    if p == q:
        return 0.0
    if q <= 0.0 or q >= 1.0:
        return math.inf
    total = 0.0
    if p > 0.0:
        total += p * math.log(p / q)
    if p < 1.0:
        total += (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return total


def kl_lower(mean: float, radius: float) -> float:
    """The smallest q <= mean with kl(mean, q) <= radius, or a little below it.

    Newton's method on a convex decreasing function, from the left: it never passes the solution,
    so that what it returns is valid after any number of iterations.
    """
    if mean <= 0.0:
        return 0.0
    if mean >= 1.0:
        return math.exp(-radius)
    rest = 1.0 - mean
    entropy = -mean * math.log(mean) - rest * math.log(rest)
    q = max(
        mean - math.sqrt(0.5 * radius),  # kl >= 2 (mean - q)^2
        mean - math.sqrt(2.0 * mean * radius),  # kl >= (mean - q)^2 / (2 mean)
        math.exp(-min((radius + entropy) / mean, 700.0)),  # kl >= mean log(1/q) - entropy
    )
    for _ in range(8):
        value = -entropy - mean * math.log(q) - rest * math.log(1.0 - q) - radius
        if value <= 1e-9 * (radius + entropy) or q >= mean:
            break
        q += value * q * (1.0 - q) / (mean - q)
    return min(q, mean)


def kl_upper(mean: float, radius: float) -> float:
    """The largest q >= mean with kl(mean, q) <= radius, or a little above it."""
    return 1.0 - kl_lower(1.0 - mean, radius)
