"""The command line: what it prints, what it refuses, and how it ends."""

import csv
import errno
import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tarry
from tarry.cli import main
from tarry.cli.parser import COMMANDS, build_parser
from tarry.cli.reference import commands_of, reference
from tarry.experiments import result_files
from tarry.reproduction import found, report, scaling, story
from tarry.reproduction import reproduce as reproduction

SMALL = ["--problem", "bernoulli", "--arms", "3", "--max-delay", "40", "--horizon", "500"]


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Status, output and complaints of a command."""
    status = main(arguments)
    told = capsys.readouterr()
    return status, told.out, told.err


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Without arguments the help is shown, with all commands."""
    status, out, _ = ask(capsys)
    assert status == 0
    for name in COMMANDS:
        assert name in out
    assert set(commands_of(build_parser())) == set(COMMANDS)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`tarry COMMAND --help` explains each argument and ends well."""
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    assert command in capsys.readouterr().out


def test_compare_prints_a_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Policies with settings on a family with settings give a table, a folder and a figure."""
    folder, figure = tmp_path / "out", tmp_path / "regret.svg"
    status, out, _ = ask(
        capsys, "compare", "BDSE", "BDSE(keep_history=True)", "opse", *SMALL, "--runs", "2",
        "--out", str(folder), "--plot", str(figure),
    )  # fmt: skip
    assert status == 0
    assert "BDSE(keep_history=True)" in out
    assert figure.exists()
    result = tarry.load(folder)
    assert result.policies == ("BDSE", "BDSE(keep_history=True)", "OPSE")
    assert str(result.final()) in out


def test_compare_reads_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A TOML file says what is compared; arguments go before it."""
    (tmp_path / "e.toml").write_text(
        'policies = ["SE"]\npayoff = "reward"\nhorizon = 300\nruns = 2\n'
        '[problem]\nfamily = "hard_reward"\nsecond_delay = 5\nmax_delay = 20\n'
    )
    status, out, _ = ask(capsys, "compare", "--file", str(tmp_path / "e.toml"), "--runs", "3")
    assert status == 0
    assert "reward, 3 runs" in out


@pytest.mark.parametrize("name", sorted(tarry.POLICIES))
def test_policies_are_listed_and_explained(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every policy is in the list, and can be asked for alone."""
    assert name in ask(capsys, "policies")[1]
    status, out, _ = ask(capsys, "policies", name)
    assert status == 0
    assert out.startswith(f"{name} (")


def test_problems_are_listed_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Every family is in the list, and an instance can be looked at."""
    out = ask(capsys, "problems")[1]
    for name in (*tarry.problems.MAKERS, "segments", "from_table"):
        assert name in out
    status, out, _ = ask(capsys, "problems", "bernoulli(arms=4, seed=1)")
    assert status == 0
    assert "4 arms" in out


BAD = {
    ("compar",): (2, "did you mean compare?"),
    ("compare", "BDSS"): (2, "did you mean BDSE"),
    ("compare", "BDSE", "--problem", "bernouli"): (2, "did you mean bernoulli"),
    ("compare", "BDSE", "--problem", "bernoulli(arm=3)"): (2, "did you mean arms"),
    ("compare", "BDSE", "--payoff", "reward"): (2, "BHSE is the one for reward"),
    ("compare", "BDSE", "--horizon", "0"): (2, "horizon is 0"),
    ("compare",): (2, "No policy is given"),
    ("compare", "--file", "/nowhere.toml"): (2, "cannot be read"),
    ("scaling", "cost-D"): (2, "scaling experiment named 'cost-D'"),
    ("policies", "BDSS"): (2, "did you mean BDSE"),
    ("problems", "no such"): (2, "is not a problem"),
    ("reproduce", "costs"): (2, "did you mean cost?"),
    ("report", "/nowhere"): (2, "no finished results"),
    ("demo", "root"): (2, "did you mean routes"),
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_is_one_sentence(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be done is said in one line on stderr, with the status that fits."""
    status, out, err = ask(capsys, *arguments)
    expected, part = BAD[arguments]
    assert (status, out) == (expected, "")
    assert part in err
    assert len(err.splitlines()) == 1
    assert err.startswith("tarry: ")


