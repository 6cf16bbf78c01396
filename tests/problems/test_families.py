"""Families: what their parameters are, and that they give the laws they promise."""

import subprocess
import sys
from math import gamma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tarry.errors import UnknownNameError
from tarry.problems import (
    FAMILIES,
    HARD,
    Law,
    bernoulli,
    by_name,
    cdn,
    discretise,
    dwell,
    serverless,
    survival,
    truncated_normal,
)
from tarry.problems.shapes import (
    log_normal_mixture_law,
    shifted_gamma_law,
    truncated_normal_law,
    weibull_law,
    weibull_scale,
)

PINNED = {
    "truncated_normal": [426.803367, 393.191078, 457.36825],
    "bernoulli": [189.150503, 863.124391, 227.842273],
    "cdn": [68.727298, 8.986344, 28.579701],
    "serverless": [416.302829, 113.777785, 180.828489],
    "dwell": [59.566317, 86.19646, 86.377696],
    "survival": [586.717038, 597.385389, 541.268868],
}


def assert_close(law: Law, wanted: Law, tolerance: float) -> None:
    """Two laws agree in every probability and every tail, relative to `tolerance`."""
    size = int(max(law.values[-1], wanted.values[-1])) + 1
    dense = np.zeros((2, size))
    dense[0, law.values] = law.probabilities
    dense[1, wanted.values] = wanted.probabilities
    assert dense[0] == pytest.approx(dense[1], rel=tolerance, abs=1e-15)


@pytest.mark.parametrize("name", FAMILIES)
def test_families_are_pinned(name: str) -> None:
    """A seed gives the same problem in every version of tarry, NumPy and SciPy."""
    problem = FAMILIES[name](3, 1000, seed=7)
    assert problem.mean_delays == pytest.approx(PINNED[name], rel=1e-6)
    assert problem.label.startswith(f"{name}(arms=3, max_delay=1000, ")


@pytest.mark.parametrize("name", FAMILIES)
def test_families_have_defaults_and_begin_with_the_same_arms(name: str) -> None:
    """More arms come after the same first arms; another seed gives other arms."""
    problem = FAMILIES[name]()
    fewer = FAMILIES[name](2, problem.max_delay, seed=0)
    assert problem.laws[:2] == fewer.laws
    assert problem == FAMILIES[name](problem.arms, problem.max_delay, seed=0)
    assert problem != FAMILIES[name](seed=1)
    assert (problem.means > 0).all()
    assert (problem.means < 1).all()


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("most", [1, 2, 7])
def test_families_work_for_the_smallest_delays(name: str, most: int) -> None:
    """D = 1 and its neighbours give laws within 0..D."""
    problem = FAMILIES[name](5, most, seed=1)
    assert max(law.values[-1] for law in problem.laws) <= most


@pytest.mark.parametrize(
    ("mean", "deviation"),
    [(500, 100), (0.2, 700), (1300, 900), (999.9, 0.01), (-50, 30), (2000, 40), (3.5, 1e-3)],
)
def test_truncated_normal_law_is_scipys(mean: float, deviation: float) -> None:
    """The law is scipy's truncated normal, rounded, also for means outside of [0, D]."""
    frozen = stats.truncnorm(-mean / deviation, (1000 - mean) / deviation, mean, deviation)
    law = truncated_normal_law(mean, deviation, 1000)
    assert_close(law, discretise(frozen, 1000), 1e-9)


@given(
    st.floats(0, 30, allow_subnormal=False),
    st.floats(1e-300, 20, allow_subnormal=False),
    st.integers(1, 20),
)
def test_truncated_normal_law_works_for_any_deviation(
    mean: float, deviation: float, most: int
) -> None:
    """From the tiniest deviation on there is a law, on the right side of everything."""
    law = truncated_normal_law(mean, deviation, most)
    assert law.values[-1] <= most
    if deviation < 1e-6:
        nearest = min(mean, most)
        assert law.mean == pytest.approx(nearest, abs=0.5 + 1e-5)


def test_tiny_deviation_at_a_half_way_point_splits_evenly() -> None:
    """A mean exactly between two delays gives both, however small the deviation is."""
    for deviation in (1e-3, 1e-12, 1e-200):
        assert_close(truncated_normal_law(2.5, deviation, 9), Law([2, 3], [0.5, 0.5]), 1e-12)


