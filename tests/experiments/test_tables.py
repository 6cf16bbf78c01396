"""What a result says in tables: paired differences, intervals, data frames."""

import csv
import io
import json
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tarry
from tarry.errors import InputError, MissingExtraError, UnknownNameError
from tarry.experiments.curves import curve_of, final_row, student
from tarry.tables import csv_text, json_text

from .small import compare_small, result_from


def two_policies() -> tarry.Result:
    """Regrets that differ by 2, 4 and 6 on one problem and not at all on the other."""
    return result_from(
        {
            "easy": {"A": [1.0, 20.0, 300.0], "B": [3.0, 24.0, 306.0]},
            "hard": {"A": [5.0, 7.0, 9.0], "B": [5.0, 7.0, 9.0]},
        }
    )


def test_differences_are_paired() -> None:
    """Mean and interval are those of the run-by-run differences, by Student's t."""
    table = two_policies().differences("A", "B")
    easy, hard = table
    half = 4.302652729911275 * 2 / 3**0.5
    assert (easy.mean, easy.low, easy.high) == pytest.approx((-4, -4 - half, -4 + half))
    assert (easy.less, easy.sign, easy.runs) == (1.0, 0, 3)
    assert (hard.mean, hard.low, hard.high, hard.less, hard.sign) == (0, 0, 0, 0, 0)
    assert "easy" in str(table)
    only = two_policies().differences("B", "A", "easy")
    assert str(only).splitlines()[0].split()[:2] == ["regret", "of"]


def test_unknown_names_are_refused() -> None:
    """A policy or a problem that is not in the result is named, with those that come near it."""
    with pytest.raises(UnknownNameError, match="no policy named 'C'"):
        two_policies().differences("A", "C")
    with pytest.raises(UnknownNameError, match="no problem named 'easier'; did you mean easy"):
        two_policies().differences("A", "B", "easier")


@pytest.mark.parametrize("quantiles", [0.5, "0.5", [1.5], ["x"]])
def test_quantiles_that_are_none_are_refused(quantiles: Any) -> None:
    """One sentence, for a number in place of a list too."""
    with pytest.raises(InputError, match="from 0 to 1"):
        two_policies().final(quantiles=quantiles)


def test_first_runs_are_what_fewer_runs_give() -> None:
    """The first two of three runs are the result of two runs."""
    assert compare_small(runs=3).first(2) == compare_small(runs=2)
    with pytest.raises(InputError, match=r"number of runs is 4; .* from 1 to 3"):
        compare_small(runs=3).first(4)


def test_intervals_of_regret_stay_positive() -> None:
    """However skewed the runs are, no interval of a positive mean reaches below 0."""
    regrets = np.array([[1.0], [1.0], [2.0], [400.0]])
    curve = curve_of(np.ones(1, np.int64), regrets)
    assert 0 < curve.low[0] < curve.mean[0] < curve.high[0]
    assert curve.mean[0] ** 2 == pytest.approx(curve.low[0] * curve.high[0])
    assert final_row("", "", np.zeros(5))[2:6] == (0, 0, 0, 0)


def test_positive_intervals_hold_as_often() -> None:
    """Of four exponential regrets they cover the mean at least as often as Student's do."""
    regrets = np.random.default_rng(3).exponential(size=(4, 4000))
    curve = curve_of(np.arange(1, 4001), regrets)
    half = student(3) * curve.std / 2
    assert np.all(curve.low > 0)
    assert np.mean(half >= curve.mean) > 0.1
    plain = np.mean(np.abs(curve.mean - 1) < half)
    assert np.mean((curve.low < 1) & (curve.high > 1)) >= plain - 0.005


def test_tables_become_data_frames() -> None:
    """Every table has its rows as pandas and polars data frames, with the names of the fields."""
    result = compare_small()
    for table, heads in (
        (result.final(), {"problem", "policy", "mean", "std", "low", "high", "runs"}),
        (result.differences("SE", "Uniform"), {"problem", "policy", "other", "mean", "less"}),
    ):
        here, there = table.to_pandas(), table.to_polars()
        assert isinstance(here, pd.DataFrame)
        assert isinstance(there, pl.DataFrame)
        assert heads <= set(here.columns) == set(there.columns)
        assert len(here) == len(there) == len(table)
    frame = result.to_pandas()
    assert frame.groupby(["policy", "run"], observed=True).regret.last().min() > 0
    assert result.to_polars().shape == frame.shape == (2 * 3 * 20, 11)


def test_missing_library_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pandas the sentence says how to install it."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"needs pandas, .* pip install 'tarry\[tables\]'"):
        two_policies().final().to_pandas()


def test_tables_as_text_for_programs() -> None:
    """CSV and JSON have every row; what is no number is empty or null."""
    records: list[dict[str, Any]] = [{"a": 1.5, "b": "x, y"}, {"a": float("nan"), "b": None}]
    first, _ = csv.DictReader(io.StringIO(csv_text(records)))
    assert first == {"a": "1.5", "b": "x, y"}
    assert json.loads(json_text(records)) == [{"a": 1.5, "b": "x, y"}, {"a": None, "b": None}]
