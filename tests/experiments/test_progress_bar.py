"""Progress: a bar on a terminal, lines elsewhere."""

import io
import sys
import time
from typing import Any

import pytest

from tarry import Uniform, compare
from tarry.experiments import progress_bar
from tarry.problems import Problem, deterministic


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


def test_what_takes_long_before_the_bar_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Making a large world is told like runs are, unless nobody wants to be told."""
    monkeypatch.setattr(progress_bar, "FIRST_LINE", 0.01)

    def slowly(seed: int) -> Problem:
        time.sleep(0.3)
        return deterministic([1, 2], 3)

    told: dict[str, Any] = {"problems": slowly, "payoff": "cost", "horizon": 2, "runs": 1}
    compare([Uniform()], **told, progress=False)
    assert "making" not in capsys.readouterr().err
    compare([Uniform()], **told)
    assert capsys.readouterr().err.startswith("tarry: making the first world ...\n")
