"""The command line gives advice in its own words: options, not arguments of Python."""

from pathlib import Path

import pytest

from tarry.cli import main

LOG = ("log", "visits.csv", "--arm", "variant", "--time", "time", "--payoff", "cost")
ADVICE = {
    ("compare", "BDSE", "BDSE(keep_history=False)"): "name each policy and its settings once",
    ("compare", "BDSE", "--max-delay", "0"): "--max-delay is 0;",
    ("compare", "BDSE", "--problem", "log_linear", "--max-delay", "2e9"): "at a --max-delay of",
    (*LOG, "--all-finished", "--max-delay", "0", "--encoding", "latin-1"): "--max-delay is 0.0;",
    (*LOG, "--all-finished", "--max-delay", "9"): "such as --encoding latin-1",
    ("serve", "--log", "all"): "--log is 'all'; give",
    ("serve", "--durability", "none"): "--durability is 'none'; give",
}


@pytest.mark.parametrize("arguments", ADVICE, ids=" ".join)
def test_advice_names_options(
    arguments: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What one is told to change is what one has typed."""
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_bytes("variant,time\ncaf\u00e9,1\n".encode("latin-1"))
    assert main(arguments) == 2
    assert ADVICE[arguments] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("out", "advice"), [([], "kept without --out"), (["--out", "a"], "same command")]
)
def test_an_interruption_says_how_to_go_on(
    out: list[str],
    advice: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In words of the command line too."""
    monkeypatch.chdir(tmp_path)

    def stop(*_: object, **_more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tarry.experiments.compare.run_tasks", stop)
    assert main(["compare", "Uniform", "--horizon", "9", *out]) == 130
    assert advice in capsys.readouterr().err
