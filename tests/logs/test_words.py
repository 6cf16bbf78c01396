"""Words and names on paper: plurals, long names, signs that cannot be seen, misplaced options."""

import warnings
from pathlib import Path

import pytest

import tarry
from tarry.cli import main

TURN = "\u202e"  # what follows is shown from right to left


def test_one_and_all() -> None:
    """1 play, and not more than 99 % where it is all of them."""
    one = tarry.Log.of(["a"], [3], [False], max_delay=9)
    assert repr(one) == "<Log of 1 play of 1 arm, max_delay 9, 1 unfinished>"
    assert "1 play of 1 arm, times up to 9; it is unfinished." in one.summary("cost")
    two = tarry.Log.of(["a", "b"], [3, 4], [False, False], max_delay=9)
    assert "2 plays of 2 arms, times up to 9; all are unfinished." in two.summary("cost")
    half = tarry.Log.of(["a", "b"], [3, 4], [False, True], max_delay=9)
    assert "; 1 (50 %) is unfinished." in half.summary("cost")


def test_long_and_invisible_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are cut and spelled out in table, sentence, figure and page; matplotlib is content."""
    long = "x" * 290 + " the end"
    path, page = tmp_path / "log.csv", tmp_path / "page.html"
    path.write_text(f"a,t\n{long},3\n{long},4\n{TURN}evil,5\n{TURN}evil,7\n", encoding="utf-8")
    options = ["--arm", "a", "--time", "t", "--all-finished", "--max-delay", "9"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = ["log", str(path), *options, "--payoff", "cost", "--decide", "--html", str(page)]
        assert main(told) == 0
    printed = capsys.readouterr().out
    for text in (printed, page.read_text(encoding="utf-8")):
        assert TURN not in text
        assert "\\u202eevil" in text
        assert "x" * 50 not in text
        assert "xxx…xx the end" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "log f.csv --arm a --time t --all-finished --max-delay 9 --payoff cost --error 0.1",
            "--error is of use with --decide only; give both, or neither.",
        ),
        ("compare OPSE OPSE", "OPSE is named twice; name each policy and its settings once."),
    ],
)
def test_misplaced_options(arguments: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence, before anything is read, compiled or played."""
    assert main(arguments.split()) == 2
    assert said in capsys.readouterr().err


def test_no_workers(capsys: pytest.CaptureFixture[str]) -> None:
    """Refused with the arguments, before anything is compiled."""
    with pytest.raises(SystemExit) as left:
        main(["compare", "OPSE", "--workers", "0"])
    assert left.value.code == 2
    assert "--workers is '0' and must be at least 1" in capsys.readouterr().err
