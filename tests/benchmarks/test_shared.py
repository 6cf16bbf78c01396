"""What is measured of agents that processes share: the short forms."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import postgres, shared_regret
from tarry.demo.database import QUICK, Database
from tarry.scenarios.catalogue import catalogue


def test_regret_of_the_three_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All meet the same requests; what was measured is kept, and drawn."""
    calm = replace(next(s for s in catalogue() if s.name == "calm"), seconds=3.0, changes=())
    monkeypatch.setattr(shared_regret, "catalogue", lambda: [calm])
    keep = tmp_path / "kept"
    found = shared_regret.measured(keep, 2, 1, 0.02, ["calm"])
    assert set(found["calm"]) == set(shared_regret.KINDS)
    assert all(loss >= 0.0 for losses in found["calm"].values() for loss in losses)
    assert shared_regret.measured(keep, 2, 1, 0.02, ["calm"]) == found
    value, error = shared_regret.ratio([2.0, 4.2, 6.0], [1.0, 2.0, 3.0])
    assert value == pytest.approx(2.03, abs=0.01)
    assert 0 < error < 0.1
    shared_regret.draw(found, tmp_path / "bars.svg")
    assert (tmp_path / "bars.svg").exists()


@pytest.mark.xdist_group("postgres")
def test_plays_per_second(capsys: pytest.CaptureFixture[str]) -> None:
    """One process for a moment, next to the bare database."""
    with Database(QUICK) as database:
        postgres.prepare(database)
        assert postgres.throughput(database, 1, 3, 0.3, 1) > 0.0
    assert "1 processes,   3 arms" in capsys.readouterr().out
