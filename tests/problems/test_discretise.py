"""Exact discretisation: rounding half to even and clipping, computed from the cdf."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tarry.arrays import FloatArray
from tarry.errors import InputError
from tarry.problems import Law, discretise
from tarry.problems.discretise import first_true

CONTINUOUS: dict[str, Any] = {
    "exponential": stats.expon(scale=30),
    "normal across 0": stats.norm(3, 10),
    "normal above D": stats.norm(150, 20),
    "weibull": stats.weibull_min(0.6, scale=40),
    "gamma": stats.gamma(2.5, loc=10, scale=8),
    "lognormal": stats.lognorm(1.2, scale=20),
    "uniform": stats.uniform(20.3, 40),
    "narrow": stats.norm(41.4, 0.05),
    "cauchy": stats.cauchy(50, 5),
    "histogram": stats.rv_histogram(np.histogram([1, 5, 5, 9, 70], bins=7)),
}
DISCRETE: dict[str, Any] = {
    "poisson": stats.poisson(17),
    "binomial": stats.binom(120, 0.7),
    "halves": stats.binom(20, 0.4, loc=0.5),
    "negative halves": stats.geom(0.1, loc=-3.5),
    "quarter": stats.poisson(4, loc=0.25),
    "given": stats.rv_discrete(values=([0, 7, 400], [0.2, 0.5, 0.3])),
}
D = 100


def probability(law: Law, delay: int) -> float:
    """P(d = delay)."""
    return float(law.probabilities[law.values == delay].sum())


@pytest.mark.parametrize("distribution", CONTINUOUS.values(), ids=CONTINUOUS)
def test_continuous_law_has_the_cdf_at_the_cuts(distribution: Any) -> None:
    """P(d <= k) is F(k + 1/2) for every k below D, and nothing is beyond D."""
    law = discretise(distribution, D)
    sums = np.array([law.probabilities[law.values <= k].sum() for k in range(D)])
    assert sums == pytest.approx(distribution.cdf(np.arange(D) + 0.5), abs=1e-14)
    assert law.values[-1] <= D


@pytest.mark.parametrize("distribution", DISCRETE.values(), ids=DISCRETE)
def test_discrete_law_rounds_each_atom_half_to_even(distribution: Any) -> None:
    """Every atom goes to where Python's round puts it, clipped to 0..D."""
    expected: Counter[int] = Counter()
    start = np.floor(distribution.support()[0])
    for offset in range(500):
        for atom in start + offset + np.array([0, 0.25, 0.5]):
            expected[min(max(round(atom), 0), D)] += distribution.pmf(atom)
    law = discretise(distribution, D)
    for delay in range(D + 1):
        assert probability(law, delay) == pytest.approx(expected[delay], abs=1e-13)


def test_inexact_halves_count_as_halves() -> None:
    """An atom that misses a half-way point only by a rounding error is rounded to even."""
    almost = 0.7 - 0.2
    assert almost != 0.5
    wanted = discretise(stats.poisson(30, loc=0.5), D)
    law = discretise(stats.poisson(30, loc=almost), D)
    assert law.values.tolist() == wanted.values.tolist()
    assert law.probabilities == pytest.approx(wanted.probabilities, rel=1e-9)


@pytest.mark.parametrize("name", ["gamma", "normal across 0", "lognormal", "poisson"])
def test_law_is_that_of_rounded_samples(name: str) -> None:
    """Samples that are rounded and clipped follow the law (chi-square, fixed seed)."""
    distribution = {**CONTINUOUS, **DISCRETE}[name]
    law = discretise(distribution, D)
    samples = distribution.rvs(100_000, random_state=np.random.default_rng(5))
    counts = np.bincount(np.clip(np.rint(samples), 0, D).astype(int), minlength=D + 1)
    expected = np.zeros(D + 1)
    expected[law.values] = law.probabilities * len(samples)
    usual = expected >= 5
    seen = np.append(counts[usual], counts[~usual].sum())
    wanted = np.append(expected[usual], expected[~usual].sum())
    seen, wanted = seen[wanted > 0], wanted[wanted > 0]
    assert stats.chisquare(seen, wanted * seen.sum() / wanted.sum()).pvalue > 1e-4


