"""Real `kill -9` of a real process in a loop: what was acknowledged is there afterwards."""

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.live import killed

import tarry
from tarry.live import state
from tarry.live.core import Core
from tarry.live.events import replay
from tarry.live.plays import Status
from tarry.live.store import sqlite as journal
from tarry.live.store.sqlite import read_events
from tarry.policies.protocol import Setting

LIVES = 12  # per test, and there are two
CHILD = Path(__file__).with_name("killed.py")


class Mirror:
    """The same events applied to a core that never saw a snapshot or a crash."""

    def __init__(self) -> None:
        setting = Setting(3, round(killed.MAX_DELAY * 1e6), 0, reward=False)
        self.core = Core(tarry.SurvivalThompson(), killed.ARMS, setting, 7)
        self.seq = 0

    def follow(self, opened: journal.Journal) -> None:
        """Apply what is new in the file."""
        events, trouble = read_events(opened._db, self.seq)
        assert not trouble
        for event in events:
            replay(self.core, event)
        self.seq += len(events)
        assert self.seq == opened.appended


def one_life(child: Any, lines: Any, durability: str, rng: random.Random) -> list[list[str]]:
    """Start a child, kill it some moments after some acknowledgements, and return all of those.

    The moment is counted in acknowledgements, not in seconds, so that a busy machine sees as much
    as an idle one.
    """
    child.stdin.write(f"{durability}\n")
    child.stdin.flush()
    word, pid = next(lines).split()
    assert word == "born"
    last = rng.randrange(25)
    moment = threading.Timer(rng.random() * 0.01, os.kill, (int(pid), signal.SIGKILL))
    said: list[list[str]] = []
    if last == 0:
        moment.start()
    for line in lines:
        words = line.split()
        if words[0] == "dead":
            assert int(words[1]) == -signal.SIGKILL
            break
        said.append(words)
        if len(said) == last:
            moment.start()
    moment.join()
    return said


def check(said: list[list[str]], core: Core) -> None:
    """Every acknowledged event is in the restored state."""
    for word, number, *rest in said:
        entry = core.entries[int(number)]
        if word == "asked":
            assert entry.arm.name == rest[0]
        elif word == "told":
            assert (entry.status, entry.delay) == (Status.RETURNED, int(rest[0]))
        else:
            assert entry.status is Status.CANCELLED


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_acknowledged_events_survive_kill_9(durability: str, tmp_path: Path) -> None:
    """Killed again and again amid concurrent asks and tells: nothing lost, state as replayed."""
    path = str(tmp_path / "agent.db")
    rng = random.Random(durability)
    mirror = Mirror()
    acknowledged = 0
    with subprocess.Popen(
        [sys.executable, str(CHILD), path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        lines = iter(child.stdout)
        for life in range(LIVES):
            said = one_life(child, lines, durability, rng)
            acknowledged += len(said)
            agent = killed.opened(path, durability)
            assert agent._journal is not None
            check(said, agent._core)
            mirror.follow(agent._journal)
            assert state.dump(agent._core) == state.dump(mirror.core), f"life {life}"
            counts = agent.counts
            assert counts.asked == counts.returned + counts.pending + counts.closed + counts[4]
            agent._journal._db.close()  # no farewell either
        child.stdin.close()
    assert acknowledged > 3 * LIVES
