"""Changes are whole or did not happen, whatever interrupts them; nobody waits for himself."""

import gc
import linecache
import logging
import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.live.cases import crash

import tarry
from tarry.errors import LiveError
from tarry.live import Agent, ManualClock, state

ARMS = ["fra", "ams", "lon"]


def opened(path: Path | None, clock: ManualClock, policy: Any = None) -> Agent:
    """An agent with D = 2 s."""
    return Agent(
        policy,
        arms=ARMS,
        payoff="cost",
        max_delay=2.0,
        seed=3,
        path=path,
        clock=clock,
        horizon=1000,
        durability="normal",
        in_flight="keep",
    )


class Interrupted(BaseException):
    """As Ctrl-C would be."""


def _is_with(frame: FrameType) -> bool:
    """Whether a line is a `with` or a `try`, where nothing happens at which signals come in.

    Tracing comes in between the block of a `with` and its end, and outside of the block at a `try`.
    """
    text = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return text.strip().startswith(("with ", "async with ", "try:"))


class After:
    """Raises in the code of an agent after so many lines, as a signal handler may."""

    def __init__(self, lines: int) -> None:
        self.left = lines

    def __call__(self, frame: FrameType, event: str, arg: object) -> Any:
        """See sys.settrace."""
        name = frame.f_code.co_filename
        if "tarry/live" not in name and "tarry/policies" not in name:
            return None
        if event == "line" and not _is_with(frame):
            self.left -= 1
            if self.left <= 0:
                sys.settrace(None)
                raise Interrupted
        return self


@pytest.mark.parametrize("policy", [tarry.SurvivalThompson(), tarry.BDSE()])
@pytest.mark.parametrize("durable", [False, True])
def test_an_interrupted_change_is_whole_or_did_not_happen(
    policy: Any, durable: bool, tmp_path: Path
) -> None:
    """Interrupted at any line of the code, an agent goes on as one that replays its facts."""
    rng = random.Random(7)
    clock = ManualClock()
    path = tmp_path / "a.db" if durable else None
    agent = opened(path, clock, policy)
    out: list[Any] = []
    repaired = 0
    for k in range(120):
        clock.advance(0.02)
        sys.settrace(After(rng.randrange(1, 200)) if k % 2 else None)
        try:
            if out and rng.random() < 0.5:
                play = out.pop(rng.randrange(len(out)))
                agent.cancel(play) if rng.random() < 0.3 else agent.tell(play, 0.01)
            else:
                out.append(agent.ask())
        except Interrupted:
            repaired += 1
        finally:
            sys.settrace(None)
        counts = agent.counts
        assert counts.asked == sum(counts[1:5])
    assert repaired > 20
    assert agent.counts.repaired > 5
    for play in out:
        agent.tell(play, 0.01)
    if path is None:
        return
    before = crash(agent)
    again = opened(path, clock, policy)
    assert state.dump(again._core) == before
    again.close()


def test_a_play_that_nobody_heard_of_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted after the choice was recorded, an ask leaves no play to be closed at D."""
    clock = ManualClock()
    agent = opened(None, clock)

    append = agent._engine.store.append

    def interrupted(fact: Any) -> int:
        append(fact)
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(agent._engine, "_append", interrupted)
        with pytest.raises(Interrupted):
            agent.ask()
    agent.ask()
    assert agent.counts[:5] == (2, 0, 1, 0, 1)


def test_a_signal_handler_may_read_the_counts() -> None:
    """Also in the middle of an ask; the numbers add up, and an ask of its own is refused."""
    agent = opened(None, ManualClock())
    seen = []

    def handler(*_: object) -> None:
        counts = agent.counts
        assert counts.asked == sum(counts[1:5])
        agent.explain()
        try:
            agent.ask()
        except LiveError as error:
            seen.append(str(error))
        signal.setitimer(signal.ITIMER_REAL, 0.0005)

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.0005)
    try:
        for _ in range(3000):
            agent.tell(agent.ask())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert agent.counts.pending == agent.counts.asked - agent.counts.returned
    assert seen
    assert all("signal handler" in text for text in seen)


@pytest.mark.parametrize("durable", [False, True])
def test_blocks_ended_by_the_garbage_collector(durable: bool, tmp_path: Path) -> None:
    """A generator with a play, collected inside an ask: no deadlock, the play is cancelled."""
    clock = ManualClock()
    agent = opened(tmp_path / "a.db" if durable else None, clock)

    def stream() -> Iterator[str]:
        with agent.play() as play:
            yield play
            yield play

    class Cycle:
        """Garbage that only the collector finds."""

    def litter() -> None:
        cycle = Cycle()
        cycle.me = cycle  # type: ignore[attr-defined]  # made up here
        cycle.stream = stream()  # type: ignore[attr-defined]  # likewise
        next(cycle.stream)  # type: ignore[attr-defined]  # likewise

    thresholds = gc.get_threshold()
    gc.set_threshold(5, 2, 2)
    try:
        for _ in range(150):
            litter()
            agent.tell(agent.ask())
    finally:
        gc.set_threshold(*thresholds)
    gc.collect()
    agent.ask()
    counts = agent.counts
    assert (counts.returned, counts.cancelled, counts.pending) == (150, 150, 1)
    agent.close()


def test_incidents_are_logged_and_plays_are_not(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line under the name `tarry` for what was not normal, none for a play."""
    agent = opened(None, ManualClock())
    with caplog.at_level(logging.DEBUG, "tarry"):
        for _ in range(20):
            agent.tell(agent.ask())
        assert caplog.messages == []
        agent._engine._recorded.dirty = True
        agent.ask()
    assert caplog.messages == ["The agent: a change was interrupted; its state was made anew."]
    assert agent.counts.repaired == 1
    assert "repaired=1" in repr(agent.counts)
