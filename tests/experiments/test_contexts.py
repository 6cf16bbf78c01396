"""Worlds with contexts in comparisons, from Python and from plain tables."""

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tarry
from tarry.cli import main
from tarry.errors import InputError, UnknownNameError
from tarry.experiments.experiment import problem_digest
from tarry.experiments.from_text import experiment_from, problem_from
from tarry.problems import Contextual

PART = {"family": "bernoulli", "arms": 2, "max_delay": 20}
SEGMENTS = {
    "family": "segments",
    "weights": [3, 1],
    "segments": {"phone": PART, "desktop": PART},
}


def test_families_with_contexts_are_compared_by_name() -> None:
    """A table that names such a family gives runs whose regret is against each context's best."""
    table = {
        "policies": ["Uniform"],
        "payoff": "cost",
        "problem": {"family": "log_linear", "arms": 2, "features": 1, "max_delay": 20},
        "runs": 1,
        "horizon": 200,
    }
    case = experiment_from(table).cases[0]
    problem = case.draw(0)
    assert isinstance(problem, Contextual)
    assert "log_linear(" in case.name


def test_segments_from_a_table() -> None:
    """Each segment has a problem of its own, drawn anew for each run where it has no seed."""
    source = problem_from(SEGMENTS)
    assert callable(source)
    one, other = source(0), source(1)
    assert isinstance(one, Contextual)
    assert one.weights.tolist() == [0.75, 0.25]
    assert one != other
    assert len(set(one.context_laws)) == 4
    fixed = {name: {**PART, "seed": seed} for seed, name in enumerate(("phone", "desktop"))}
    always = problem_from({**SEGMENTS, "segments": fixed})
    assert isinstance(always, Contextual)
    assert always == tarry.problems.segments(
        {n: tarry.problems.bernoulli(2, 20, i) for i, n in enumerate(fixed)}, [3, 1]
    )


def test_bad_segments_are_refused() -> None:
    """In one sentence."""
    with pytest.raises(InputError, match="give segments, a table of problems, and weights if"):
        problem_from({"family": "segments"})
    with pytest.raises(UnknownNameError, match="'weight'; did you mean weights"):
        problem_from({**SEGMENTS, "weight": [1, 1]})


def test_run_times_from_a_file(tmp_path: Path) -> None:
    """Columns of a CSV file are features and times; an empty feature is missing."""
    path = tmp_path / "runs.csv"
    path.write_text("instance,size,depth,fast,safe\na,1,2,0.1,3\nb,5,,9,2.5\n")
    table = {
        "family": "from_table",
        "file": str(path),
        "features": ["size", "depth"],
        "times": ["fast", "safe"],
        "max_delay": 60,
        "unit": 0.1,
        "above": "clip",
    }
    problem = problem_from(table)
    assert problem == tarry.problems.from_table(
        [[1, 2], [5, np.nan]], [[1, 30], [60, 25]], 60, ["fast", "safe"]
    )
    plain = {key: value for key, value in table.items() if key not in ("file", "unit", "above")}
    numbers = {"features": [[1, 2], [5, 7]], "times": [[1, 30], [60, 25]]}
    assert isinstance(problem_from({**plain, **numbers}), Contextual)
    told = {"policies": ["Uniform"], "payoff": "cost", "problem": table}
    case = experiment_from(told).cases[0]
    assert case.name == f"from_table(file={str(path)!r}, max_delay=60, unit=0.1, above='clip')"


