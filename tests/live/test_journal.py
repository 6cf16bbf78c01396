"""The journal: what is acknowledged is there after reopening, bit for bit, and damage is named."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.conformance.cases import CASES, Case
from tests.live.cases import never_stopping

import tarry
from tarry.errors import InputError, JournalError
from tarry.live import Agent, ManualClock, Told, recover, state
from tarry.live.store import sqlite as journal
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


def crash(agent: Agent) -> bytes:
    """Let the process "die"; returns the state it was in."""
    assert agent._journal is not None
    agent._journal._db.close()
    return state.dump(agent._core)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("every", [7, 10_000])
def test_reopening_restores_every_policy_bit_for_bit(
    case: Case, every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From snapshot and events or events alone: the same state, and the same choices ever after."""
    monkeypatch.setattr(journal, "SNAPSHOT_EVERY", every)
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
    assert agent._core.entries[second.id].delay == 250_000  # UTC goes on while nobody runs
    crash(agent)
    clock.advance(1000.0)
    agent = opened(tmp_path / "a.db", clock, in_flight="censor")
    assert agent.counts[:5] == (2, 1, 0, 0, 1)
    assert agent._core.entries[first.id].delay >= 750_000
    assert agent.tell(first.id) is Told.LATE
    agent.close()
    agent = opened(tmp_path / "a.db", clock, in_flight="censor")
    assert agent.counts == (2, 1, 0, 0, 1, 1, 0)
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
    assert agent._core.entries[play.id].delay == 500_000
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
        ({"policy": tarry.DelayedUCB()}, "made with policy 'SurvivalThompson'"),
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
    """Old events are deleted: twice the plays, about the same file."""
    monkeypatch.setattr(journal, "SNAPSHOT_EVERY", 200)
    path = tmp_path / "a.db"
    clock = ManualClock()
    agent = opened(path, clock, remembered=100, policy=tarry.DelayedUCB())
    sizes = []
    for _ in range(2):
        go_on(agent, clock, 2000)
        agent.close()
        sizes.append(path.stat().st_size)
        agent = opened(path, clock, remembered=100, policy=tarry.DelayedUCB())
    agent.close()
    assert sizes[1] < 1.2 * sizes[0] < 400_000
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM events").fetchone()[0] <= 600
    db.close()


def damaged_copy(tmp_path: Path, events: int = 300) -> Path:
    """A journal of a process that died."""
    path = tmp_path / "good.db"
    clock = ManualClock()
    agent = opened(path, clock, policy=tarry.DelayedUCB())
    go_on(agent, clock, events)
    assert agent._journal is not None
    agent._journal._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    crash(agent)
    return path


@pytest.mark.parametrize("share", [0.1, 0.5, 0.75, 0.95])
def test_a_truncated_file_is_named_and_its_good_part_saved(tmp_path: Path, share: float) -> None:
    """One sentence; the recovered journal holds a run of events from the first one on."""
    path = damaged_copy(tmp_path, 2500)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    clock = ManualClock(1000.0)
    with pytest.raises(JournalError, match="damaged") as error:
        opened(path, clock, policy=tarry.DelayedUCB())
    assert ". " not in str(error.value)
    saved = recover(path, tmp_path / "saved.db")
    assert (share - 0.4) * 4000 < saved.events < 4000
    assert saved.lost
    agent = opened(tmp_path / "saved.db", clock, policy=tarry.DelayedUCB())
    fresh_clock = ManualClock()
    fresh = opened(tmp_path / "fresh.db", fresh_clock, policy=tarry.DelayedUCB())
    go_on(fresh, fresh_clock, agent.counts.asked)
    chosen = [e.arm.name for e in agent._core.entries.values()]
    assert chosen == [e.arm.name for e in fresh._core.entries.values()]
    agent.ask()
    agent.close()
    fresh.close()


def test_flipped_bytes_are_never_taken_for_truth(tmp_path: Path) -> None:
    """Whatever byte is flipped, opening either restores the true state or says "damaged"."""
    path = damaged_copy(tmp_path, 60)
    content = path.read_bytes()
    clock = ManualClock(1000.0)
    agent = opened(path, clock, policy=tarry.DelayedUCB())
    truth = state.dump(agent._core)
    crash(agent)
    named = 0
    rng = np.random.default_rng(0)
    for place in rng.integers(100, len(content), 60):
        broken = tmp_path / f"broken{place}.db"
        bad = bytearray(content)
        bad[place] ^= 0xFF
        broken.write_bytes(bad)
        try:
            agent = opened(broken, clock, policy=tarry.DelayedUCB())
        except JournalError as error:
            named += 1
            assert str(broken) in str(error)  # noqa: PT017  # many places, few of them fatal
            continue
        assert state.dump(agent._core) == truth
        agent.close()
    assert named > 5


