"""The journal: what is acknowledged is there after reopening, bit for bit, and damage is named."""

import asyncio
import logging
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.conformance.cases import LIVE_RULES, Case
from tests.live.cases import crash, delay_of, never_stopping, number_of, snapshot_every

import tarry
from tarry.errors import JournalError
from tarry.live import Agent, ManualClock, Told, history, state
from tarry.policies.protocol import Setting

ARMS = ["fra", "ams", "lon"]


def opened(path: Path, clock: ManualClock, **more: Any) -> Agent:
    """An agent on `path` with D = 2 s."""
    policy = more.pop("policy", None)
    given: dict[str, Any] = {
        "arms": ARMS,
        "payoff": "cost",
        "max_delay": 2.0,
        "seed": 3,
        "durability": "normal",
        "in_flight": "keep",
    }
    return Agent(policy, path=path, clock=clock, **(given | more))


def go_on(agent: Agent, clock: ManualClock, plays: int) -> list[str]:
    """Some plays; two of five stay out."""
    chosen = []
    for _ in range(plays):
        play = agent.ask()
        chosen.append(play.arm)
        clock.advance(0.03)
        if play.id % 5 < 3:
            agent.tell(play.id, 0.01 * (1 + agent.arms.index(play.arm)))
    return chosen


@pytest.mark.parametrize("case", LIVE_RULES, ids=str)
def test_reopening_restores_every_policy_bit_for_bit(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From events alone or snapshot and events: the same state, and the same choices ever after."""
    snapshot_every(10_000, monkeypatch)
    settings: dict[str, Any] = {
        "policy": never_stopping(case.policy),
        "payoff": case.payoff,
        "horizon": 1000,
    }
    clocks = [ManualClock(), ManualClock()]
    steady = opened(tmp_path / "steady.db", clocks[0], **settings)
    shaken = opened(tmp_path / "shaken.db", clocks[1], **settings)
    for piece in range(4):
        assert go_on(steady, clocks[0], 30) == go_on(shaken, clocks[1], 30)
        if piece == 1:
            snapshot_every(7, monkeypatch)
            for agent in (steady, shaken):
                agent.pause_arm("ams")
                agent.add_arm("new")
        before = crash(shaken)
        shaken = opened(tmp_path / "shaken.db", clocks[1], **settings | {"arms": None})
        assert state.dump(shaken._core) == before == state.dump(steady._core)
    steady.close()
    shaken.close()


def test_plays_in_flight_are_censored_or_kept(tmp_path: Path) -> None:
    """Kept plays can still be told; censored ones are cancelled at the last moment known."""
    clock = ManualClock()
    agent = opened(tmp_path / "a.db", clock)
    first = agent.ask()
    clock.advance(0.5)
    second = agent.ask()
    crash(agent)
    clock.advance(0.25)
    agent = opened(tmp_path / "a.db", clock, in_flight="keep")
    assert agent.tell(second.id) is Told.RETURNED
    assert delay_of(agent, number_of(agent, second)) == 250_000  # UTC goes on while nobody runs
    crash(agent)
    clock.advance(1000.0)
    agent = opened(tmp_path / "a.db", clock, in_flight="censor")
    assert agent.counts[:5] == (2, 1, 0, 0, 1)
    assert delay_of(agent, number_of(agent, first)) >= 750_000
    assert agent.tell(first.id) is Told.LATE
    agent.close()
    agent = opened(tmp_path / "a.db", clock, in_flight="censor")
    assert agent.counts == (2, 1, 0, 0, 1, 1, 0)
    agent.close()


@pytest.mark.parametrize("waited", [2.0, 2.5])
def test_plays_that_are_d_old_are_closed_and_not_censored(tmp_path: Path, waited: float) -> None:
    """Exactly D old, or older, at the last moment known: they took D, in this process and after."""
    clock = ManualClock()
    agent = opened(tmp_path / "a.db", clock)
    for _ in range(3):
        agent.ask()
    clock.advance(waited)
    agent.tell(agent.ask())
    crash(agent)
    agent = opened(tmp_path / "a.db", clock, in_flight="censor")
    assert agent.counts[:5] == (4, 1, 0, 3, 0)
    before = crash(agent)
    agent = opened(tmp_path / "a.db", clock)
    assert state.dump(agent._core) == before
    agent.close()


def test_a_clock_set_back_between_processes_makes_no_negative_age(tmp_path: Path) -> None:
    """If UTC went back while nobody ran, time goes on from the last moment known."""
    clock = ManualClock(5000.0)
    agent = opened(tmp_path / "a.db", clock)
    clock.advance(1.0)
    play = agent.ask()
    crash(agent)
    clock.advance(-4000.0)
    agent = opened(tmp_path / "a.db", clock)
    assert agent.explain()[play.arm].oldest_pending == 0.0
    clock.advance(0.5)
    agent.tell(play.id)
    assert delay_of(agent, number_of(agent, play)) == 500_000
    agent.close()


@pytest.mark.parametrize("change", [None, "locked"])
def test_a_second_opening_gets_a_clear_error(tmp_path: Path, change: str | None) -> None:
    """One file, one agent: neither the same process nor another one can open it again."""
    path = tmp_path / "a.db"
    agent = opened(path, ManualClock())
    agent.ask()
    if change is None:
        with pytest.raises(JournalError, match="in use by another agent or process"):
            opened(path, ManualClock())
    else:
        code = (
            "import sys, tarry\n"
            "try:\n"
            "    tarry.Agent(arms=['fra', 'ams', 'lon'], payoff='cost', max_delay=2.0,"
            " path=sys.argv[1])\n"
            "except tarry.errors.JournalError as error:\n"
            "    print(error)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
        )
        assert "in use by another agent or process" in done.stdout
        assert done.stdout.count("\n") == 1
    agent.ask()
    agent.close()
    opened(path, ManualClock()).close()


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"payoff": "reward"}, "made with payoff 'cost', but 'reward' is given"),
        ({"max_delay": 3.0}, "max_delay"),
        ({"arms": ["fra", "ams"]}, "has the arms fra, ams, lon, but fra, ams are given"),
        ({"seed": 4}, "made with seed 3, but 4 is given"),
    ],
)
def test_other_settings_are_refused(tmp_path: Path, other: dict[str, Any], says: str) -> None:
    """A journal goes on with the settings it was made with; the file can be opened again after."""
    path = tmp_path / "a.db"
    opened(path, ManualClock()).close()
    with pytest.raises(JournalError, match=says):
        opened(path, ManualClock(), **other)
    agent = opened(path, ManualClock(), arms=None, seed=None)
    assert agent.arms == tuple(ARMS)
    agent.close()


def test_the_file_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old events are deleted: three times the plays, about the same file."""
    snapshot_every(200, monkeypatch)
    monkeypatch.setattr(history, "CHUNK", 100)
    path = tmp_path / "a.db"
    clock = ManualClock()
    settings = {"remembered": 100, "history": 0, "policy": tarry.DelayedUCB()}
    agent = opened(path, clock, **settings)
    sizes = []
    for _ in range(6):
        go_on(agent, clock, 1000)
        agent.close()
        sizes.append(path.stat().st_size)
        agent = opened(path, clock, **settings)
    agent.close()
    assert sizes[-1] < 1.5 * max(sizes[:2]) < 400_000
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM facts").fetchone()[0] <= 600
    db.close()


def test_an_empty_file_is_a_new_journal(tmp_path: Path) -> None:
    """A process may die right after it made the file."""
    path = tmp_path / "a.db"
    path.touch()
    opened(path, ManualClock()).close()
    opened(path, ManualClock()).close()


class _OddRule(NamedTuple):
    words: object

    def select(self, ledger: Any, plays: Any, row: int, now: int, rng: Any) -> int:
        return 0


class _Odd:
    """A policy whose rule holds what no journal can keep."""

    def start(self, setting: Setting) -> _OddRule:
        return _OddRule({1, 2})


def test_a_rule_that_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    """A rule with a set in it works without a path, and with one is refused at once."""
    Agent(_Odd(), arms=ARMS, payoff="cost", max_delay=1.0).ask()  # type: ignore[arg-type]  # bare
    with pytest.raises(JournalError, match="holds a set"):
        opened(tmp_path / "a.db", ManualClock(), policy=_Odd())


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_threads_and_tasks_share_commits(tmp_path: Path, durability: str) -> None:
    """Concurrent asks and tells are all on disk when they return."""
    path = tmp_path / "a.db"
    agent = Agent(
        tarry.DelayedUCB(),
        arms=ARMS,
        payoff="cost",
        max_delay=5.0,
        path=path,
        durability=durability,  # type: ignore[arg-type]  # one of the two words
    )

    def work() -> None:
        for _ in range(20):
            agent.tell(agent.ask().id)

    async def request() -> None:
        async with agent.play():
            await asyncio.sleep(0)

    async def requests() -> None:
        await asyncio.gather(*(request() for _ in range(20)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    asyncio.run(requests())
    for thread in threads:
        thread.join()
    assert agent.counts[:3] == (100, 100, 0)
    before = crash(agent)
    agent = Agent(tarry.DelayedUCB(), payoff="cost", max_delay=5.0, path=path)
    assert state.dump(agent._core) == before
    agent.close()


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    """Ids and delays from arrays are as good as plain ones, in the journal too."""
    clock = ManualClock()
    agent = opened(tmp_path / "a.db", clock)
    play = np.int64(agent.ask().id)
    assert agent.tell(play, np.float64(0.25)) is Told.RETURNED  # type: ignore[arg-type]  # on purpose
    before = crash(agent)
    agent = opened(tmp_path / "a.db", clock)
    assert state.dump(agent._core) == before
    agent.close()


def test_answers_of_arms_removed_before_a_snapshot(tmp_path: Path) -> None:
    """A play of an arm that is gone can still be told after a clean restart; a new one is fresh."""
    clock = ManualClock()
    agent = opened(tmp_path / "a.db", clock, arms=["a", "b"])
    plays = [agent.ask() for _ in range(6)]
    gone = plays[0].arm
    agent.remove_arm(gone)
    agent.add_arm(gone)
    agent.close()
    agent = opened(tmp_path / "a.db", clock, arms=["a", "b"])
    assert agent.tell(plays[0].id, 0.5) is Told.RETURNED
    assert agent.explain()[gone].plays == 0
    assert agent.counts.returned == 1
    agent.close()


class _TurnRule(NamedTuple):
    turn: Any
    weight: Any
    word: str

    def select(self, ledger: Any, plays: Any, row: int, now: int, rng: Any) -> int:
        self.turn[0] = (self.turn[0] + 1) % len(ledger.plays)
        return int(self.turn[0])


class _Turn:
    """Takes turns; its rule keeps arrays of NumPy and a NumPy number."""

    size = 2

    def start(self, setting: Setting) -> _TurnRule:
        return _TurnRule(np.zeros(self.size, np.int64), np.float64(0.5), "turn")


def test_rules_with_arrays_of_numpy_are_kept_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A user's rule continues bit for bit; one of another shape begins with the same plays."""
    clock = ManualClock()
    agent = opened(tmp_path / "a.db", clock, policy=_Turn())
    go_on(agent, clock, 5)
    agent.close()
    agent = opened(tmp_path / "a.db", clock, policy=_Turn())
    assert agent.ask().arm == "fra"
    agent.close()
    monkeypatch.setattr(_Turn, "size", 3)
    with caplog.at_level(logging.WARNING, "tarry"):
        agent = opened(tmp_path / "a.db", clock, policy=_Turn())
    assert "the evidence for _Turn was made anew from the last 6 of 6 plays" in caplog.text
    assert agent.counts.asked == 6
    agent.close()


def test_a_program_may_end_amid_a_snapshot(tmp_path: Path) -> None:
    """Its end waits for the thread that writes, which then finds no file closed under its hands."""
    program = """
import atexit, sys, time
atexit.register(time.sleep, 0.6)  # after the store has let go: what others still do comes out
import tarry
from tarry.live.store import sqlite

agent = tarry.Agent(arms=["a", "b"], payoff="cost", max_delay=60.0, path=sys.argv[1])
agent.tell(agent.ask())
split = sqlite.split

def slowly(snapshot, size):
    time.sleep(0.5)
    return split(snapshot, size)

sqlite.split = slowly
agent._engine._recorded.snapshot()
time.sleep(0.1)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.db")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("in_flight", ["censor", "keep"])
def test_a_close_is_the_last_moment_known(in_flight: str, tmp_path: Path) -> None:
    """Plays that were D old at the close are closed later too, and the others as old as then."""
    clock = ManualClock()
    agent = opened(tmp_path / "a.db", clock)
    for _ in range(5):
        agent.ask()
    clock.advance(1.5)
    agent.ask()
    clock.advance(1.0)
    counts = agent.counts
    assert (counts.closed, counts.pending) == (5, 1)
    agent.close()
    clock.advance(100.0)
    again = opened(tmp_path / "a.db", clock, in_flight=in_flight)
    assert again.counts.closed == 5 + (in_flight == "keep")
    times = again.history().times
    assert times[:5].tolist() == [2.0] * 5
    if in_flight == "censor":
        assert again.counts.cancelled == 1
        assert times[5] == pytest.approx(1.0)
    again.close()