def test_unknown_options_are_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    """An option that does not exist ends with status 2."""
    with pytest.raises(SystemExit) as caught:
        main(["compare", "--hrizon", "5"])
    assert caught.value.code == 2
    assert "--hrizon" in capsys.readouterr().err


def test_folder_of_another_experiment_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The same folder with other settings cannot be had, and one sentence says so."""
    command = ["compare", "SE", *SMALL, "--runs", "1", "--out", str(tmp_path)]
    assert ask(capsys, *command)[0] == 0
    assert ask(capsys, *command)[0] == 0
    status, _, err = ask(capsys, *command, "--seed", "3")
    assert status == 2
    assert "holds another experiment" in err


def test_a_full_disk_is_no_bad_input(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could have been done and failed on the way ends with status 1."""

    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(result_files, "write_atomically", full)
    out = str(tmp_path / "out")
    status, _, err = ask(capsys, "compare", "SE", *SMALL, "--runs", "1", "--out", out)
    assert (status, "cannot be written: No space left" in err) == (1, True)


def test_scaling_prints_slopes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scaling experiment prints its slopes and keeps results and figure."""
    known = scaling.scaling_experiments(quick=True)
    tiny = {
        "cost-max-delay": replace(known["cost-max-delay"], values=[500, 700, 1000], horizon=900)
    }
    monkeypatch.setattr(scaling, "scaling_experiments", lambda *, quick: tiny)
    status, out, _ = ask(capsys, "scaling", "cost-max-delay", "--out", str(tmp_path))
    assert status == 0
    assert "slope" in out
    assert (tmp_path / "cost-max-delay.svg").exists()
    assert tarry.load(tmp_path / "cost-max-delay").problems == ("500", "700", "1000")


def test_reproduce_and_report_say_where_the_report_is(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands hand their arguments on, and print the path of the report."""
    asked: list[tuple[Path, dict[str, Any]]] = []

    def pretend(out: Path, **settings: Any) -> Path:
        asked.append((out, settings))
        return out / "index.html"

    monkeypatch.setattr(reproduction, "reproduce", pretend)
    monkeypatch.setattr(report, "write_report", lambda folder: Path(folder) / "index.html")
    monkeypatch.setattr(found, "read_found", lambda folder: SimpleNamespace(claims=[]))
    monkeypatch.setattr(story, "counts", lambda claims: f"{len(claims)} verdicts.")
    (tmp_path / "data" / "old").mkdir(parents=True)
    status, out, _ = ask(capsys, "reproduce", "cost", "--out", str(tmp_path), "--fresh")
    assert (status, str(tmp_path / "index.html") in out) == (0, True)
    assert not (tmp_path / "data").exists()
    assert ask(capsys, "reproduce", "--quick", "--workers", "3")[0] == 0
    assert [(out, s["parts"], s["quick"], s["workers"]) for out, s in asked] == [
        (tmp_path, ("cost",), False, None),
        (Path("results/quick"), reproduction.PARTS, True, 3),
    ]
    assert "index.html" in ask(capsys, "report", str(tmp_path))[1]


