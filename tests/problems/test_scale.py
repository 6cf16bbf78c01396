"""Large D: a million works, and sparse laws do not feel it."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from tarry.problems import Problem, bernoulli, deterministic, from_distributions, load
from tarry.problems.world import draw_delays

MILLION = 10**6


@pytest.fixture(scope="module")
def dense() -> Problem:
    """A gamma law on all of 0..10**6."""
    return from_distributions([stats.gamma(3, scale=1e5)], MILLION)


def test_dense_law_of_a_million_is_exact(dense: Problem) -> None:
    """Mean and tails of the law are those of the clipped gamma distribution."""
    gamma = stats.gamma(3, scale=1e5)
    partial = 3e5 * stats.gamma(4, scale=1e5).cdf(MILLION) + MILLION * gamma.sf(MILLION)
    assert dense.mean_delays[0] == pytest.approx(partial, rel=1e-9)
    ages = np.array([1, 1000, 500_000, MILLION])
    assert dense.survival(0, ages) == pytest.approx(gamma.sf(ages - 0.5), rel=1e-9)


def test_dense_law_of_a_million_is_drawn_rightly(dense: Problem) -> None:
    """Drawn delays follow the distribution (Kolmogorov-Smirnov), the clipped ones included."""
    world = dense.world(3)
    assert world.cells.shape == (MILLION + 1, 2)
    steps = np.arange(1, 20_001)
    delays = draw_delays(world, steps, np.zeros_like(steps))
    assert [world.delay(step, 0) for step in range(1, 50)] == delays[:49].tolist()
    assert stats.kstest(delays[delays < MILLION], stats.gamma(3, scale=1e5).cdf).pvalue > 1e-4


def test_sparse_problems_take_no_memory_of_size_d() -> None:
    """Making, describing and drawing from sparse problems with the largest D stays below 1 MB."""
    most = 2**31 - 2
    bernoulli(2, 10).delays(0, 1, 0)
    tracemalloc.start()
    for problem in (
        bernoulli(30, most),
        deterministic([5, most], most),
        from_distributions([stats.poisson(9)], most),
    ):
        problem.delays(1, np.arange(1, 100), 0)
        assert problem.survival(0, most) <= 1
        assert str(problem)
        assert (problem.means <= 1).all()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_large_problems_go_through_files(dense: Problem, tmp_path: object) -> None:
    """A dense law of a million values is written and read back exactly."""
    path = f"{tmp_path}/p"
    dense.save(path)
    assert load(path) == dense
