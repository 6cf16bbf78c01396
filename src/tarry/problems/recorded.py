"""Problems whose delays are given play by play instead of drawn."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tarry.arrays import IntArray
from tarry.checks import check_whole
from tarry.errors import InputError
from tarry.problems.delays import check_delays, check_max_delay, check_names, column_names
from tarry.problems.law import Law
from tarry.problems.problem import Problem
from tarry.problems.world import World


@dataclass(frozen=True, eq=False, repr=False)
class Replay(Problem):
    """A table of delays: the play of arm k in step s takes table[s - 1, k]. Made by `replay`.

    The laws are those of the columns, so `means` are column means divided by D. The seed of a
    world has no effect, and the horizon is at most the number of rows.
    """

    rows: IntArray = field(kw_only=True)  # int32, never written to

    @property
    def table(self) -> IntArray:
        """The delays, (steps, arms), read-only."""
        view = self.rows.view()
        view.setflags(write=False)
        return view

    @property
    def horizon_limit(self) -> int | None:
        """The number of rows."""
        return int(self.rows.shape[0])

    def _laws_under(self, seed: int) -> World:
        """The table itself; the seed is only checked, not used."""
        check_whole("seed", seed, 0)
        cells, offsets = np.zeros((0, 2), np.int64), np.zeros(self.arms + 1, np.int64)
        return World(cells, offsets, self.rows, 0, 0)

    def _content(self) -> tuple[Any, ...]:
        return type(self), self.max_delay, self.names, self.rows.shape, self.rows.tobytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return replay, (self.rows, self.max_delay, self.names)


def replay(table: Any, max_delay: int, names: Sequence[str] | None = None) -> Replay:
    """A problem that replays a (steps, arms) table of whole numbers from 0 to `max_delay`.

    A data frame of pandas or polars, or a table of pyarrow, names the arms by its columns.

    >>> problem = replay([[3, 0], [1, 4]], max_delay=4)
    >>> problem.horizon_limit, problem.mean_delays
    (2, array([2., 2.]))
    """
    most = check_max_delay(max_delay)
    names = column_names(table) if names is None else names
    delays = check_delays(table, most, in_table)
    if delays.ndim != 2 or delays.size == 0:
        raise InputError(
            f"The table has shape {delays.shape}; it must be (steps, arms), at least (1, 1)."
        )
    laws = [empirical_law(column) for column in delays.T]
    label = f"replay of {len(delays)} steps"
    rows = np.ascontiguousarray(delays, dtype=np.int32)
    return Replay(laws, most, check_names(names, len(laws)), label, rows=rows)


def in_table(position: tuple[int, ...]) -> str:
    """Where in a table a delay stands."""
    return " of arm ".join([f" at step {position[0] + 1}", *map(str, position[1:2])])


def empirical_law(delays: IntArray) -> Law:
    """Each delay with the share of times that it occurs."""
    values, counts = np.unique(delays, return_counts=True)
    return Law(values, counts / len(delays))
