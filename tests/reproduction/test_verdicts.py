"""The tests behind verdicts: of the right size, with the power to decide, honest about lines."""

import numpy as np
import pytest
import scipy.stats

from tarry.reproduction.verdicts import (
    FAILS,
    HOLDS,
    OPEN,
    Outcome,
    correlated,
    deviations,
    firm,
    growth_test,
    less,
    less_in_pairs,
    line_of,
)

X = 250.0 * 2 ** np.arange(7)


def test_tests_have_the_right_size() -> None:
    """For samples without any difference each test errs in about 5 % of the cases."""
    trials = 2000
    draws = np.random.default_rng(2).normal(size=(trials, 2, 30))
    for tests in (
        [less(*pair) for pair in draws],
        [less_in_pairs(*pair) for pair in draws],
        [correlated(*pair) for pair in draws],
        [less(*map(deviations, pair)) for pair in draws],
    ):
        share = np.mean([test.verdict != OPEN for test in tests])
        assert abs(share - 0.05) < 4 * np.sqrt(0.05 * 0.95 / trials)
        assert np.mean([test.p < 0.05 for test in tests]) == pytest.approx(share)


def test_spreads_of_skewed_runs_are_compared_fairly() -> None:
    """Of equal exponential samples at most a few more than 5 % are said to differ in spread."""
    draws = np.random.default_rng(4).exponential(size=(1500, 2, 100))
    share = np.mean([less(*map(deviations, pair)).verdict != OPEN for pair in draws])
    assert share < 0.075


def test_values_are_those_of_scipy() -> None:
    """Paired and unpaired tests give SciPy's p-values."""
    one, other = np.random.default_rng(1).exponential(size=(2, 12))
    assert less(one, other).p == pytest.approx(
        scipy.stats.ttest_ind(one, other, equal_var=False)[1]
    )
    assert less_in_pairs(one, other).p == pytest.approx(scipy.stats.ttest_rel(one, other)[1])
    pearson = scipy.stats.pearsonr(one, other)
    found = correlated(one, other).flipped()
    assert found.estimate == pytest.approx(pearson.statistic)
    assert (found.low, found.high) == pytest.approx(tuple(pearson.confidence_interval()))
    assert correlated(one, 2 * one).verdict == HOLDS
    assert correlated(np.ones(5), one[:5]).verdict == OPEN


def test_equal_runs_decide_nothing_and_constant_ones_everything() -> None:
    """Without scatter the estimate is exact."""
    assert less_in_pairs(np.ones(4), np.ones(4)).verdict == OPEN
    assert less_in_pairs(np.ones(4), np.full(4, 2.0)).verdict == HOLDS
    assert less_in_pairs(np.full(4, 2.0), np.ones(4)).verdict == FAILS


@pytest.mark.parametrize(
    ("exponent", "law", "exactly", "expected"),
    [
        (0.02, 0.0, False, HOLDS),
        (-0.5, 0.0, False, HOLDS),
        (0.4, 0.0, False, FAILS),
        (0.46, 0.5, True, HOLDS),
        (0.1, 0.5, True, FAILS),
        (0.9, 0.5, True, FAILS),
    ],
)
def test_growth_is_measured_against_the_law(
    exponent: float, law: float, exactly: bool, expected: str
) -> None:
    """Upper bounds hold below the law; laws of growth hold near it."""
    noise = np.exp(0.01 * np.random.default_rng(0).normal(size=len(X)))
    test = growth_test(line_of(X, 100 * X**exponent * noise), law, exactly=exactly)
    assert test.verdict == expected


def test_noisy_slopes_are_undecided() -> None:
    """Where the points scatter so much that the slope could be on either side, nobody knows."""
    noise = np.exp(np.random.default_rng(5).normal(size=len(X)))
    line = line_of(X, 100 * X**0.5 * noise)
    assert line.high - line.low > 0.4
    assert growth_test(line, 0.5, exactly=True).verdict == OPEN


def test_bent_points_are_no_line() -> None:
    """A law of growth is not read off a bend; an upper bound is judged by the steeper part."""
    bent = line_of(X, np.maximum(2000.0, X))
    assert not bent.is_straight
    assert growth_test(bent, 0.5, exactly=True).verdict == OPEN
    assert growth_test(bent, 0.2, exactly=False).verdict != HOLDS
    assert growth_test(bent, 2.0, exactly=False).verdict == HOLDS
    assert line_of(X, 3 * X).is_straight


def test_many_verdicts_share_their_error() -> None:
    """Holm's method keeps what is clear, and among ever more tests less and less else."""
    clear, close, none = (
        Outcome(-1, -2, -0.1, 1e-6),
        Outcome(-1, -2, -0.1, 0.03),
        Outcome(0, -1, 1, 0.9),
    )
    assert firm([close]) == [True]
    assert firm([clear, close, none]) == [True, False, False]
    assert firm([clear, clear]) == [True, True]
    pure_chance = [Outcome(-1, -2, -0.1, p) for p in np.random.default_rng(1).uniform(size=200)]
    assert sum(firm(pure_chance)) == 0
