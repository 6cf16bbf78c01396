"""Drawn delays follow the exact law and are independent; seeds and bounds are fixed.

Every p-value is from the exact or the asymptotic law of its statistic. There are about eighty of
them, each must exceed 1e-4, so a right generator would pass under 99 % of seeds; it does under
these.
"""

import numpy as np
import pytest
from scipy import stats

from tarry.arrays import FloatArray, IntArray
from tarry.problems import (
    FAMILIES,
    Law,
    Problem,
    from_samples,
    hard_close,
    hard_conservative_cost,
)
from tarry.problems.world import uniforms

LEAST = 1e-4
DRAWS = 40_000
PROBLEMS: dict[str, Problem] = {
    **{name: family(3, 800, seed=5) for name, family in FAMILIES.items()},
    "hard_close": hard_close(30, 800),
    "hard_conservative": hard_conservative_cost(7, 800, 2),
    "samples": from_samples([[1, 5, 5, 30], [2, 2, 2, 9, 9, 11, 800]], 800),
    "odd sizes": Problem([Law(range(n), [1 / n] * n) for n in (3, 7, 11)], 800),
}


def fit(law: Law, delays: IntArray) -> float:
    """The p-value of a chi-square test, neighbouring values pooled to an expectation of 10."""
    assert np.isin(delays, law.values).all()
    counts = np.bincount(np.searchsorted(law.values, delays), minlength=len(law.values))
    expected = law.probabilities * delays.size
    starts, total = [0], 0.0
    for index, share in enumerate(expected.tolist()):
        if total >= 10 and expected[index:].sum() >= 10:
            starts.append(index)
            total = 0.0
        total += share
    seen, wanted = np.add.reduceat(counts, starts), np.add.reduceat(expected, starts)
    if len(seen) == 1:
        return 1.0
    return float(stats.chisquare(seen, wanted * seen.sum() / wanted.sum()).pvalue)


def independence(first: IntArray, second: IntArray, sides: int) -> float:
    """The p-value of a chi-square test that all pairs of two uniform dice are equally likely."""
    return float(stats.chisquare(np.bincount(first * sides + second, minlength=sides**2)).pvalue)


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_delays_follow_the_exact_law(problem: Problem) -> None:
    """Chi-square of the drawn delays of every arm against its law."""
    for arm, law in enumerate(problem.laws):
        delays = problem.delays(11, np.arange(1, DRAWS + 1), arm)
        assert fit(law, delays) > LEAST
        error = np.sqrt(law.variance / DRAWS)
        assert abs(delays.mean() - law.mean) <= 5 * error


SIDES = 6
DICE = Problem([Law(range(SIDES), [1 / SIDES] * SIDES)] * 40, SIDES)


@pytest.mark.parametrize("lag", [1, 2, 3, 5, 30, 1024])
def test_steps_are_independent(lag: int) -> None:
    """The delays of an arm in steps s and s + lag form all pairs equally often."""
    delays = DICE.delays(21, np.arange(1, DRAWS + lag + 1), 3)
    assert independence(delays[:-lag], delays[lag:], SIDES) > LEAST


@pytest.mark.parametrize("other", [1, 2, 17, 39])
def test_arms_are_independent(other: int) -> None:
    """The delays of two arms in the same step, and in neighbouring steps, are unrelated."""
    steps = np.arange(1, DRAWS + 1)
    first = DICE.delays(22, steps, 0)
    assert independence(first, DICE.delays(22, steps, other), SIDES) > LEAST
    assert independence(first, DICE.delays(22, steps + 1, other), SIDES) > LEAST


@pytest.mark.parametrize("seed", [0, 1, 2, 255, 2**32, 2**64 + 1])
def test_seeds_are_independent(seed: int) -> None:
    """The delays under neighbouring seeds are unrelated, step by step."""
    steps = np.arange(1, DRAWS + 1)
    first, second = DICE.delays(seed, steps, 4), DICE.delays(seed + 1, steps, 4)
    assert independence(first, second, SIDES) > LEAST


def test_arms_of_one_step_are_independent_of_each_other() -> None:
    """Along the arms of one step, over many steps, pairs of neighbours are equally likely."""
    grid = DICE.delays(23, np.arange(1, 1001)[:, None], np.arange(40))
    assert independence(grid[:, :-1].ravel(), grid[:, 1:].ravel(), SIDES) > LEAST


def test_steps_beyond_32_bits_are_as_random() -> None:
    """The high word of the step counts: steps 2**32 apart are unrelated."""
    steps = np.arange(1, DRAWS + 1)
    first, second = DICE.delays(24, steps, 0), DICE.delays(24, steps + 2**32, 0)
    assert independence(first, second, SIDES) > LEAST


def test_triples_are_equally_likely() -> None:
    """Three consecutive steps form all triples equally often."""
    rolls = DICE.delays(25, np.arange(1, 3 * DRAWS + 1), 9).reshape(-1, 3)
    cells = np.bincount(rolls @ np.array([1, SIDES, SIDES**2]), minlength=SIDES**3)
    assert stats.chisquare(cells).pvalue > LEAST


def test_sums_of_steps_have_the_right_spread() -> None:
    """The variance of sums of 50 consecutive delays is 50 times that of one."""
    law = DICE.laws[0]
    sums: FloatArray = DICE.delays(26, np.arange(1, DRAWS + 1), 1).reshape(-1, 50).sum(axis=1)
    ratio = sums.var() / (50 * law.variance)
    assert abs(ratio - 1) < 5 * np.sqrt(2 / len(sums))


@pytest.mark.parametrize("stream", [0, 1, 33])
def test_parameters_of_families_are_uniform(stream: int) -> None:
    """The numbers that make random problems are uniform in (0, 1) (Kolmogorov-Smirnov)."""
    assert stats.kstest(uniforms(3, stream, 20_000), "uniform").pvalue > LEAST
