"""What every store promises, by enumeration, and what becomes of one that fails."""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.live.cases import at_rest, crash, store_of
from tests.live.postgres import server

import tarry
from tarry.errors import InputError, JournalError
from tarry.live import Agent, ManualClock, Told
from tarry.live.facts import RETURN, START, Fact
from tarry.live.history import CHUNK, Chunk
from tarry.live.store.memory import MemoryStore
from tarry.live.store.postgres.store import PostgresStore
from tarry.live.store.protocol import Store
from tarry.live.store.sqlite import SqliteStore

SETTINGS: dict[str, Any] = {"arms": ["a"], "file": 7}
FACTS = [Fact(START, 10 * k, k, 0) for k in range(1, 40)] + [Fact(RETURN, 500, 1, 77)]


def in_database(path: Path) -> PostgresStore:
    """A store in the database of the tests, with the path as its name."""
    more = SETTINGS | {"history": 3 * CHUNK}
    store = PostgresStore(server().url, str(path), lambda: dict(more), safe=False)
    store.settings = dict(SETTINGS)
    store.line.given = lambda: 10**6
    store.begin()
    return store


Make = Callable[[Path], Store]
STORES: dict[str, Make] = {
    "memory": lambda _: MemoryStore(dict(SETTINGS), 3 * CHUNK),
    "sqlite": lambda path: SqliteStore(path, lambda: dict(SETTINGS), "normal", 3 * CHUNK),
    "postgres": in_database,
}
each_store = pytest.mark.parametrize(
    "name",
    ["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))],
)


@each_store
def test_facts_are_kept_in_order(name: str, tmp_path: Path) -> None:
    """Facts come back as appended, numbered from 1 on, and are durable when waited for."""
    store = STORES[name](tmp_path / "a.db")
    assert [store.append(fact) for fact in FACTS] == list(range(1, len(FACTS) + 1))
    store.wait(len(FACTS))
    assert store.durable == store.appended == len(FACTS)
    assert store.kept() == (None, FACTS)
    assert list(store.others()) == []
    assert store.trouble == ""
    store.close()


@each_store
def test_a_snapshot_takes_the_place_of_the_facts_before(name: str, tmp_path: Path) -> None:
    """What follows the latest snapshot is kept, durable or not."""
    store = STORES[name](tmp_path / "a.db")
    for k, fact in enumerate(FACTS, 1):
        store.append(fact)
        if k in (10, 20):
            store.take_snapshot(b"after %d" % k)
    assert store.kept() == (b"after 20", FACTS[20:])
    store.wait(store.appended)
    assert store.kept() == (b"after 20", FACTS[20:])
    assert not store.snapshot_due(0)
    store.close()


@each_store
def test_history_is_kept_in_chunks(name: str, tmp_path: Path) -> None:
    """The latest chunks are there, in order; one that is kept twice is there once."""
    store = STORES[name](tmp_path / "a.db")
    chunks = [Chunk(1 + CHUNK * k, b"chunk %d" % k) for k in range(6)]
    for chunk in chunks:
        store.keep(chunk)
    store.keep(chunks[-1])
    if isinstance(store, SqliteStore):
        done = threading.Event()
        store.keeper.do(done.set)
        assert done.wait(10)
    if isinstance(store, PostgresStore):
        written = threading.Event()
        store.line.do(lambda _: written.set())
        assert written.wait(10)
    assert store.chunks() == chunks[3:]
    store.close()


@each_store
def test_settings_can_change(name: str, tmp_path: Path) -> None:
    """They are durable with the next fact."""
    store = STORES[name](tmp_path / "a.db")
    assert store.settings == SETTINGS
    store.change(SETTINGS | {"more": [1, "ä"]})
    store.wait(store.append(FACTS[0]))
    assert store.settings["more"] == [1, "ä"]
    store.close()
    if isinstance(store, SqliteStore):
        again = STORES[name](tmp_path / "a.db")
        assert again.settings == SETTINGS | {"more": [1, "ä"]}
        again.close()


@pytest.mark.xdist_group("postgres")
def test_facts_of_others(tmp_path: Path) -> None:
    """Where several append, each hears of what the others have, once; all in one order."""
    stores = [in_database(tmp_path / "a") for _ in range(2)]
    for k, fact in enumerate(FACTS):
        store = stores[k % 2]
        store.wait(store.append(fact))
    for store in stores:
        deadline = time.monotonic() + 10
        while len(store.kept().facts) < len(FACTS) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert store.kept() == (None, FACTS)
    assert stores[0].others() == FACTS[1::2]
    assert stores[1].others() == FACTS[::2]
    assert list(stores[0].others()) == []
    for store in stores:
        store.close()


def test_a_file_brings_back_everything(tmp_path: Path) -> None:
    """Closed and opened again: settings, snapshot, facts and history."""
    store = STORES["sqlite"](tmp_path / "a.db")
    for k, fact in enumerate(FACTS, 1):
        store.append(fact)
        if k == 30:
            store.keep(Chunk(1, b"plays"))
            store.take_snapshot(b"evidence")
    store.close()
    store.close()
    again = STORES["sqlite"](tmp_path / "a.db")
    assert again.kept() == (b"evidence", FACTS[30:])
    assert again.chunks() == [Chunk(1, b"plays")]
    assert again.append(FACTS[0]) == len(FACTS) + 1
    again.close()


def opened(path: Path, clock: ManualClock, **more: Any) -> Agent:
    """An agent with D = 2 s."""
    return Agent(
        tarry.DelayedUCB(),
        arms=["a", "b"],
        payoff="cost",
        max_delay=2.0,
        path=path,
        clock=clock,
        durability="normal",
        in_flight="keep",
        **more,
    )


class FullDisk:
    """A disk without room, as SQLite sees it: the file may not grow."""

    def __init__(self, agent: Agent) -> None:
        self.store = store_of(agent)
        at_rest(agent)
        self.db: Any = self.store._db

    def __enter__(self) -> None:
        self.store._db = self  # type: ignore[assignment]  # everything else is passed on

    def __exit__(self, *_: object) -> None:
        self.store._db = self.db

    def execute(self, statement: str, *more: Any) -> Any:
        """Fail where something would be written."""
        if statement.startswith(("INSERT", "COMMIT")):
            raise sqlite3.OperationalError("database or disk is full")
        return self.db.execute(statement, *more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.db, name)


def test_a_full_disk_is_an_error_until_there_is_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is acknowledged meanwhile, and no play is begun that nobody hears of."""
    clock = ManualClock()
    agent = opened(tmp_path / "a.db", clock)
    play = agent.ask()
    with caplog.at_level(logging.INFO, "tarry"), FullDisk(agent):
        for _ in range(3):
            with pytest.raises(JournalError, match=r"cannot be written \(database or disk is full"):
                agent.ask()
        with pytest.raises(JournalError, match="cannot be written"):
            agent.tell(play, 0.5)
        assert agent.counts.store_failures == 1
        assert agent.counts.undurable > 0
    assert agent.tell(play, 0.5) is Told.REPEATED
    agent.ask()
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
    assert agent.counts[:5] == (3, 1, 1, 0, 1)
    assert agent.counts.undurable == 0
    before = crash(agent)
    assert crash(opened(tmp_path / "a.db", clock)) == before


def test_a_full_disk_need_not_stop_the_traffic(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With "continue" the agent answers from memory, says so, and catches up by itself."""
    clock = ManualClock()
    agent = opened(tmp_path / "a.db", clock, on_store_failure="continue")
    with caplog.at_level(logging.INFO, "tarry"):
        with FullDisk(agent):
            for _ in range(50):
                assert agent.tell(agent.ask(), 0.1) is Told.RETURNED
            counts = agent.counts
            assert counts[:3] == (50, 50, 0)
            assert (counts.store_failures, counts.undurable) == (1, 100)
            assert "undurable=100" in repr(counts)
        deadline = time.monotonic() + 10
        while agent.counts.undurable and time.monotonic() < deadline:
            time.sleep(0.02)
    assert agent.counts.undurable == 0
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
    before = crash(agent)
    assert crash(opened(tmp_path / "a.db", clock)) == before


def test_what_to_do_about_a_failing_store_is_one_of_two(tmp_path: Path) -> None:
    """Anything else is refused."""
    with pytest.raises(InputError, match="on_store_failure"):
        opened(tmp_path / "a.db", ManualClock(), on_store_failure="ignore")
