"""The demo: real servers, a live table, and latencies that keep what is promised."""

import io
from pathlib import Path

import pytest
import rich.console

from tarry.demo import routes
from tarry.demo.figure import plot_routes
from tarry.demo.routes import demo_routes
from tarry.errors import InputError


def test_the_agent_is_near_the_best_server_and_far_below_round_robin() -> None:
    """One run: within 10 % of the best single server, at least 25 % below round robin."""
    result = demo_routes(requests=900, rate=180.0, seed=1, show=False)
    assert result.best == "fra"
    assert result.over_best < 0.10
    assert result.under_round_robin > 0.25
    counts = result.explanation.counts
    assert counts.asked == counts.returned == len(result.agent.sent) == 900
    assert len(result.round_robin.sent) == 900
    times, means = result.rolling(result.agent)
    assert len(times) == len(means) == 851


def test_a_change_is_shown_honestly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With change the best server turns slow half-way, and words and figure show it."""
    screen = io.StringIO()
    console = rich.console.Console(file=screen, width=120, force_terminal=True)
    monkeypatch.setattr("rich.get_console", lambda: console)
    monkeypatch.setattr("rich.live.get_console", lambda: console)
    result = demo_routes(change=True, requests=200, rate=150.0, seed=1)
    assert result.change_at is not None
    assert "turned 5 times slower" in str(result)
    assert "assume a world that stays as it is" in str(result)
    assert result.round_robin.mean > 0.1
    plot_routes(tmp_path / "routes.png", **result.for_figure())
    assert (tmp_path / "routes.png").read_bytes().startswith(b"\x89PNG")
    shown = screen.getvalue()
    for word in ("round robin", "fra", "recent", "interval"):
        assert word in shown


def test_the_demo_is_bounded_in_time() -> None:
    """However many requests are wanted, it ends when the time is up."""
    result = demo_routes(requests=100_000, rate=50.0, seconds=0.5, show=False)
    assert len(result.agent.sent) < 60
    assert result.duration < 0.5 + 2 * routes.MAX_DELAY


def test_nonsense_is_refused() -> None:
    """One sentence that says what is allowed."""
    with pytest.raises(InputError, match="number of requests"):
        demo_routes(requests=0)
    with pytest.raises(InputError, match="give a rate up to"):
        demo_routes(rate=0.0)