def test_truncated_normal_draws_parameters_as_the_paper_says() -> None:
    """Means are exponential with scale 0.2 D: far more than half of the arms are below D / 2."""
    problem = truncated_normal(arms=400, max_delay=50, seed=3)
    deviant = truncated_normal(arms=400, max_delay=50, mean_scale=5.0, seed=3)
    assert np.mean(problem.means < 0.5) > 0.7
    assert deviant.means.mean() > problem.means.mean()


def test_bernoulli_probabilities_are_uniform() -> None:
    """The chance of delay 0 is uniform in [0, 1] over the arms (Kolmogorov-Smirnov)."""
    problem = bernoulli(2000, 10, seed=1)
    assert stats.kstest(problem.means, "uniform").pvalue > 1e-3
    assert all(law.values.tolist() == [0, 10] for law in problem.laws)


def test_bernoulli_takes_given_probabilities() -> None:
    """Each p is the chance of delay 0, also where it is certain or impossible."""
    problem = bernoulli(max_delay=8, probabilities=[0.25, 0, 1])
    assert problem.laws == (Law([0, 8], [0.25, 0.75]), Law([8], [1]), Law([0], [1]))
    assert problem == bernoulli(3, 8, probabilities=[0.25, 0, 1])


def test_shapes_are_scipys() -> None:
    """Gamma, log-normal and Weibull laws equal the discretised distributions of scipy.stats."""
    most = 400
    assert_close(
        shifted_gamma_law(31.7, 1.3, 20.0, most),
        discretise(stats.gamma(1.3, loc=31.7, scale=20), most),
        1e-10,
    )
    assert_close(
        log_normal_mixture_law([(1.0, 80.0, 0.6)], most),
        discretise(stats.lognorm(0.6, scale=80), most),
        1e-10,
    )
    assert_close(
        weibull_law(0.7, 45.0, most), discretise(stats.weibull_min(0.7, scale=45), most), 1e-10
    )


def test_mixture_is_the_weighted_sum_of_its_parts() -> None:
    """A warm and a cold start with probabilities 0.9 and 0.1 add up."""
    most = 300
    parts = [(0.9, 20.0, 0.3), (0.1, 200.0, 0.4)]
    law = log_normal_mixture_law(parts, most)
    dense = np.zeros(most + 1)
    for share, median, sigma in parts:
        part = log_normal_mixture_law([(1.0, median, sigma)], most)
        dense[part.values] += share * part.probabilities
    assert_close(law, Law(np.arange(most + 1), dense), 1e-9)


def test_dwell_means_are_from_20_to_90_seconds() -> None:
    """Before the cut at 600 s the mean dwell time is in the promised range, and reaches it."""
    wide = dwell(200, 20_000, seed=2)
    assert wide.mean_delays.min() > 19.5
    assert wide.mean_delays.max() < 90.5
    assert np.ptp(wide.mean_delays) > 60
    cut = dwell(200, 600, seed=2)
    assert (cut.mean_delays <= wide.mean_delays + 1e-9).all()


def test_dwell_hazard_falls() -> None:
    """Who has stayed longer is less likely to leave in the next ten seconds."""
    for law in dwell(5, seed=4).laws:
        tail = law.survival(np.arange(1, 500, 10))
        assert (np.diff(tail[1:] / tail[:-1]) > 0).all()


def test_weibull_scale_gives_the_mean() -> None:
    """The scale is mean / Gamma(1 + 1/shape)."""
    assert weibull_scale(40, 0.5) * gamma(3) == pytest.approx(40)


def test_survival_medians_are_in_range() -> None:
    """Half of the patients progress between 120 and 720 days."""
    for law in survival(50, 5000, seed=1).laws:
        assert law.survival(119) > 0.5 > law.survival(722)


def test_cdn_round_trips_have_a_floor_and_serverless_a_second_mode() -> None:
    """No round trip beats its path; half of the cold starts, at least 0.25 %, take 600 ms."""
    for law in cdn(seed=5).laws:
        assert law.values[0] >= 4
    for law in serverless(seed=5).laws:
        assert law.survival(600) >= 0.0025


def test_names_find_families_and_instances() -> None:
    """`by_name` knows every registered maker and offers the nearest name otherwise."""
    for name, maker in {**FAMILIES, **HARD}.items():
        assert by_name(name) is maker
        assert maker.__doc__
    with pytest.raises(UnknownNameError, match="did you mean bernoulli"):
        by_name("bernouli")


def test_families_need_no_scipy_stats() -> None:
    """Making every family leaves scipy.stats unloaded: it takes longer than all the rest."""
    code = (
        "import sys, tarry.problems as p; assert 'scipy' not in sys.modules;"
        "[family(2, 50) for family in p.FAMILIES.values()]; print('scipy.stats' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
