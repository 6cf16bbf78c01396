"""Real kills of processes and of a server: the short form of `benchmarks.shared_kills`."""

import pytest
from benchmarks.shared_kills import campaign

from tarry.live.store.postgres import store


@pytest.mark.xdist_group("postgres")
def test_acknowledged_facts_survive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some kills and a crash of the server: nothing lost or doubled, all replicas equal."""
    monkeypatch.setattr(store, "SNAPSHOT_EVERY", store.SNAPSHOT_EVERY)  # set back afterwards
    assert campaign(4, 1, workers=2) > 20
