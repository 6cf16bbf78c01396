"""Laws of latency."""

import numpy as np
import pytest

from tarry.errors import InputError
from tarry.scenarios import (
    Constant,
    Exponential,
    Fails,
    Hangs,
    LatencyLaw,
    LogNormal,
    Mixture,
    bimodal,
    slower,
)
from tarry.scenarios.laws import expected_cost

ALL = [
    (Constant(0.05), 0.05),
    (Exponential(0.05), 0.05),
    (LogNormal(0.05, 0.5), 0.05),
    (Mixture(LogNormal(0.04), LogNormal(1.0), 0.01), 0.99 * 0.04 + 0.01 * 1.0),
    (bimodal(0.03, 0.07, 0.25), 0.75 * 0.03 + 0.25 * 0.07),
]


@pytest.mark.parametrize(("law", "mean"), ALL)
def test_the_mean_of_a_law_is_what_it_says(law: LatencyLaw, mean: float) -> None:
    """Over uniform numbers the quantiles have the mean of the law, within five standard errors."""
    times = law.quantile(np.random.default_rng(1).random(200_000))
    assert times.mean() == pytest.approx(mean, abs=1e-12 + 5 * times.std() / len(times) ** 0.5)
    assert expected_cost(law, 1e9) == pytest.approx(mean, rel=0.01)


@pytest.mark.parametrize(("law", "mean"), ALL)
def test_a_slower_law_is_the_same_law_on_another_scale(law: LatencyLaw, mean: float) -> None:
    """Twenty times as slow is twenty times each quantile."""
    u = np.array([0.01, 0.5, 0.995])
    assert slower(law, 20.0).quantile(u) == pytest.approx(20 * law.quantile(u))
    assert expected_cost(slower(law, 20.0), 1e9) == pytest.approx(20 * mean, rel=0.01)


def test_a_request_costs_the_timeout_at_most() -> None:
    """What is given up, never answered or failed costs D."""
    assert expected_cost(Constant(3.0), 2.0) == 2.0
    assert expected_cost(Hangs(), 2.0) == expected_cost(Fails(), 2.0) == 2.0
    exact = 1.0 - np.exp(-2.0)  # the mean of an exponential law of mean 1, cut at 2
    assert expected_cost(Exponential(1.0), 2.0) == pytest.approx(exact, rel=1e-3)


def test_bad_laws_are_refused_in_one_sentence() -> None:
    """What was wrong, the value, what is allowed."""
    with pytest.raises(InputError, match=r"The mean is -1; it must be a positive number\."):
        LogNormal(-1)
    with pytest.raises(InputError, match=r"The share is 1\.5; it must be above 0 and below 1\."):
        bimodal(0.1, 0.2, 1.5)
