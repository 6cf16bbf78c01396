"""The numbers behind tables and figures."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from tarry.errors import InputError
from tarry.experiments.curves import curve_of, fit_slope, paired_difference, student
from tarry.tables import number


def test_curve_sums_up_runs_that_reached_the_step() -> None:
    """Mean, deviation and interval are those of the runs that are still there."""
    regret = np.array([[11.0, 14.0, 19.0], [13.0, 16.0, np.nan], [15.0, np.nan, np.nan]])
    curve = curve_of(np.array([1, 2, 3]), regret)
    assert curve.runs.tolist() == [3, 2, 1]
    assert curve.mean.tolist() == [13.0, 15.0, 19.0]
    assert curve.std[:2] == pytest.approx([2.0, np.sqrt(2)])
    assert np.isnan(curve.std[2])
    half = scipy.stats.t.ppf(0.975, 2) * 2 / np.sqrt(3)
    assert (curve.low[0], curve.high[0]) == pytest.approx((13 - half, 13 + half))


def test_step_that_nobody_reached_has_no_mean() -> None:
    """Where all runs had ended there is nothing, and no warning."""
    curve = curve_of(np.array([1]), np.array([[np.nan], [np.nan]]))
    assert np.isnan(curve.mean[0])
    assert curve.runs[0] == 0


def test_interval_covers_the_mean_as_often_as_it_says() -> None:
    """Over many samples of normal numbers 95 % of the intervals contain the true mean."""
    samples = np.random.default_rng(1).normal(7.0, 3.0, (5, 20_000))
    curve = curve_of(np.arange(20_000), samples)
    covered = np.mean((curve.low <= 7.0) & (curve.high >= 7.0))
    assert abs(covered - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 20_000)


@given(st.floats(-3, 3), st.floats(0.01, 100))
def test_slope_of_a_power_law_is_its_exponent(exponent: float, factor: float) -> None:
    """Points on y = factor * x**exponent give back both, with no error."""
    x = np.array([10.0, 20.0, 70.0, 300.0])
    fit = fit_slope(x, factor * x**exponent)
    assert fit.slope == pytest.approx(exponent, abs=1e-9)
    assert fit.factor == pytest.approx(factor, rel=1e-6)
    assert fit.error < 1e-6


def test_standard_error_of_a_slope_is_that_of_least_squares() -> None:
    """Slope and error agree with scipy's linear regression of the logarithms."""
    rng = np.random.default_rng(3)
    x = np.geomspace(1, 1000, 12)
    y = 3 * x**0.5 * np.exp(rng.normal(0, 0.2, 12))
    fit, other = fit_slope(x, y), scipy.stats.linregress(np.log(x), np.log(y))
    assert (fit.slope, fit.error) == pytest.approx((other.slope, other.stderr))


@pytest.mark.parametrize(("x", "y"), [([1, 2], [1, 2]), ([1, 2, 3], [1, 0, 2]), ([1, 2, 3], [1])])
def test_slope_refuses_points_that_have_none(x: list[float], y: list[float]) -> None:
    """Fewer than three points, or points that are not positive, are refused."""
    with pytest.raises(InputError, match="at least 3 points"):
        fit_slope(x, y)


def test_paired_difference_knows_its_sign() -> None:
    """An interval on one side of 0 decides, one around 0 does not."""
    base = np.array([100.0, 200.0, 300.0, 400.0])
    assert paired_difference(base - np.array([9, 10, 11, 10]), base).sign == -1
    assert paired_difference(base + np.array([9, 10, 11, 10]), base).sign == 1
    assert paired_difference(base + np.array([-9, 10, -11, 10]), base).sign == 0


def test_student_factor_without_freedom_is_none() -> None:
    """One run has no interval."""
    assert np.isnan(student(0))


@pytest.mark.parametrize(
    ("value", "text"),
    [(12345.6, "12 346"), (0.0123461, "0.01235"), (float("nan"), "-"), (999.94, "999.9")],
)
def test_numbers_are_short(value: float, text: str) -> None:
    """Four digits, spaces between thousands, a dash for nothing."""
    assert number(value) == text
