"""Results on disk: equal when read back, resumed after an interruption, refused when damaged."""

import contextlib
import errno
import json
from pathlib import Path
from typing import Any

import pytest

import tarry
from tarry import files
from tarry.errors import OtherExperimentError, ResultsError
from tarry.experiments import result_files
from tarry.experiments.experiment import Case, Experiment
from tarry.experiments.whats_different import differences

from .small import coins, compare_small


def interrupted(folder: Path, after: int, **changes: Any) -> None:
    """Start the small comparison and press Ctrl-C after some runs."""

    def stop(done: int, _total: int) -> None:
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="they are kept in"):
        compare_small(folder=folder, progress=stop, workers=1, **changes)


def test_saved_result_equals_the_loaded_one(tmp_path: Path) -> None:
    """`save` and `load` give back every bit, of several problems and of rules that gave up."""
    policies = [tarry.CSE(threshold=0.001), tarry.BDSE()]
    world = tarry.problems.deterministic([3, 9], max_delay=10)
    result = compare_small(policies=policies, problems={"a": coins, "b": world}, horizon=3000)
    result.save(tmp_path / "here")
    assert tarry.load(tmp_path / "here") == result


def test_file_is_the_same_for_any_number_of_workers(tmp_path: Path) -> None:
    """The files of one and of two workers are equal, byte for byte."""
    for workers in (1, 2):
        compare_small(folder=tmp_path / str(workers), workers=workers)
    for name in ("experiment.json", "results.parquet"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    assert sorted(p.name for p in (tmp_path / "1").iterdir()) == [
        "experiment.json",
        "results.parquet",
    ]


def test_table_is_tidy_and_describes_itself(tmp_path: Path) -> None:
    """One row for each policy, run and step; versions, seeds and parameters are in the file."""
    result = compare_small(policies=[tarry.BDSE(keep_history=True)], folder=tmp_path)
    table = result.table()
    assert table.num_rows == 3 * 20
    assert table.column_names == result_files.SCHEMA.names
    told = result_files.read_table(tmp_path / "results.parquet")[1]["description"]
    assert told["policies"][0]["settings"]["keep_history"] is True
    assert told["seed"] == 0
    assert set(told["versions"]) == {"tarry", "code", "python", "numpy", "scipy", "numba"}
    assert told == json.loads((tmp_path / "experiment.json").read_text())


def test_interrupted_comparison_goes_on(tmp_path: Path) -> None:
    """Finished runs are kept, only the others are played, and the result is the same."""
    interrupted(tmp_path, after=2)
    kept = {path.name for path in (tmp_path / "parts").iterdir()}
    assert len(kept) >= 2
    with pytest.raises(ResultsError, match=f"not finished \\({len(kept)} of 6 runs\\)"):
        tarry.load(tmp_path)
    told: list[int] = []
    result = compare_small(folder=tmp_path, progress=lambda done, _total: told.append(done))
    assert len(told) == 6 - len(kept)
    assert result == compare_small()
    assert not (tmp_path / "parts").exists()


def test_finished_comparison_is_not_played_again(tmp_path: Path) -> None:
    """With a complete folder nothing runs."""
    first = compare_small(folder=tmp_path)
    told: list[int] = []
    again = compare_small(folder=tmp_path, progress=lambda done, _total: told.append(done))
    assert again == first
    assert told == []


@pytest.mark.parametrize("change", [{"seed": 1}, {"horizon": 700}, {"record": 10}])
def test_folder_of_another_experiment_is_refused(tmp_path: Path, change: dict[str, int]) -> None:
    """Another seed or horizon is another experiment."""
    compare_small(folder=tmp_path)
    with pytest.raises(ResultsError, match="holds another experiment"):
        compare_small(folder=tmp_path, **change)
    with pytest.raises(ResultsError, match="holds another experiment"):
        compare_small(**change).save(tmp_path)


def test_results_of_another_version_are_refused(tmp_path: Path) -> None:
    """The same experiment played by other code is not taken for this one."""
    compare_small(folder=tmp_path)
    told = json.loads((tmp_path / "experiment.json").read_text())
    told["versions"]["code"] = "older"
    (tmp_path / "experiment.json").write_text(json.dumps(told))
    with pytest.raises(ResultsError, match="this experiment by another version of tarry"):
        compare_small(folder=tmp_path)


def test_folder_without_results_is_refused(tmp_path: Path) -> None:
    """Loading from an empty or missing folder says what is missing."""
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ResultsError, match=r"has no file experiment\.json"):
            tarry.load(folder)


