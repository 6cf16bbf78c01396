"""Logs from files, tables and lists: what is read, what is left out, what is refused."""

import gzip
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tarry
from tarry.errors import FileError, InputError, TarryError

ROWS: dict[str, list[Any]] = {
    "variant": ["quiz", "essay", "quiz", "essay", "quiz"],
    "seconds": [12.5, 600.0, 30.0, 7.25, 700.0],
    "done": [True, False, False, True, False],
}
COLUMNS: Any = {"arm": "variant", "time": "seconds", "finished": "done", "max_delay": 600}


def written(path: Path, text: str, encoding: str = "utf-8") -> Path:
    """A file with this text."""
    path.write_bytes(text.encode(encoding))
    return path


def as_csv(delimiter: str = ",", comma: str = ".", yes: str = "true", no: str = "false") -> str:
    """The rows as CSV."""
    lines = [delimiter.join(ROWS)]
    for arm, time, done in zip(*ROWS.values(), strict=True):
        cells = [arm, f"{time:g}".replace(".", comma), yes if done else no]
        lines.append(delimiter.join(map(str, cells)))
    return "\n".join(lines) + "\n"


def check(log: tarry.Log) -> None:
    """It is the log of ROWS, with times above D finished at D."""
    assert log.names == ("quiz", "essay")
    assert log.arms.tolist() == [0, 1, 0, 1, 0]
    assert log.times.tolist() == [12.5, 600.0, 30.0, 7.25, 600.0]
    assert log.finished.tolist() == [True, True, False, True, True]
    assert log.bad.number == 0


@pytest.mark.parametrize(
    "text",
    [
        as_csv(),
        as_csv(";", ","),
        as_csv("\t", yes="yes", no="No"),
        as_csv("|", yes="1", no="0"),
        "\ufeff" + as_csv(yes="True", no="FALSE"),
        as_csv().replace("\n", "\r\n") + "\r\n",
        as_csv(";").replace("variant", '"variant"'),
        as_csv().replace("\n", "\r"),
    ],
    ids=["comma", "semicolon", "tab", "bar", "mark", "windows", "quoted", "old mac"],
)
def test_csv_dialects(text: str, tmp_path: Path) -> None:
    """Delimiters, decimal commas, byte order marks, line ends and words for yes and no."""
    check(tarry.Log.read(written(tmp_path / "visits.csv", text), **COLUMNS))


def test_other_files_and_encodings(tmp_path: Path) -> None:
    """UTF-16, a named encoding, gzip, and Parquet."""
    check(tarry.Log.read(str(written(tmp_path / "a.csv", as_csv(), "utf-16")), **COLUMNS))
    latin = as_csv().replace("essay", "résumé")
    path = written(tmp_path / "b.csv", latin, "latin-1")
    assert tarry.Log.read(path, **COLUMNS, encoding="latin-1").names == ("quiz", "résumé")
    packed = tmp_path / "c.csv.gz"
    packed.write_bytes(gzip.compress(as_csv().encode()))
    check(tarry.Log.read(packed, **COLUMNS))
    pl.DataFrame(ROWS).write_parquet(tmp_path / "d.parquet")
    check(tarry.Log.read(tmp_path / "d.parquet", **COLUMNS))


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(ROWS),
        pl.DataFrame(ROWS),
        pa.table(ROWS),
        ROWS,
        {name: np.array(column) for name, column in ROWS.items()},
        [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)],
    ],
    ids=["pandas", "polars", "pyarrow", "lists", "arrays", "dicts"],
)
def test_tables(table: Any) -> None:
    """DataFrames, Arrow tables, columns and rows."""
    check(tarry.Log.read(table, **COLUMNS))


def test_durations_and_starts_of_data_frames() -> None:
    """Times may be timedeltas, in seconds; starts may be dates, and put the rows in order."""
    noon = datetime(2024, 5, 1, 12, 0)  # noqa: DTZ001  # a log need not know its zone
    table = {
        "arm": ["b", "a"],
        "time": [timedelta(seconds=90), timedelta(seconds=5)],
        "begun": [noon + timedelta(hours=1), noon],
        "device": ["phone", "desktop"],
    }
    for frame in (pd.DataFrame(table), pl.DataFrame(table), table):
        log = tarry.Log.read(
            frame,
            arm="arm",
            time="time",
            finished=True,
            max_delay=600,
            start="begun",
            context=["device"],
        )
        assert log.names == ("a", "b")
        assert log.times.tolist() == [5.0, 90.0]
        assert log.starts is not None
        assert np.diff(log.starts).tolist() == [3600.0]
        assert log.context == {"device": ["desktop", "phone"]}
    text = {**table, "begun": ["2024-05-01T13:00", "2024-05-01"]}
    assert tarry.Log.read(
        text, arm="arm", time="time", finished=True, max_delay=9, start="begun"
    ).names == ("a", "b")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("quiz,,yes", "line 3: the time is empty"),
        ("quiz,n/a,yes", "line 3: the time is 'n/a', not a number"),
        ("quiz,-4,yes", "line 3: the time is '-4', not a number from 0 on"),
        ("quiz,nan,yes", "not a number from 0 on"),
        ("quiz,inf,yes", "not a number from 0 on"),
        ('quiz,"1,5",yes', "the time is '1,5', not a number"),
        ("quiz,1_000,yes", "the time is '1_000', not a number"),
        (",4,yes", "line 3: the arm is empty"),
        ("quiz,4,maybe", "finished is 'maybe', not one of true, false, yes, no, 1, 0"),
        ("quiz,4", "line 3 has 2 fields, the header 3"),
    ],
)
def test_bad_rows_are_counted_and_quoted(row: str, said: str, tmp_path: Path) -> None:
    """A row that is no play is left out, counted, and the first one is shown."""
    text = f"variant,seconds,done\nquiz,3,yes\n{row}\n{row}\n"
    log = tarry.Log.read(written(tmp_path / "visits.csv", text), **COLUMNS)
    assert (len(log), log.bad.number) == (1, 2)
    assert said in log.bad.first
    assert f"2 bad rows were left out; the first: {log.bad.first}." in log.summary("reward")


