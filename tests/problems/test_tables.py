"""Problems from tables as people have them: masks, data frames with gaps, indexes, weights of 0."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tarry.errors import InputError
from tarry.problems import from_samples, from_table, replay

ROWS = [[1, 2], [3, 4]]
HIDDEN = np.ma.array([[1.0], [5.0]], mask=[[False], [True]])
GAPS: dict[str, Any] = {
    "a mask": HIDDEN,
    "masked rows": [HIDDEN[0], HIDDEN[1]],
    "a mask of whole numbers": HIDDEN.astype(int),
    "NA beside numbers": pd.DataFrame({"size": [1, pd.NA]}),
    "a column that may lack values": pd.DataFrame({"size": pd.array([1, None], "Int64")}),
    "pyarrow": pa.table({"size": [1, None]}),
}


@pytest.mark.parametrize("features", GAPS.values(), ids=GAPS)
def test_what_is_hidden_or_not_there_is_missing(features: object) -> None:
    """A feature that a table says it does not know is NaN."""
    known, gap = from_table(features, ROWS, 9).features[:, 0].tolist()
    assert known == 1.0
    assert math.isnan(gap)


def test_a_gap_does_not_spoil_other_columns() -> None:
    """Columns of several types beside each other are numbers all the same."""
    mixed = pd.DataFrame({"size": [0.5, 2.0], "age": pd.array([3, None], "Int64")})
    problem = from_table(mixed, ROWS, 9)
    assert problem.columns == ("size", "age")
    assert problem.features[0].tolist() == [0.5, 3.0]
    assert problem.features[1, 0] == 2.0


@pytest.mark.parametrize(
    "times",
    [
        np.ma.array(ROWS, mask=[[False, False], [False, True]]),
        pd.DataFrame({"0": [1, 3], "1": pd.array([2, None], "Int64")}),
        pa.table({"0": [1, 3], "1": [2, None]}),
    ],
    ids=["mask", "pandas", "pyarrow"],
)
def test_a_time_that_is_missing_is_refused(times: object) -> None:
    """Every time must be known, whatever a table has for one that is not."""
    with pytest.raises(InputError, match=r"row 2 \(counted from 1\) of arm '?1'? is missing"):
        from_table([[1.0], [2.0]], times, 9)


def test_tables_of_pyarrow_name_what_they_have() -> None:
    """Features and arms are called as their columns are, in every builder that takes a table."""
    times = pa.table({"fra": [1, 3], "ams": [2, 4]})
    problem = from_table(pa.table({"size": [1.5, 2.5]}), times, 9)
    assert (problem.columns, problem.names) == (("size",), ("fra", "ams"))
    assert problem.context_means.tolist() == [[1 / 9, 2 / 9], [3 / 9, 4 / 9]]
    assert replay(times, 9).names == from_samples(times, 9).names == ("fra", "ams")


def test_a_mask_hides_a_delay_everywhere() -> None:
    """What is hidden is no delay of a replay either, and no sample."""
    times: Any = np.ma.array(ROWS, mask=[[False, False], [False, True]])
    makers: list[Callable[[], Any]] = [
        lambda: replay(times, 9),
        lambda: from_samples([times[0], times[1]], 9),
    ]
    for make in makers:
        with pytest.raises(InputError, match="nan; delays must be whole"):
            make()
    frame: Any = pd.DataFrame({"fra": [1, pd.NA], "ams": [2, 4]})
    assert from_samples(frame, 9).mean_delays.tolist() == [1.0, 3.0]


def numbered(index: list[int]) -> Callable[[Any], Any]:
    """Data frames with this index."""
    return lambda cells: pd.DataFrame(cells, index=index)


def test_rows_in_different_orders_are_refused() -> None:
    """Where indexes differ, nobody knows which rows belong together; the first is named."""
    here, there = numbered([7, 8]), numbered([7, 9])
    with pytest.raises(
        InputError, match=r"Row 2 \(counted from 1\) has index 8 in the features and 9 in the times"
    ):
        from_table(here([[1.0], [2.0]]), there(ROWS), 9)
    with pytest.raises(InputError, match=r"index 8 in the times and 9 in the weights"):
        from_table([[1.0], [2.0]], here(ROWS), 9, weights=there([1, 2])[0])
    problem = from_table(here([[1.0], [2.0]]), here(ROWS), 9, weights=here([1, 3])[0])
    assert problem.weights.tolist() == [0.25, 0.75]
    assert problem == from_table(
        here([[1.0], [2.0]]).to_numpy(), ROWS, 9, ["0", "1"], weights=[1, 3]
    )


def test_a_context_without_weight_never_comes() -> None:
    """A row with weight 0 is there and not drawn: means are those of the others."""
    problem = from_table([[1.0], [2.0], [3.0]], [[1], [9], [5]], 9, weights=[3, 0, 1])
    assert problem.mean_delays.tolist() == [2.0]
    assert sorted(set(problem.contexts(1, np.arange(1, 20_001)).tolist())) == [0, 2]
    assert from_table([[1.0], [2.0]], [[1], [9]], 9, weights=[0, 2]).means.tolist() == [1.0]
    with pytest.raises(InputError, match="not all of them 0"):
        from_table([[1.0]], [[1]], 9, weights=[0])
