"""Real `kill -9` of a real process, and real damage: the short form of `benchmarks.kills`."""

from pathlib import Path

import pytest
from benchmarks.kills import abandoned, damage, kill
from tests.live.cases import snapshot_every

LIVES = 10  # per test, and there are two


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_acknowledged_facts_survive_kill_9(
    durability: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed amid concurrent asks, tells, cancellations and forks: nothing lost, replay equal."""
    snapshot_every(500, monkeypatch)  # set back afterwards
    monkeypatch.setenv("TARRY_COMPILE", "never")
    assert kill(str(tmp_path / "a.db"), LIVES, durability) > 3 * LIVES


def test_damage_is_never_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut or flipped, in file or log: opened whole, or refused and saved up to the damage."""
    snapshot_every(500, monkeypatch)
    monkeypatch.setenv("TARRY_COMPILE", "never")
    path, _ = abandoned(tmp_path, "normal")
    found = damage(path, 14, tmp_path, 4)
    assert sum(found.values()) == 14
    assert len(found) >= 4
