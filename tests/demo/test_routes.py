"""The demo: real servers, a live table, and choices that keep what is promised."""

import io
from pathlib import Path

import numpy as np
import pytest
import rich.console

from tarry.demo import routes
from tarry.demo.figure import plot_routes
from tarry.demo.routes import DemoResult, Stream, demo_routes
from tarry.errors import InputError


def expected(stream: Stream) -> float:
    """The mean latency of these choices by the laws of the servers, however slow the machine is."""
    means = list(routes.MEANS.values())
    return float(np.mean([means[server] for server in stream.server]))


def test_the_agent_prefers_the_best_server() -> None:
    """One run: most requests go to the best server, and a quarter of the waiting is saved."""
    result = demo_routes(requests=400, rate=200.0, seed=1, show=False)
    counts = result.explanation.counts
    # On a busy machine an answer may come too late; it is accounted for all the same.
    assert counts.asked == counts.returned + counts.closed == len(result.agent.sent) == 400
    assert np.bincount(result.round_robin.server).tolist() == [80] * 5
    chosen = np.bincount(result.agent.server, minlength=5)
    assert result.names[int(chosen.argmax())] == routes.BEST
    assert expected(result.agent) < 0.75 * expected(result.round_robin)
    times, means = result.rolling(result.agent)
    assert len(times) == len(means) == 351


@pytest.mark.xdist_group("postgres")
def test_processes_share_an_agent() -> None:
    """Two of them, with a database of their own: they learn as one, and it is told by process."""
    result = demo_routes(requests=200, rate=200.0, seed=1, show=False, workers=2, change=True)
    counts = result.explanation.counts
    # On a busy machine an answer may come too late; it is accounted for all the same.
    assert counts.asked == counts.returned + counts.closed == len(result.agent.sent) == 200
    assert [len(stream.sent) for stream in result.workers] == [100, 100]
    assert "process 2" in str(result)
    assert result.change_at is not None


def test_what_was_measured_is_compared_in_hindsight() -> None:
    """The best server is that with the least mean of both halves; the agent is set against it."""
    chosen = Stream([0.0, 1.0, 8.0, 9.0], [0, 1, 1, 1], [0.4, 0.1, 0.2, 0.2])
    turns = Stream([0.0, 1.0, 8.0, 9.0], [0, 1, 0, 1], [0.4, 0.1, 0.2, 0.2])
    told = demo_routes(requests=2, show=False).explanation
    result = DemoResult(("ams", "fra"), chosen, turns, None, 10.0, told)
    assert result.server_means.tolist() == pytest.approx([0.3, 0.15])
    assert result.best == "fra"
    assert result.over_best == pytest.approx(0.225 / 0.15 - 1)
    assert result.under_round_robin == pytest.approx(0.0)
    assert "only fra       150.0 ms; the agent is at +50%" in str(result)


def test_a_change_is_shown_honestly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With change the best server turns slow half-way, and words and figure show it."""
    screen = io.StringIO()
    console = rich.console.Console(file=screen, width=120, force_terminal=True)
    monkeypatch.setattr("rich.get_console", lambda: console)
    monkeypatch.setattr("rich.live.get_console", lambda: console)
    result = demo_routes(change=True, requests=200, rate=150.0, seed=1)
    assert result.change_at is not None
    assert "turned 5 times slower" in str(result)
    assert "later requests went there" in str(result)
    assert result.explanation.policy == "RegimeThompson"
    assert "% sure)" in str(result)
    plot_routes(tmp_path / "routes.png", **result.for_figure())
    assert (tmp_path / "routes.png").read_bytes().startswith(b"\x89PNG")
    shown = screen.getvalue()
    for word in ("round robin", "fra", "recent", "interval"):
        assert word in shown


def test_the_demo_is_bounded_in_time() -> None:
    """However many requests are wanted, it ends when the time is up."""
    result = demo_routes(requests=100_000, rate=50.0, seconds=0.5, show=False)
    assert 0 < len(result.agent.sent) < 1000


def test_nonsense_is_refused() -> None:
    """One sentence that says what is allowed."""
    with pytest.raises(InputError, match="number of requests"):
        demo_routes(requests=0)
    with pytest.raises(InputError, match="give a rate up to"):
        demo_routes(rate=0.0)
