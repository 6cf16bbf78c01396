"""The published numbers of Tang, Wang and Zheng (2024), within 5 %."""

import math

import numpy as np
import pytest
import scipy.stats

import tarry
from tarry.policies import Policy

RAW = 5  # payoffs are raw delays 0..5 there, and delays / 5 here


def binomial(counts: list[int], chances: list[float]) -> tarry.problems.Problem:
    """Arms with binomial delays."""
    laws = [scipy.stats.binom(n, p) for n, p in zip(counts, chances, strict=True)]
    return tarry.problems.from_distributions(laws, max_delay=RAW)


TWO_ARMS = (binomial([5, 5], [0.3, 0.5]), 10_000)
FIVE_ARMS = (binomial([3, 5, 4, 3, 5], [0.38, 0.72, 0.63, 0.51, 0.46]), 20_000)


@pytest.mark.parametrize(
    ("policy", "world", "published", "runs"),
    [
        (tarry.OPSE(log_term="KT"), TWO_ARMS, 1970, 200),
        (tarry.OPSE(log_term="KT"), FIVE_ARMS, 5960, 200),
        (tarry.CensoredUCB(radius="experiments"), TWO_ARMS, 330, 400),
        (tarry.CensoredUCB(radius="experiments"), FIVE_ARMS, 1200, 200),
    ],
)
def test_published_regret(
    policy: Policy, world: tuple[tarry.problems.Problem, int], published: float, runs: int
) -> None:
    """The mean regret in raw payoffs is within 5 % of the published figure."""
    problem, horizon = world
    regrets = RAW * np.array(
        [
            tarry.play(
                policy, problem, payoff="reward", horizon=horizon, seed=seed, record=1
            ).regret[-1]
            for seed in range(runs)
        ]
    )
    error = float(np.std(regrets, ddof=1)) / math.sqrt(runs)
    assert error < 0.01 * published
    assert float(np.mean(regrets)) == pytest.approx(published, rel=0.05)
