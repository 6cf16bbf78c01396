"""Large D: a million works, and sparse laws do not feel it."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from tarry.arrays import FloatArray, IntArray
from tarry.problems import (
    Problem,
    alias,
    bernoulli,
    deterministic,
    from_distributions,
    from_table,
    load,
)
from tarry.problems.alias import alias_cells
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


def test_many_contexts_have_few_laws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of run times has a law for each different time, and each is prepared once."""
    rows = np.arange(6000)
    times = np.stack([rows % 7, rows % 5], 1)
    problem = from_table(rows[:, None], times, 9)
    assert len({id(law) for law in problem.context_laws}) == 7
    prepared: list[int] = []

    def watched(values: IntArray, probabilities: FloatArray) -> IntArray:
        prepared.append(len(values))
        return alias_cells(values, probabilities)

    monkeypatch.setattr(alias, "alias_cells", watched)
    steps = np.arange(1, 1001)
    drawn = problem.delays(3, steps, 1)
    assert len(prepared) == 7
    assert (drawn == problem.contexts(3, steps) % 5).all()
