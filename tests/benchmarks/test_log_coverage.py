"""The campaign about intervals of logs, in short, and the check against trials."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import log_coverage, trials
from tarry.logs.confidence import mean_draws


def test_intervals_hold_for_the_laws_of_the_campaign() -> None:
    """With ten plays at most 7 % of intervals miss, whatever the law and however long watched."""
    many = 80
    for name, law in log_coverage.LAWS.items():
        mean = log_coverage.truth(law) if "always" not in name else 30.0
        for ages in log_coverage.AGES.values():
            rng = np.random.default_rng(9)
            hits = sum(
                log_coverage.holds(
                    mean_draws(
                        *log_coverage.plays(law, ages, rng, 10), log_coverage.LIMIT, [k], 500
                    ).limits(0.95),
                    mean,
                )
                for k in range(many)
            )
            # Nominal is 95 %; five standard errors less do not happen to a share of 93 %.
            assert hits / many >= 0.93 - 5 * (0.93 * 0.07 / many) ** 0.5


def test_trials_are_read_and_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder with a file gives the verdict on it, an empty one a sentence."""
    rng = np.random.default_rng(1)
    lines = ["arm,time,event"]
    for arm, mean in (("Obs", 600), ("Lev", 600), ("Lev+5FU", 2500)):
        lines += [f"{arm},{time:.0f},1" for time in rng.exponential(mean, 150)]
    (tmp_path / "colon_death.csv").write_text("\n".join(lines))
    monkeypatch.setattr("sys.argv", ["trials", str(tmp_path)])
    assert trials.main() == 0
    assert "Everything agrees" in capsys.readouterr().out
    worse = (
        "\n".join(lines).replace("Obs", "best").replace("Lev+5FU", "Obs").replace("best", "Lev+5FU")
    )
    (tmp_path / "colon_death.csv").write_text(worse)
    assert trials.main() == 1
    assert "colon_death: Obs comes first" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["trials", str(tmp_path / "none")])
    assert trials.main() == 2
