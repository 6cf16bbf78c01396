"""Tables that could be read in two ways are refused, and rows that do not fit are counted."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tarry
from tarry.errors import InputError


def read(tmp_path: Path, text: str, **more: Any) -> tarry.Log:
    """The log in a CSV with this text, whose columns are a and t."""
    path = tmp_path / "visits.csv"
    path.write_text(text, encoding="utf-8")
    options = {"arm": "a", "time": "t", "finished": True, "max_delay": 2000, **more}
    return tarry.Log.read(path, **options)


def test_rows_of_another_width_are_bad_rows(tmp_path: Path) -> None:
    """Too many fields or too few; empty ones at the end do no harm."""
    log = read(tmp_path, "a,t\nx,1,5\nx,2,5\n\ny,9,5\ny,4\ny\nx,7,,\n")
    assert log.times.tolist() == [4.0, 7.0]
    assert log.bad == (4, "line 2 has 3 fields, the header 2")
    assert read(tmp_path, "a,t,\nx,1\ny\n").bad == (1, "line 3 has 1 field, the header 2")
    note = read(tmp_path, 'a,t,n\nx,1,"two\nlines"\ny,?,\n')
    assert note.bad == (1, "line 4: the time is '?', not a number")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "t,f,a\n2,1,yes,x\n3,1,yes,x\n4,0,no,y",
            "Every row of 'visits.csv' has more fields than the header (line 2 has 4, the header 3",
        ),
        ('a,t\nx,1\n"y,2\nx,3\n', "A quote opens in line 3 of 'visits.csv' and is not closed"),
        ('a,t\n"x","1"\n"y","2\n"x","3"\n', "A quote opens in line 3 of 'visits.csv'"),
        ('a,t\nx,1\n"y,2' + "\nx,3" * 40_000, "A quote opens in line 3 of 'visits.csv'"),
        ('a,t\nx,1\ny,"2', "A quote opens in line 3 of 'visits.csv'"),
        ("a;t\nx;1.234\nx;999,5", "The column with the time has both '1.234' and '999,5'; all"),
        ("a,t,t\nx,1,2", "There are 2 columns 't'; a column that is asked for must have"),
    ],
)
def test_doubtful_files_are_refused(text: str, said: str, tmp_path: Path) -> None:
    """In one sentence that says where."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_a_repeated_name_that_nobody_asks_for_does_no_harm(tmp_path: Path) -> None:
    """Only a name that is asked for must be alone."""
    assert len(read(tmp_path, "a,t,n,n\nx,1,2,3")) == 1


EAST = timezone(timedelta(hours=5))


@pytest.mark.parametrize(
    "begun",
    [
        ["2024-05-01T10:00:00+05:00", "2024-05-01T06:00:00Z"],
        [datetime(2024, 5, 1, 10, tzinfo=EAST), datetime(2024, 5, 1, 6, tzinfo=UTC)],
        [pd.Timestamp("2024-05-01T10:00+05:00"), pd.Timestamp("2024-05-01T06:00Z")],
    ],
    ids=["text", "datetime", "pandas"],
)
def test_starts_are_compared_in_utc(begun: list[Any]) -> None:
    """Ten in the east is before six in Greenwich."""
    log = tarry.Log.of(["b", "a"], [1, 2], finished=True, max_delay=9, start=begun[::-1])
    assert log.names == ("a", "b")
    assert log.starts is not None
    assert np.diff(log.starts).tolist() == [3600.0]


@pytest.mark.parametrize(
    "begun",
    [
        ["2024-05-01T10:00:00+05:00", "2024-05-01T06:00:00"],
        ["2024-05-01", "17"],
        [pd.Timestamp("2024-05-01"), 3.5],
    ],
)
def test_starts_of_two_kinds_are_refused(begun: list[Any]) -> None:
    """Nobody can say which is the earlier."""
    with pytest.raises(InputError, match=r"^The starts are .* and .*; they must be of one kind\.$"):
        tarry.Log.of(["b", "a"], [1, 2], finished=True, max_delay=9, start=begun)


def test_tables_that_are_none_yet() -> None:
    """A LazyFrame, a repeated column, an array with two dimensions."""
    columns: Any = {"arm": "a", "time": "t", "finished": True, "max_delay": 9}
    with pytest.raises(InputError, match=r"LazyFrame, which holds no rows yet; call its .collect"):
        tarry.Log.read(pl.LazyFrame({"a": ["x"], "t": [1]}), **columns)
    with pytest.raises(InputError, match="There are 2 columns 't'"):
        tarry.Log.read(pd.DataFrame([["x", 1, 2]], columns=["a", "t", "t"]), **columns)
    with pytest.raises(InputError, match="The column 't' has 2 dimensions; it must be a list"):
        tarry.Log.read({"a": ["x"], "t": np.ones((1, 2))}, **columns)
    with pytest.raises(InputError, match="The list 'times' has 2 dimensions; it must be a list"):
        tarry.Log.of(["x"], np.ones((1, 2)), finished=True, max_delay=9)