@pytest.mark.parametrize("name", ["results.parquet", "experiment.json"])
@pytest.mark.parametrize("content", [b"", b"half", b"[1, 2]"])
def test_damaged_files_are_refused(tmp_path: Path, name: str, content: bytes) -> None:
    """A file that is not what it should be is named in one sentence."""
    compare_small(folder=tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ResultsError, match=name) as caught:
        tarry.load(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_cut_or_flipped_tables_are_refused(tmp_path: Path, share: float) -> None:
    """A table that was cut short, or in which a byte changed, is never read as if it were good."""
    expected = compare_small(folder=tmp_path)
    path = tmp_path / "results.parquet"
    whole = path.read_bytes()
    place = int(share * len(whole))
    path.write_bytes(whole[:place])
    with pytest.raises(ResultsError, match="damaged"):
        tarry.load(tmp_path)
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
    loaded = None
    with contextlib.suppress(ResultsError):
        loaded = tarry.load(tmp_path)
    assert loaded in (None, expected)  # some bytes of a Parquet file do not matter


def test_table_of_another_experiment_beside_the_description_is_refused(tmp_path: Path) -> None:
    """Description and table must belong together."""
    compare_small(folder=tmp_path / "a")
    compare_small(folder=tmp_path / "b", seed=1)
    (tmp_path / "b" / "results.parquet").replace(tmp_path / "a" / "results.parquet")
    with pytest.raises(ResultsError, match="belongs to another experiment"):
        tarry.load(tmp_path / "a")


def test_damaged_and_foreign_parts_are_refused(tmp_path: Path) -> None:
    """A part that is damaged, renamed or of another experiment stops the resumption."""
    interrupted(tmp_path / "a", after=2)
    interrupted(tmp_path / "b", after=2, seed=1)
    part = next(iter(sorted((tmp_path / "a" / "parts").iterdir())))
    whole = part.read_bytes()
    part.write_bytes(whole[:100])
    with pytest.raises(ResultsError, match="damaged"):
        compare_small(folder=tmp_path / "a")
    part.write_bytes((tmp_path / "b" / "parts" / part.name).read_bytes())
    with pytest.raises(ResultsError, match="belongs to another experiment"):
        compare_small(folder=tmp_path / "a")
    part.write_bytes(whole)
    part.rename(part.with_name("000-001-000002.parquet"))
    with pytest.raises(ResultsError, match="damaged"):
        compare_small(folder=tmp_path / "a")


def test_full_disk_keeps_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk is full one sentence says so; with room again the comparison goes on."""
    real = files.write_atomically
    room = 4

    def write(path: Path, content: bytes) -> None:
        nonlocal room
        room -= 1
        if room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(path, content)

    monkeypatch.setattr(result_files, "write_atomically", write)
    with pytest.raises(ResultsError, match="No space left on device; runs finished so far are"):
        compare_small(folder=tmp_path)
    assert len(list((tmp_path / "parts").iterdir())) == 3
    room = 1000
    assert compare_small(folder=tmp_path) == compare_small()


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    """A file in the place of the folder is answered in one sentence."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match="cannot be written") as caught:
        compare_small(folder=tmp_path / "file")
    assert "are kept" not in str(caught.value)  # nothing was played yet
    with pytest.raises(ResultsError, match="cannot be written"):
        compare_small().save(tmp_path / "file" / "below")


class Turning:
    """A policy of a user, no dataclass, whose rule can be changed under it."""

    def __init__(self, arm: int) -> None:
        self.arm = arm

    def start(self, setting: tarry.Setting) -> Any:
        """A rule with the setting in it."""
        return tarry.Uniform().start(setting)


def other_start(self: Turning, setting: tarry.Setting) -> Any:
    """Another version of the method above."""
    return tarry.SE().start(setting)


def test_older_version_of_a_policy_is_another_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other settings of a plain class, and other code, are refused; the same are not."""
    policies = {"mine": Turning(1)}
    first = compare_small(policies=policies, folder=tmp_path)
    assert compare_small(policies={"mine": Turning(1)}, folder=tmp_path) == first
    with pytest.raises(ResultsError, match="holds another experiment"):
        compare_small(policies={"mine": Turning(2)}, folder=tmp_path)
    monkeypatch.setattr(Turning, "start", other_start)
    with pytest.raises(ResultsError, match="holds another experiment"):
        compare_small(policies=policies, folder=tmp_path)


def test_more_runs_go_on_from_what_is_there(tmp_path: Path) -> None:
    """Two runs and then five play three more, also if these are interrupted half-way."""
    compare_small(folder=tmp_path, runs=2)
    told: list[int] = []
    interrupted(tmp_path, after=6, runs=5)
    with pytest.raises(ResultsError, match=r"not finished \([6-9] of 10 runs\)"):
        tarry.load(tmp_path)
    result = compare_small(folder=tmp_path, runs=5, progress=lambda done, _total: told.append(done))
    assert 0 < len(told) <= 4
    assert result == compare_small(runs=5)
    assert tarry.load(tmp_path) == result


def test_fewer_runs_are_taken_from_more(tmp_path: Path) -> None:
    """A folder with more runs gives the first ones, plays nothing and loses nothing."""
    whole = compare_small(folder=tmp_path, runs=4)
    assert compare_small(folder=tmp_path, runs=2, progress=refuse) == compare_small(runs=2)
    assert tarry.load(tmp_path) == whole


def refuse(done: int, total: int) -> None:
    """Nothing should have been played."""
    raise AssertionError((done, total))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 1}, "seed 0 there and 1 here"),
        ({"payoff": "reward"}, "payoff 'cost' there and 'reward' here"),
        (
            {"horizon": 700},
            "horizon of problem 'bernoulli(arms=3, max_delay=40)' 600 there and 700 here",
        ),
        ({"policies": [tarry.SE()]}, "policy 'Uniform' only there"),
        ({"policies": [tarry.SE(), tarry.Uniform(), tarry.OPSE()]}, "policy 'OPSE' only here"),
        ({"policies": [tarry.Uniform(), tarry.SE()]}, "the order of the policies"),
        (
            {"policies": {"SE": tarry.OPSE(), "Uniform": tarry.Uniform()}},
            "'SE' there and 'OPSE' here",
        ),
    ],
)
def test_refused_folder_says_what_differs(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    """The sentence names what is there and what was to be run."""
    compare_small(folder=tmp_path)
    with pytest.raises(OtherExperimentError, match="holds another experiment") as caught:
        compare_small(folder=tmp_path, **changes)
    assert words in str(caught.value)
    assert str(caught.value).count(". ") == 0
    assert ("the making" in str(caught.value), "recorded" in str(caught.value)) == (False, False)


def described(problem: tarry.problems.Problem, **more: Any) -> dict[str, Any]:
    """The description of an experiment on this problem."""
    policies = more.pop("policies", {"mine": tarry.SurvivalThompson()})
    cases = [Case(name, problem, 100) for name in more.pop("names", ["x"])]
    return Experiment(policies, cases, "cost", **more).description


def test_what_differs_is_named_and_not_cut_off() -> None:
    """Long texts are told from where they differ, what follows from another difference is not."""
    make = tarry.problems.truncated_normal
    there = described(make(30, 400, seed=2, mean_scale=0.25))
    here = described(make(30, 400, seed=3, mean_scale=0.25))
    text = differences(there, here)
    assert text == "the making of problem 'x' ...seed=2)' there and ...seed=3)' here"
    weighted = [
        described(tarry.problems.from_table([[1], [2]], [[1, 2], [2, 1]], 3, weights=weights))
        for weights in ([1, 2], [2, 1])
    ]
    contents = "the delays, weights or features of problem 'x'"
    assert differences(*weighted) == contents


def test_many_differences_are_one_short_sentence() -> None:
    """What differs alike in many problems is told once; of settings, those that differ."""
    names = ["a", "b", "c", "d", "e"]
    shared: dict[str, Any] = {"problem": tarry.problems.deterministic([1, 2], 3), "names": names}
    there = described(**shared)
    longer = {**there, "problems": [{**each, "horizon": 200} for each in there["problems"]]}
    assert differences(there, longer) == (
        "horizon of problems 'a', 'b', 'c' and 2 more 100 there and 200 here"
    )
    kept = {"mine": tarry.BDSE(keep_history=True)}
    other = {"mine": tarry.BDSE()}
    text = differences(described(**shared, policies=kept), described(**shared, policies=other))
    assert text == (
        "settings of policy 'mine' {'keep_history': True} there and {'keep_history': False} here"
    )