def test_a_file_is_looked_for_beside_the_one_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the current folder is and has; its name in results is as it was written."""
    here, beside = tmp_path / "here", tmp_path / "beside"
    for folder, times in ((here, "9,9"), (beside, "1,2")):
        (folder / "data").mkdir(parents=True)
        (folder / "data" / "runs.csv").write_text(f"size,fast,safe\n1,{times}\n")
    problem = (
        'family = "from_table"\nfile = "data/runs.csv"\nfeatures = ["size"]\n'
        'times = ["fast", "safe"]\nmax_delay = 9\n'
    )
    (beside / "e.toml").write_text(
        f'policies = ["Uniform"]\nhorizon = 50\nruns = 1\n[problem]\n{problem}'
    )
    monkeypatch.chdir(here)
    main(["compare", "--file", "../beside/e.toml", "--out", "found"])
    described = json.loads(Path("found/experiment.json").read_text())["problems"][0]
    assert described["name"] == "from_table(file='data/runs.csv', max_delay=9)"
    table = tomllib.loads(problem)
    found = problem_from(table, beside)
    assert isinstance(found, Contextual)
    assert described["first_digest"] == problem_digest(found)
    assert problem_from(table) != found
    absolute = {**table, "file": str(beside / "data" / "runs.csv")}
    assert problem_from(absolute) == found


def test_mark_at_the_beginning_of_a_file(tmp_path: Path) -> None:
    """Spreadsheets begin a CSV file with one that nobody sees; it is no part of the first name."""
    path = tmp_path / "runs.csv"
    path.write_text("size,fast\n1,2\n", encoding="utf-8-sig")
    table = {"file": str(path), "features": ["size"], "times": ["fast"], "max_delay": 9}
    problem = problem_from({"family": "from_table", **table})
    assert problem == tarry.problems.from_table([[1]], [[2]], 9, ["fast"])


@pytest.mark.parametrize(
    ("content", "change", "sentence"),
    [
        ("size,fast\n1,2\n", {"times": ["quick"]}, "column of the file"),
        ("size,fast\n1,2\n", {"times": []}, "times is .*; give a list of columns"),
        ("size,fast\n1,soon\n", {}, r"Row 1 \(.* from 1\) has 'soon' .*, as every time must be"),
        ("size,fast\nbig,1\n", {}, "Row 1 .* has 'big' in column 'size'; .* or empty where it is"),
        ("size,fast\n1,-2\n", {}, r"row 1 \(counted from 1\) of arm 'fast' is -2.0, below 0;"),
        ("size,fast\n1\n", {}, "Row 1 .* of .* has 1 cells; its head has 2"),
        ("", {}, "has no rows; give a head and a row"),
        ("size,fast\n", {}, "has no rows; give a head and a row"),
        ("size,fast,fast\n1,2,3\n", {}, "There are 2 columns 'fast'"),
        ("size,fast,size\n1,2,3\n", {}, "There are 2 columns 'size'"),
        ("size,fast\n1,2\n", {"features": ["fast"]}, "'fast' is among the features and the times"),
        (
            "size,fast\n1,2\n3,9.6\n",
            {"unit": 1.0},
            "row 2 .* of arm 'fast' is 9.6, above max_delay",
        ),
        ("size,fast\n1,2\n", {"file": 3}, "file is 3"),
        ("size,fast\n1,2\n", {"file": ""}, "file is ''; give the name of a CSV file"),
        ("size,fast\n1,2\n", {"file": "nowhere.csv"}, "cannot be read"),
        ("size,fast\n1,2\n", {"file": "no\0name"}, "cannot be read"),
        ("size,fast\n1,2\n", {"features": ["size", "size"]}, "'size' is twice among the features"),
        ("size,fast\n1,\n", {}, r"row 1 \(counted from 1\) of arm 'fast' is missing; every time"),
        ("size,fast\n1,2\n", {"speed": 3}, "setting of from_table"),
    ],
)
def test_bad_run_times_are_refused(
    tmp_path: Path, content: str, change: dict[str, Any], sentence: str
) -> None:
    """In one sentence."""
    path = tmp_path / "runs.csv"
    path.write_text(content)
    table = {"file": str(path), "features": ["size"], "times": ["fast"], "max_delay": 9}
    with pytest.raises(InputError, match=sentence):
        problem_from({"family": "from_table", **table, **change})


@pytest.mark.parametrize(
    ("name", "hint"),
    [("segment", "did you mean segments"), ("from_tabel", "did you mean from_table")],
)
def test_families_that_only_files_know_are_offered(name: str, hint: str) -> None:
    """Who misspells them is told what comes near; the list of all has them too."""
    with pytest.raises(UnknownNameError, match=hint):
        problem_from({"family": name})
    with pytest.raises(UnknownNameError, match=r"from_table.* segments"):
        problem_from({"family": "?"})


def test_the_command_shows_what_tables_make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Segments and run times are shown like others; the file is one of the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("runs.csv").write_text("size,fast,safe\n1,1,2\n")
    run_times = (
        "from_table(file='runs.csv', features=['size'], times=['fast', 'safe'], max_delay=9)"
    )
    segments = f"segments(segments={{'phone': {PART}, 'desktop': {PART}}})"
    for text, count in ((run_times, "1 context of 1"), (segments, "2 contexts of 2")):
        assert main(["problems", text]) == 0
        assert count in capsys.readouterr().out
    assert main(["problems", "segments"]) == 2
    assert "give segments, a table of problems" in capsys.readouterr().err
    Path("sub").mkdir()
    Path("sub/e.toml").write_text('policies = ["Uniform"]\nhorizon = 20\nruns = 1\n')
    assert main(["compare", "--file", "sub/e.toml", "--problem", run_times]) == 0