def test_empty_cells_of_data_frames_are_bad_rows() -> None:
    """None, NaN and NA are no plays, and do not turn whole numbers into other arms."""
    frame = pd.DataFrame({"variant": [1, 2, None], "seconds": [1.0, None, 3.0], "done": [1, 0, 1]})
    log = tarry.Log.read(frame, **COLUMNS)
    assert (log.names, log.bad.number) == (("1",), 2)
    frame["done"] = pd.array([True, None, True], dtype="boolean")
    frame["seconds"] = 1.0
    assert tarry.Log.read(frame, **COLUMNS).bad.first.startswith("row 2: finished is")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"arm": "page"}, "There is no column 'page'; the columns are variant, seconds, done."),
        ({"max_delay": 0}, "The max_delay is 0; it must be a positive number."),
        ({"finished": False}, "finished is False; name a column"),
        ({"time": 3}, "A column is 3; it must be named by a string."),
        ({"context": ["device"]}, "There is no column 'device'"),
    ],
)
def test_bad_arguments_are_one_sentence(change: dict[str, Any], said: str) -> None:
    """What was wrong, and what is there."""
    with pytest.raises(InputError) as caught:
        tarry.Log.read(ROWS, **{**COLUMNS, **change})
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (7, "The log is 7; it must be a path of a CSV or Parquet file"),
        ([], "The log is []"),
        ({**ROWS, "done": [True]}, "The columns have different lengths"),
        ({**ROWS, "done": "yes"}, "The column 'done' is 'yes'; it must be a list."),
        ({name: [] for name in ROWS}, "The log has no rows."),
        ({**ROWS, "seconds": ["?"] * 5}, "The log has no plays. 5 bad rows were left out; the"),
    ],
)
def test_bad_tables_are_one_sentence(source: Any, said: str) -> None:
    """What cannot be a log is refused."""
    with pytest.raises(InputError) as caught:
        tarry.Log.read(source, **COLUMNS)
    assert str(caught.value).startswith(said)


def test_bad_files_are_one_sentence(tmp_path: Path) -> None:
    """Missing, cut short, in an unknown encoding, a spreadsheet, or no CSV."""
    pl.DataFrame(ROWS).write_parquet(tmp_path / "cut.parquet")
    whole = (tmp_path / "cut.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "cut.gz").write_bytes(gzip.compress(as_csv().encode())[:20])
    written(tmp_path / "latin.csv", as_csv().replace("essay", "é"), "latin-1")
    (tmp_path / "sheet.xlsx").write_bytes(b"PK\x03\x04")
    written(tmp_path / "empty.csv", "\n")
    written(tmp_path / "long.csv", as_csv() + '"' + "x" * 200_000)
    cases = {
        "none.csv": "The log '{}' cannot be read: No such file or directory.",
        "cut.parquet": "The log '{}' is no complete Parquet file:",
        "cut.gz": "The log '{}' is no complete gzip file:",
        "latin.csv": "'latin.csv' is not UTF-8 text (byte 0xe9 in line 3); save it as UTF-8",
        "empty.csv": "'empty.csv' is empty; it must have a header and one row per play.",
        "long.csv": "'long.csv' is no CSV in line 7: field larger than field limit",
        "sheet.xlsx": "'sheet.xlsx' is a spreadsheet; save it as CSV, which tarry reads.",
    }
    for name, said in cases.items():
        with pytest.raises(TarryError) as caught:
            tarry.Log.read(tmp_path / name, **COLUMNS)
        assert str(caught.value).startswith(said.format(tmp_path / name))
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="no encoding 'klingon'"):
        tarry.Log.read(tmp_path / "latin.csv", **COLUMNS, encoding="klingon")
    with pytest.raises(FileError):
        tarry.Log.read(tmp_path, **COLUMNS)


def test_lists() -> None:
    """Lists of arms, times and ends; of different lengths they are refused."""
    check(tarry.Log.of(ROWS["variant"], ROWS["seconds"], ROWS["done"], max_delay=600))
    assert tarry.Log.of(["a"], [3], finished=True, max_delay=4).finished.all()
    with pytest.raises(InputError, match="have the lengths 1, 2; there must be"):
        tarry.Log.of(["a"], [3, 4], [True], max_delay=4)
