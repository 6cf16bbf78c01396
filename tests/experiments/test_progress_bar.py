"""Progress: a bar on a terminal, lines elsewhere."""

import io
import sys

import pytest

from tarry.experiments import progress_bar


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """It does."""
        return True


def test_terminal_gets_a_bar_with_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the bar shows what is done, how much, and the time left."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar.bar("runs", 4, done=1) as advance:
        advance(1, what="cost")
        advance(2, what="cost")
    text = stream.getvalue()
    assert "runs cost" in text
    assert "100%" in text
    assert "left" in text


def test_log_gets_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a terminal a line says the share and the time left, but not too often."""
    monkeypatch.setattr(progress_bar, "QUIET_SECONDS", 0.0)
    with progress_bar.bar("reproduce", 4) as advance:
        advance(1, what="cost")
        advance(3)
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("reproduce cost: 25 %, about ")
    assert second.startswith("reproduce: 100 %, about 0 s left")
    monkeypatch.setattr(progress_bar, "QUIET_SECONDS", 60.0)
    with progress_bar.bar("reproduce", 4) as advance:
        advance(4)
    assert capsys.readouterr().err == ""