def test_reproduce_into_another_experiment_offers_a_fresh_start(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Old results in the folder are not overwritten, and the message says what to do."""
    command = ["compare", "SE", *SMALL, "--runs", "1", "--out", str(tmp_path / "data" / "cost")]
    assert ask(capsys, *command)[0] == 0
    status, _, err = ask(capsys, "reproduce", "cost", "--quick", "--out", str(tmp_path))
    assert status == 2
    assert err.splitlines()[-1].endswith("--fresh forgets earlier results.")


def test_demo_shows_and_draws(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The demo with real servers ends with what was measured and with a figure."""
    figure = tmp_path / "routes.svg"
    arguments = ["--change", "--requests", "80", "--figure", str(figure)]
    status, out, _ = ask(capsys, "demo", "routes", *arguments)
    assert status == 0
    assert "80 asked = 80 returned" in out
    assert "round robin" in out
    assert figure.read_text().lstrip().startswith("<?xml")


def test_ctrl_c_keeps_finished_runs(tmp_path: Path) -> None:
    """A real Ctrl-C ends with status 130 and one sentence, and the same command goes on."""
    command = [
        sys.executable, "-m", "tarry", "compare", "SE", "Uniform", *SMALL[:-1], "1000000",
        "--runs", "400", "--workers", "1", "--out", str(tmp_path),
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    given = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    signal.signal(signal.SIGINT, given)
    end = time.monotonic() + 60
    while len(list((tmp_path / "parts").glob("*.parquet"))) < 3:
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    kept = len(list((tmp_path / "parts").glob("*.parquet")))
    assert process.returncode == 130
    assert (out, len(list(tmp_path.rglob(".*")))) == ("", 0)
    assert err.splitlines()[-1].startswith(f"tarry: Interrupted with {kept} of 800 runs finished")
    assert "Traceback" not in err


def test_closed_pipe_is_no_disaster() -> None:
    """Output into a pipe that nobody reads to its end leaves no traceback."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "tarry", "policies"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_page_of_the_documentation_is_up_to_date() -> None:
    """docs/cli.md is what `python -m tarry.cli.reference` prints."""
    page = Path(__file__).parents[1] / "docs" / "cli.md"
    assert page.read_text() == reference()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--horizon", "abc"], "--horizon is 'abc' and must be a whole number"),
        (["--runs", "1.5"], "--runs is '1.5' and must be a whole number"),
        (["--plot", "regret.xyz"], "'regret.xyz' cannot be written; its ending must be .svg"),
        (["--plot", "."], "'.' cannot be written; its ending"),
        (["--out", "README.md"], "The folder 'README.md' cannot be written: it is a file"),
        (["--out", "/proc/x"], "The folder '/proc/x' cannot be written: no file can be made in"),
        (["--plot", "README.md/x.svg"], "README.md' is no folder"),
        (["--against", "OSPE"], "did you mean OPSE"),
        (["--wrong"], "Unrecognized arguments --wrong"),
    ],
)
def test_bad_arguments_are_one_sentence_before_anything_runs(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers, files and names are refused at once, without the usage."""
    long = ["compare", "BDSE", "OPSE", "--horizon", "10000000", "--runs", "1000000", *arguments]
    try:
        status = main(long)
    except SystemExit as end:
        status = int(end.code or 0)
    out, err = capsys.readouterr()
    assert status in (1, 2)
    assert out == ""
    assert words in err
    assert len(err.splitlines()) == 1


def test_every_table_can_be_read_by_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """--json and --csv print all rows and nothing else."""
    small = ["SE", "Uniform", *SMALL, "--runs", "2"]
    for command, rows in (
        (["compare", *small], 2),
        (["compare", *small, "--against", "Uniform"], 1),
        (["policies"], len(tarry.POLICIES)),
        (["policies", "KLUCB"], 1),
        (["problems", "bernoulli(arms=4)"], 4),
        (["problems"], None),
    ):
        found = json.loads(ask(capsys, *command, "--json")[1])
        lines = list(csv.DictReader(io.StringIO(ask(capsys, *command, "--csv")[1])))
        assert len(found) == len(lines) == (rows or len(found))
        assert list(found[0]) == list(lines[0])


def test_differences_are_printed_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    """--against compares each policy with one, paired."""
    status, out, _ = ask(capsys, "compare", "SE", "Uniform", *SMALL, "--against", "Uniform")
    assert status == 0
    regrets, differences = out.split("\n\n")
    assert regrets.startswith("Regret at the horizon, cost, 10 runs:")
    assert "10 paired runs" in differences
    assert differences.splitlines()[2].split()[:2] == ["SE", "Uniform"]
