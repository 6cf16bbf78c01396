"""Information-directed sampling (Russo and Van Roy 2014): what a play costs for what it tells.

From draws of all mean payoffs, of each arm: its expected regret, and what is learnt by playing it,
as the variance of what is expected of it given which arm is the best one. Of all coins between two
arms, the one with the least (expected regret)^2 / variance is thrown. Requests are looked at one by
one: what a play tells about other requests does not count.
"""

from typing import Any

import numpy as np

from tarry.arrays import FloatArray

COINS = np.arange(10) / 10
LEAST = 1e-12


def directed(draws: FloatArray, rng: Any) -> FloatArray:
    """1 for the arm to play and 0 for the others, (requests, arms), by draws (draws, ..., ...)."""
    count, requests, arms = draws.shape
    means, best = draws.mean(axis=0), draws.argmax(axis=2)
    regret = np.maximum(draws.max(axis=2).mean(axis=0)[:, None] - means, LEAST)
    told = np.full((requests, arms), LEAST)
    for arm in range(arms):
        is_best = best == arm
        share = is_best.mean(axis=0)[:, None]
        given = np.einsum("dr,dra->ra", is_best, draws) / count / np.maximum(share, LEAST)
        told += share * (given - means) ** 2
    coins = COINS[:, None, None, None]
    costs = (1 - coins) * regret[:, :, None] + coins * regret[:, None, :]
    gains = (1 - coins) * told[:, :, None] + coins * told[:, None, :]
    ratios = (costs**2 / gains).transpose(1, 0, 2, 3).reshape(requests, -1)
    coin, one, other = np.unravel_index(ratios.argmin(axis=1), (len(COINS), arms, arms))
    played = np.where(rng.random(requests) < COINS[coin], other, one)
    chosen: FloatArray = np.eye(arms)[played]
    return chosen
