"""`tarry log`: a table, a sentence, a picture, a page; and what it refuses, before it begins."""

import csv
import json
from pathlib import Path

import pytest

from tarry.cli import main

from .made_up import export

OPTIONS = ["--arm", "variant", "--time", "seconds", "--finished", "finished", "--max-delay", "600"]
REWARD = ["--payoff", "reward"]


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of visits, one row of which is none."""
    log = export(4)
    path = tmp_path_factory.mktemp("log") / "visits.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["variant", "seconds", "finished"])
        for arm, time, end in zip(log.arms, log.times, log.finished, strict=True):
            writer.writerow([log.names[arm], time, "yes" if end else "no"])
        writer.writerow(["quiz", "n/a", "yes"])
    return path


def ask(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Status, output and complaints of `tarry log`."""
    status = main(["log", *map(str, arguments)])
    told = capsys.readouterr()
    return status, told.out, told.err


def test_table_and_sentence(visits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The best arm comes first, bad rows are told, and the sentence names the winner."""
    status, out, _ = ask(capsys, visits, *OPTIONS, *REWARD)
    assert status == 0
    lines = out.splitlines()
    assert lines[0].split()[:4] == ["arm", "plays", "unfinished", "mean"]
    assert lines[1].split()[:2] == ["essay", "400"]
    assert "1 bad row was left out; the first: line 802: the time is 'n/a'" in out
    assert "essay has the longest mean" in out
    assert "quiz has the shortest mean" in ask(capsys, visits, *OPTIONS, "--payoff", "cost")[1]


def test_picture_and_page(visits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page is one file that loads nothing, with the picture, the table and the decision."""
    picture, page = tmp_path / "new" / "curves.png", tmp_path / "new" / "page.html"
    status, out, _ = ask(
        capsys, visits, *OPTIONS, *REWARD, "--plot", picture, "--html", page, "--decide"
    )
    assert status == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = page.read_text()
    for part in (
        "<svg",
        "visits.csv",
        "essay has the longest mean",
        "quiz against essay",
        "Go on: the safest",
    ):
        assert part in text
    assert not any(link in text for link in ("src=", "url(http", "<link", "@import"))
    assert "Go on: the safest arm is" in out
    assert f"The page is {page}." in out


def test_json(visits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything as JSON, and nothing else on standard output."""
    arguments = [*OPTIONS, *REWARD, "--json", "--decide", "--tolerance", "500"]
    status, out, _ = ask(capsys, visits, *arguments)
    answer = json.loads(out)
    assert status == 0
    assert {row["arm"] for row in answer["arms"]} == {"quiz", "essay"}
    assert answer["bad_rows"]["number"] == 1
    assert answer["decision"]["stop"]
    assert answer["differences"][0]["against"] == "essay"
    rows = list(csv.DictReader(ask(capsys, visits, *OPTIONS, *REWARD, "--csv")[1].splitlines()))
    assert [float(row["mean"]) for row in rows] == [row["mean"] for row in answer["arms"]]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--max-delay", "long"], "--max-delay is 'long'; it must be a number."),
        (["--payoff", "both"], "The payoff is 'both'; it must be 'cost' or 'reward'."),
        (["--arm", "page"], "There is no column 'page'; the columns are variant, seconds, fini"),
        (["--plot", "curves.doc"], "The file 'curves.doc' cannot be written; its ending must be"),
        (["--html", "."], "The file '.' cannot be written; its ending must be .html, .htm."),
        (["--all-finished"], "Which plays are finished must be said once"),
        (["--decide", "--error", "5"], "The error is 5.0; it must be above 0 and below 1."),
        (["--decide", "--tolerance", "-1"], "The tolerance is -1.0; it must be a number from 0"),
    ],
)
def test_refusals(
    more: list[str], said: str, visits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is one sentence with status 2 and nothing printed."""
    status, out, err = ask(capsys, visits, *OPTIONS, *REWARD, *more)
    assert (status, out) == (2, "")
    assert err.startswith(f"tarry: {said}")
    assert len(err.splitlines()) == 1


def test_places_are_checked_before_the_file_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page that cannot be written is told before a log that cannot be read."""
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.svg").mkdir()
    page = tmp_path / "file" / "page.html"
    status, _, err = ask(capsys, "none.csv", *OPTIONS, *REWARD, "--html", page)
    assert (status, "is no folder" in err) == (2, True)
    picture = tmp_path / "folder.svg"
    assert "it is a folder" in ask(capsys, "none.csv", *OPTIONS, *REWARD, "--plot", picture)[2]
    status, _, err = ask(capsys, "none.csv", *OPTIONS, *REWARD)
    assert (status, "cannot be read" in err) == (2, True)
