"""Lost beacons: the short form of what is measured of leases."""

from pathlib import Path

import pytest

import tarry
from benchmarks import beacons


def test_the_middle_finds_the_best_content_and_the_other_rules_do_not(tmp_path: Path) -> None:
    """Few visitors, one seed: means are near the truth, or far off as they must be."""
    truth = beacons.true_means()
    means = {rule: beacons.run(tarry.Uniform(), rule, 5, 700, 5.0).means for rule in beacons.RULES}
    for found, true in zip(means["middle"], truth, strict=True):
        assert found == pytest.approx(true, rel=0.2)
    best = {rule: max(range(3), key=found.__getitem__) for rule, found in means.items()}
    assert best["middle"] == beacons.BEST
    assert all(best[rule] != beacons.BEST for rule in ("drop", "censor", "D"))
    found = beacons.measured(tmp_path / "kept", 1, 5, 60, 15.0)
    assert beacons.measured(tmp_path / "kept", 1, 5, 60, 15.0) == found
    beacons.draw(found, tmp_path / "beacons.svg")
    assert (tmp_path / "beacons.svg").exists()


def test_the_bias_of_the_middle() -> None:
    """Nearly none with visits much longer than a heartbeat; half of one with much shorter ones."""
    assert abs(beacons.bias(beacons.WORLD[0], 5.0, 0.0)) < 0.1
    short = beacons.Content("short", 0.1, 0.1, 0.5)
    assert beacons.bias(short, 10.0, 0.0) == pytest.approx(4.9, abs=0.05)
    assert beacons.bias(beacons.WORLD[0], 5.0, 0.2) < -0.5  # reports are lost as well
