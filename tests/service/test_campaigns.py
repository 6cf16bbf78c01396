"""Short forms of the campaigns: kills under load, requests made up from the OpenAPI document."""

from pathlib import Path

from benchmarks.service import loaded
from benchmarks.service_fuzz import fuzz
from benchmarks.service_kills import PATH, Said, kill
from benchmarks.service_load import NAME
from benchmarks.service_process import Serving


def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    """Kills amid asks, ends and cancellations: all of them are there after the restart, once."""
    said = kill(str(tmp_path / "agents"), 2, Said())
    assert said.kills == 2
    assert len(said.plays) > 10
    assert PATH.startswith("/v1/")


def test_made_up_requests() -> None:
    """No error of the service, no traceback, nothing that the document does not say."""
    status, said = fuzz(4, 3, 1, phases="fuzzing,stateful", with_keys=False)
    assert status == 0, said
    assert "Stateful" in said


def test_load_is_answered(tmp_path: Path) -> None:
    """The load of the benchmark gets its plays, durable ones, and nothing fails."""
    with Serving("--store", str(tmp_path), "--rate", "0") as serving:
        body = {"arms": ["a", "b"], "payoff": "cost", "max_delay": 2.0}
        serving.call("PUT", f"/v1/agents/{NAME}", body)
        seen = loaded(serving.port, 0.5, 16, "plays")
        assert seen.answers > 50
        assert not seen.wrong
        counts = serving.call("GET", f"/v1/agents/{NAME}")[1]["counts"]
        assert counts["asked"] >= seen.answers // 2 - 16
        assert serving.end() == 0
        assert not serving.complaints()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "bench.db",
        "bench.db-mark",
        "tarry-secret",
    ]