def test_a_lost_snapshot_is_recovered_from_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two snapshots are kept, and the events since the older one."""
    monkeypatch.setattr(journal, "SNAPSHOT_EVERY", 50)
    path = tmp_path / "a.db"
    clock = ManualClock()
    agent = opened(path, clock)
    go_on(agent, clock, 200)
    before = crash(agent)
    db = sqlite3.connect(path)
    db.execute("UPDATE snapshots SET crc = 1 WHERE seq = (SELECT max(seq) FROM snapshots)")
    db.commit()
    db.close()
    with pytest.raises(JournalError, match="snapshot"):
        opened(path, clock)
    assert recover(path, tmp_path / "b.db").lost == ""
    agent = opened(tmp_path / "b.db", clock)
    assert state.dump(agent._core) == before
    agent.close()


def test_files_of_others_are_refused(tmp_path: Path) -> None:
    """Text, another database, a folder, a later format: one sentence each."""
    text = tmp_path / "text"
    text.write_text("hello " * 500)
    with pytest.raises(JournalError, match="no journal of tarry"):
        opened(text, ManualClock())
    with pytest.raises(JournalError, match="Nothing can be saved"):
        recover(text, tmp_path / "new.db")
    other = tmp_path / "other.db"
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE things (a)")
    db.close()
    with pytest.raises(JournalError, match="something else"):
        opened(other, ManualClock())
    with pytest.raises(JournalError, match="cannot be opened"):
        opened(tmp_path / "no" / "where.db", ManualClock())
    later = tmp_path / "later.db"
    opened(later, ManualClock()).close()
    db = sqlite3.connect(later)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(JournalError, match="format 99"):
        opened(later, ManualClock())
    with pytest.raises(JournalError, match="There is no journal"):
        recover(tmp_path / "nothing.db", tmp_path / "new.db")
    with pytest.raises(InputError, match="exists"):
        recover(other, later)


def test_an_empty_file_is_a_new_journal(tmp_path: Path) -> None:
    """A process may die right after it made the file."""
    path = tmp_path / "a.db"
    path.touch()
    opened(path, ManualClock()).close()
    opened(path, ManualClock()).close()


def test_a_full_disk_stops_the_agent(tmp_path: Path) -> None:
    """If the journal cannot be written, nothing is acknowledged, then or later."""
    agent = opened(tmp_path / "a.db", ManualClock())
    agent.ask()
    assert agent._journal is not None
    agent._journal._db.execute("PRAGMA max_page_count = 1")

    def fill() -> None:
        for _ in range(20_000):
            agent.tell(agent.ask().id)

    with pytest.raises(JournalError, match="can no longer be written"):
        fill()
    with pytest.raises(JournalError, match="can no longer be written"):
        agent.ask()
    agent.close()


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


def test_a_changed_policy_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the code of a policy would now choose otherwise, the journal is not continued."""
    path = tmp_path / "a.db"
    clock = ManualClock()
    agent = opened(path, clock, policy=tarry.SE(), horizon=100)
    go_on(agent, clock, 20)
    crash(agent)
    cls = type(tarry.SE().start(Setting(3, 10, 100, False)))  # a NamedTuple's field
    monkeypatch.setattr(cls, "select", lambda *_: 0)
    with pytest.raises(JournalError, match="does not fit"):
        opened(path, clock, policy=tarry.SE(), horizon=100)


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


def test_a_forked_process_is_refused(tmp_path: Path) -> None:
    """An agent opened before a fork must not write from the child; the parent goes on."""
    code = """
import os, sys, tarry
agent = tarry.Agent(arms=["a", "b"], payoff="cost", max_delay=2.0, path=sys.argv[1])
agent.ask()
if os.fork() == 0:
    try:
        agent.ask()
    except tarry.errors.JournalError as error:
        print(error, flush=True)
    del agent
    os._exit(0)
os.wait()
agent.ask()
print(agent.counts.asked)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.db")],
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = done.stdout.splitlines()
    assert "opened before this process was forked" in first
    assert second == "2"


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    """Ids and delays from arrays are as good as plain ones, in the journal too."""
    clock = ManualClock()
    agent = opened(tmp_path / "a.db", clock)
    agent.ask()
    assert agent.tell(np.int64(1), np.float64(0.25)) is Told.RETURNED  # type: ignore[arg-type]  # on purpose
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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user's rule continues bit for bit; one of another shape is refused."""
    clock = ManualClock()
    agent = opened(tmp_path / "a.db", clock, policy=_Turn())
    go_on(agent, clock, 5)
    agent.close()
    agent = opened(tmp_path / "a.db", clock, policy=_Turn())
    assert agent.ask().arm == "fra"
    agent.close()
    monkeypatch.setattr(_Turn, "size", 3)
    with pytest.raises(JournalError, match="2 numbers in the place of 3"):
        opened(tmp_path / "a.db", clock, policy=_Turn())


def test_a_task_cancelled_while_the_disk_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If nobody waits for the choice any longer, its play is cancelled."""
    agent = opened(tmp_path / "a.db", ManualClock())
    flush = journal.Journal.flush

    def slow(self: journal.Journal, seq: int) -> None:
        time.sleep(0.05)
        flush(self, seq)

    monkeypatch.setattr(journal.Journal, "flush", slow)

    async def request() -> None:
        async with agent.play():
            pass

    async def main() -> None:
        task = asyncio.create_task(request())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert agent.counts.cancelled == 1
    agent.close()
