"""Replayed tables."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tarry.arrays import IntArray
from tarry.errors import InputError
from tarry.problems import replay

TABLES = hnp.arrays(
    np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=12), elements=st.integers(0, 9)
)


@given(TABLES, st.integers(0, 5))
def test_delays_are_those_of_the_table(table: IntArray, seed: int) -> None:
    """The play of arm k in step s takes table[s - 1, k], whatever the seed."""
    problem = replay(table, 9)
    steps, arms = table.shape
    world = problem.world(seed)
    grid = problem.delays(seed, np.arange(1, steps + 1)[:, None], np.arange(arms))
    assert np.array_equal(grid, table)
    assert [world.delay(1, arm) for arm in range(arms)] == table[0].tolist()
    assert world.delay(steps, arms - 1) == table[-1, -1]


@given(TABLES)
def test_means_and_laws_are_those_of_the_columns(table: IntArray) -> None:
    """Exact quantities of a table are those of its columns."""
    problem = replay(table, 9)
    assert problem.means == pytest.approx(table.mean(axis=0) / 9, rel=1e-14)
    assert problem.survival(0, 4) == pytest.approx(np.mean(table[:, 0] >= 4), abs=1e-14)
    assert problem.horizon_limit == len(table)


def test_equality_looks_at_the_order_of_the_rows() -> None:
    """Tables with the same columns in another order are different problems."""
    problem = replay([[1, 2], [3, 4]], 4, names=["a", "b"])
    assert problem == replay(np.array([[1, 2], [3, 4]], dtype=np.int8), 4, names=["a", "b"])
    assert problem != replay([[3, 4], [1, 2]], 4, names=["a", "b"])
    carried = pickle.loads(pickle.dumps(problem))  # noqa: S301 - our own bytes
    assert carried == problem
    assert hash(carried) == hash(problem)


def test_table_is_kept_apart_from_its_source() -> None:
    """Changing the array that was given changes nothing, and the table itself is read-only."""
    source = np.array([[1, 2]], dtype=np.int32)
    problem = replay(source, 4)
    source[0, 0] = 4
    assert problem.table.tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="read-only"):
        problem.table[0, 0] = 3


def test_steps_beyond_the_table_are_refused() -> None:
    """There is no delay after the last row."""
    with pytest.raises(InputError, match="One of the steps is 3; each must be from 1 to 2"):
        replay([[1], [2]], 4).delays(0, [1, 2, 3], 0)


def test_replay_prints_itself() -> None:
    """The label tells the length of the table."""
    assert repr(replay([[1, 2]] * 3, 4)) == "<Problem replay of 3 steps: 2 arms, max_delay 4>"


def test_whole_floats_are_whole() -> None:
    """A table read from a file of floats is fine as long as every delay is whole."""
    assert replay([[1.0, 2.0]], 4) == replay([[1, 2]], 4)
