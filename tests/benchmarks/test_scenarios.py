"""The campaign behind docs/scenarios.md: what is kept, what is judged, what the page says."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.kept import keep
from benchmarks.scenarios import __main__ as command
from benchmarks.scenarios import calm, figure
from benchmarks.scenarios.entrants import BEST, OURS, SEEDS, entrants
from benchmarks.scenarios.page import page
from benchmarks.scenarios.runs import Results, campaign
from benchmarks.scenarios.verdicts import against_best_rival, best_rival, targets

from tarry.scenarios import Measures, Oracle, RoundRobin, Scenario, catalogue, simulate

SMALL = [replace(s, seconds=20.0, changes=()) for s in catalogue()[:2]]
TWO = {BEST: Oracle(), "round robin": RoundRobin()}


def made(**means: float) -> Results:
    """Results in which nothing but the mean cost differs."""
    return {
        ("hang", name.replace("_", " ")): np.array([[mean, mean, 25.0, 0.4, 8.0, 0.1]] * 3)
        for name, mean in means.items()
    }


def test_seeds_of_the_report_are_apart() -> None:
    """No seed serves both for choosing settings and for what is told."""
    assert not set(SEEDS["tuning"]) & set(SEEDS["report"])
    assert len(SEEDS["report"]) == 16


def test_interrupted_campaigns_go_on(tmp_path: Path) -> None:
    """One seed, then two, are the same as both in one go; what is kept is not simulated again."""
    whole = campaign(SMALL, TWO, [1, 2], tmp_path / "whole")
    campaign(SMALL, TWO, [1], tmp_path / "parts")
    parts = campaign(SMALL, TWO, [1, 2], tmp_path / "parts")
    assert all(np.array_equal(whole[key], parts[key], equal_nan=True) for key in whole)
    path = tmp_path / "parts" / "calm-round_robin.npz"
    with np.load(path) as file:
        code = str(file["code"])
    keep(path, code, seeds=np.array([1, 2]), measures=np.full((2, 6), 7.0))
    again = campaign(SMALL, TWO, [1, 2], tmp_path / "parts")
    assert (again["calm", "round robin"] == 7.0).all()
    other = campaign([replace(SMALL[0], timeout=1.0)], TWO, [1, 2], tmp_path / "parts")
    assert (other["calm", "round robin"] != 7.0).all()


def test_the_best_rival_is_neither_ours_nor_the_oracle() -> None:
    """Of all others the one with the least mean."""
    results = made(best_backend=0.05, RegimeThompson=0.06, LALB=0.08, LiteLLM=0.05)
    assert best_rival(results, "hang", OURS)[0] == "LiteLLM"
    assert against_best_rival(results, "hang", OURS) == pytest.approx(1.2)


@pytest.mark.parametrize(("mean", "met"), [(0.0549, True), (0.0551, False)])
def test_targets_are_computed(mean: float, met: bool) -> None:
    """Within 10 % of the best rival is met at 9.8 % and not at 10.2 %."""
    results = made(best_backend=0.05, RegimeThompson=mean, LALB=0.05)
    text = targets(results, ["hang"], OURS)
    assert ("| 1 of 1 |" in text) == met
    assert ("0 of 1; hang: 1.10" in text) == (not met)
    assert "| hang: at most 30 requests into it | yes | 25 on average, worst 25 |" in text
    assert "| 20 x slower: back within 5 s (median) | not run | - |" in text


def test_the_page_says_everything(tmp_path: Path) -> None:
    """A row for each scenario with something to tell, a column for each chooser, and who is not."""
    names = list(entrants())
    scenarios = catalogue()
    values = np.array([[0.05, 0.2, 30.0, 0.4, np.inf, 0.1]] * 16)
    results = {(s.name, name): values for s in scenarios for name in names}
    text = page(results, scenarios, entrants(), "## Calm\n\nquiet")
    assert all(f"| {name} |" in text or f"| {name} " in text for name in names)
    assert text.count("| hang | ") == 8  # seven tables, and what happens there
    assert "never (never)" in text
    assert f"| {OURS} | 1.00 | {len(scenarios)} of {len(scenarios)} | 1.00 (calm) |" in text
    assert "60 s: 1 hangs; 120 s: 1 to 50 ms" in text
    assert Measures._fields == ("mean", "p99", "into", "left", "back", "elsewhere")


def test_the_figure_shows_shares_over_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six panels, of which a lost backend is grey."""

    def shortened() -> list[Scenario]:
        return [replace(s, rate=2.0) for s in catalogue()]

    monkeypatch.setattr(figure, "catalogue", shortened)
    choosers = dict.fromkeys(figure.LOOK, RoundRobin())
    figure.draw_shares(choosers, [1], tmp_path / "shares.svg")
    assert (tmp_path / "shares.svg").stat().st_size > 10_000
    best = figure.at_best(simulate(SMALL[0], Oracle(), 1), 2.0)
    assert (best == 1.0).all()


def test_a_calm_hour_is_told_law_by_law(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command tells of four laws, and keeps what it found; the oracle pays nothing."""
    monkeypatch.setattr(calm, "entrants", lambda: {OURS: Oracle()})
    assert calm.main(["--hours", "0.01", "--folder", str(tmp_path)]) == 0
    first = capsys.readouterr().out
    assert calm.main(["--hours", "0.01", "--folder", str(tmp_path)]) == 0
    again = capsys.readouterr().out
    assert [law for law in calm.LAWS if f"| {law} |" in again] == list(calm.LAWS)
    assert again in first
    assert again.count("| 0.00 % | yes |") == 4
    assert first.count("...") == 4
    assert again.count("...") == 0


def test_the_command_prints_and_refuses(tmp_path: Path, capsys: Any) -> None:
    """A policy of one's choice in some scenarios; a wrong name is one sentence."""
    given = ["--folder", str(tmp_path), "--count", "1"]
    assert command.main([*given, "--policy", "DelayedThompson", "--scenario", "calm, 1/s"]) == 0
    out = capsys.readouterr().out
    assert "DelayedThompson" in out
    assert OURS not in out
    assert command.main([*given, "--scenario", "nonsense"]) == 2
    assert command.main([*given, "--policy", "Nonsense", "--scenario", "calm, 1/s"]) == 2
    refused = capsys.readouterr().err.strip().splitlines()
    assert refused[0].startswith("No scenario has 'nonsense' in its name; the names are calm;")
    assert refused[1].startswith("There is no policy named 'Nonsense';")