def test_upper_tail_keeps_its_relative_precision() -> None:
    """Far above the median, where 1 - F is below the resolution of F, probabilities are right."""
    law = discretise(stats.expon(scale=2), D)
    ratio = law.probabilities[2:-1] / law.probabilities[1:-2]
    assert ratio == pytest.approx(np.exp(-0.5), rel=1e-9)
    assert probability(law, D) == pytest.approx(np.exp(-(D - 0.5) / 2), rel=1e-12)


def test_lower_tail_keeps_its_relative_precision() -> None:
    """The same far below the median."""
    mirrored = discretise(stats.norm(60, 2), 120)
    assert mirrored.probabilities == pytest.approx(mirrored.probabilities[::-1], rel=1e-9)


def test_law_is_sparse_where_the_distribution_is() -> None:
    """A narrow distribution costs no memory of size D, however large D is."""
    law = discretise(stats.randint(5, 9), 2**31 - 2)
    assert law == Law([5, 6, 7, 8], [0.25] * 4)
    assert len(discretise(stats.norm(10**9, 1), 2**31 - 2).values) < 100


def test_everything_outside_is_clipped() -> None:
    """A distribution below 0 is the delay 0, one above D is the delay D."""
    assert discretise(stats.uniform(-9, 3), D) == Law([0], [1])
    assert discretise(stats.uniform(500, 3), D) == Law([D], [1])
    assert discretise(stats.uniform(-1, 2), 1) == Law([0, 1], [0.75, 0.25])


def test_new_scipy_distributions_are_taken() -> None:
    """Objects with `ccdf` instead of `sf` work, as scipy's newer distributions have it."""

    class Newer:
        def cdf(self, x: FloatArray) -> Any:
            return stats.norm.cdf(x, 30, 3)

        def ccdf(self, x: FloatArray) -> Any:
            return stats.norm.sf(x, 30, 3)

    assert discretise(Newer(), D) == discretise(stats.norm(30, 3), D)


def test_new_discrete_distributions_are_not_read_between_the_integers() -> None:
    """A discrete cdf that interpolates, as scipy's newer ones do, is read at integers only."""

    class DiscreteDistribution:
        def cdf(self, x: FloatArray) -> Any:
            return np.interp(x, np.arange(D), stats.poisson.cdf(np.arange(D), 9))

        def ccdf(self, x: FloatArray) -> Any:
            return np.interp(x, np.arange(D), stats.poisson.sf(np.arange(D), 9))

    assert discretise(DiscreteDistribution(), D) == discretise(stats.poisson(9), D)


@pytest.mark.parametrize(
    ("distribution", "words"),
    [
        (5, "must have the methods cdf and sf"),
        (stats.norm(5, -1), "cdf of the distribution returns nan"),
        (stats.norm([5, 6], 1), "one number from 0 to 1 for each delay"),
        (stats.uniform(0, 2**30), "coarser unit"),
    ],
)
def test_unusable_distributions_are_refused(distribution: Any, words: str) -> None:
    """No distribution, wrong parameters, several at once, and far too many values."""
    with pytest.raises(InputError, match=words):
        discretise(distribution, 2**31 - 2)


@pytest.mark.parametrize("end", [1, 2, 256, 257, 258, 10_000, 2**31])
def test_search_finds_the_first_true(end: int) -> None:
    """The search over a monotone test finds every first position, or the end."""
    for first in {0, 1, end // 3, end - 1, end}:
        if first <= end:
            assert first_true(lambda k, first=first: k >= first, end) == first  # type: ignore[misc]
