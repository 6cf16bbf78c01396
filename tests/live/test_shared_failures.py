"""A database that is away, slow, read-only, restarted, or has lost what others had read."""

import contextlib
import logging
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.live.postgres import (
    at_rest,
    caught_up,
    differences,
    engine_of,
    evidence,
    new_name,
    opened,
    replica_of,
    rows,
)

from tarry.demo.database import QUICK, Database, programs
from tarry.errors import JournalError
from tarry.live import Agent, Told
from tarry.live.store.postgres import courier, store

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture(scope="module")
def own() -> Iterator[Database]:
    """A server that may be ended."""
    with Database(QUICK) as database:
        yield database


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short times, lest the tests take long."""
    monkeypatch.setattr(courier, "BOUND", 0.3)
    monkeypatch.setattr(courier, "AGAIN", (0.02, 0.05))
    monkeypatch.setattr(store, "PATIENCE", 5.0)


def until(condition: Callable[[], bool]) -> None:
    """Return when this is so."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def pair(own: Database, **more: Any) -> tuple[Agent, Agent]:
    """Two clients of a new agent."""
    name = new_name()
    return opened(name, own.url, **more), opened(name, own.url, **more)


def play(agent: Agent, times: int = 10) -> None:
    """Plays that come back."""
    for _ in range(times):
        assert agent.tell(agent.ask(), 0.1) is Told.RETURNED


def test_decisions_go_on_without_a_database(
    own: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """With "continue" each process goes on alone, learns, says so, and catches up by itself."""
    first, second = pair(own, on_store_failure="continue")
    play(first)
    caught_up(first, second)
    out = second.ask()
    with caplog.at_level(logging.INFO, "tarry"):
        own.stop()
        for agent in (first, second):
            begun = time.monotonic()
            play(agent, 100)
            assert time.monotonic() - begun < 2.0
            assert agent.counts.returned == 110
            assert agent.counts.undurable >= 199
            assert agent.counts.store_failures == 1
        assert second.tell(out, 0.2) is Told.RETURNED
        assert second.tell(out, 0.2) is Told.REPEATED
        first.add_arm("c")
        assert "c" in first.arms
        assert "c" not in second.arms
        own.start()
        until(lambda: not first.counts.undurable and not second.counts.undurable)
    caught_up(first, second)
    assert first.counts == second.counts == (211, 211, 0, 0, 0, 0, 0)
    assert evidence(replica_of(first)) == evidence(replica_of(second))
    assert first.arms == second.arms == ("a", "b", "c")
    said = [record.message for record in caplog.records]
    assert any("goes on from memory" in line for line in said)
    assert any("is written again" in line for line in said)
    first.close()
    second.close()


def test_a_snapshot_is_of_the_log_alone(own: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not of what a process made of its own plays when the database had just gone away."""
    monkeypatch.setattr(store, "SNAPSHOT_EVERY", 0)
    first, second = pair(own, on_store_failure="continue")
    engine = engine_of(first)
    taken: list[int] = []

    def gone(plays: int) -> bool:
        """It is noticed in the very moment in which a snapshot is due."""
        with engine.store.line.lock:
            engine.store.line.trouble = "gone"
        thread = threading.Thread(target=lambda: taken.append(engine.ask()[1]))
        thread.start()
        thread.join()
        return True

    monkeypatch.setattr(engine.store, "snapshot_due", gone)
    play(first, 5)
    monkeypatch.undo()
    until(lambda: not first.counts.undurable and engine.store.durable == engine.store.appended)
    assert taken
    at_rest(first, second)
    with opened(engine.store.name, own.url) as fresh:
        assert evidence(replica_of(fresh)) == evidence(replica_of(second))
        assert evidence(replica_of(fresh)) == evidence(replica_of(first))
    first.close()
    second.close()


def test_going_on_alone_while_the_database_comes_back(
    own: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Facts that arrive at that very moment are not folded into what a process made of its own."""
    first, second = pair(own, on_store_failure="continue")
    play(first)
    at_rest(first, second)
    engine = engine_of(first)
    dump = replica_of(first).dump

    def slowly() -> bytes:
        body = dump()
        play(second)
        time.sleep(0.2)  # the thread of the first has read them meanwhile
        return body

    monkeypatch.setattr(replica_of(first), "dump", slowly)
    engine.store.line.failed("a test")
    out = first.ask()
    monkeypatch.undo()
    first.tell(out, 0.1)
    at_rest(first, second)
    assert not differences(evidence(replica_of(first)), evidence(replica_of(second)))
    assert first.counts == second.counts == (21, 21, 0, 0, 0, 0, 0)
    first.close()
    second.close()


def test_without_a_database_one_may_insist(own: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """With "raise" an ask fails within a stated time, and later it is as if it had not been."""
    monkeypatch.setattr(store, "PATIENCE", 0.5)
    first, second = pair(own)
    mine = first.ask()
    own.stop()
    begun = time.monotonic()
    with pytest.raises(JournalError, match=r"cannot be written \(.*\); it is tried again"):
        first.ask()
    with pytest.raises(JournalError, match="cannot be written"):
        first.tell(mine, 0.1)
    with pytest.raises(JournalError, match="cannot be written"):
        first.ask()
    assert time.monotonic() - begun < 3 * 0.5 + 1.0
    own.start()
    until(lambda: not first.counts.undurable and not engine_of(second).store.trouble)
    monkeypatch.setattr(store, "PATIENCE", 5.0)
    assert first.tell(mine, 0.1) is Told.REPEATED
    play(second)
    caught_up(first, second)
    assert first.counts == second.counts
    assert first.counts.returned == 11
    assert first.counts.pending == 0
    first.close()
    second.close()


def test_a_short_restart_is_waited_for(own: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who insists waits a while, and does not even notice."""
    monkeypatch.setattr(store, "PATIENCE", 10.0)
    first, second = pair(own)
    play(first)
    own.crash()
    own.start()
    play(first)
    play(second)
    caught_up(first, second)
    assert first.counts == second.counts == (30, 30, 0, 0, 0, 0, 0)
    first.close()
    second.close()


def test_a_database_that_hangs(own: Database) -> None:
    """It neither answers nor fails: after a stated time decisions go on."""
    first, second = pair(own, on_store_failure="continue")
    play(first)
    pids = [
        row[0]
        for row in rows(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'tarry'", url=own.url
        )
    ]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        play(first, 50)
        assert 0.2 < time.monotonic() - begun < 2.0
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    until(lambda: not first.counts.undurable)
    caught_up(first, second)
    assert first.counts == second.counts == (60, 60, 0, 0, 0, 0, 0)
    first.close()
    second.close()


def test_a_database_that_may_only_be_read(own: Database) -> None:
    """As after a failover to a server that is not yet the first one."""
    first, second = pair(own, on_store_failure="continue")
    play(first)
    rows("ALTER SYSTEM SET default_transaction_read_only = on", url=own.url)
    rows("SELECT pg_reload_conf()", url=own.url)
    until(lambda: _is_read_only(own))
    play(first, 20)
    assert "read-only" in engine_of(first).store.trouble
    rows("SET default_transaction_read_only = off", url=own.url)
    rows("ALTER SYSTEM RESET default_transaction_read_only", url=own.url)
    rows("SELECT pg_reload_conf()", url=own.url)
    until(lambda: not first.counts.undurable)
    caught_up(first, second)
    assert first.counts == second.counts == (30, 30, 0, 0, 0, 0, 0)
    first.close()
    second.close()


def _is_read_only(own: Database) -> bool:
    rows("RESET default_transaction_read_only", url=own.url)
    return rows("SHOW default_transaction_read_only", url=own.url) == [("on",)]


def test_a_disk_without_room(own: Database) -> None:
    """The table refuses another row: the same as a full disk, as far as one can tell from here."""
    first, second = pair(own, on_store_failure="continue")
    play(first)
    rows(
        "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE "
        "'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$",
        url=own.url,
    )
    rows(
        "CREATE TRIGGER no_room BEFORE INSERT ON tarry.fact EXECUTE FUNCTION no_room()", url=own.url
    )
    play(first, 20)
    assert "No space left" in engine_of(first).store.trouble
    rows("DROP TRIGGER no_room ON tarry.fact", url=own.url)
    until(lambda: not first.counts.undurable)
    caught_up(first, second)
    assert first.counts == second.counts == (30, 30, 0, 0, 0, 0, 0)
    first.close()
    second.close()


class Far:
    """A way to the server that takes 25 ms there and 25 ms back."""

    def __init__(self, server: Database, folder: Path) -> None:
        self.url = f"postgresql://tarry@{quote(str(folder), safe='')}/postgres"
        self._near = str(server.folder / ".s.PGSQL.5432")
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / ".s.PGSQL.5432"))
        self._listening.listen()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # it is closed
            while True:
                here, _ = self._listening.accept()
                there = socket.socket(socket.AF_UNIX)
                there.connect(self._near)
                for ends in ((here, there), (there, here)):
                    thread = threading.Thread(target=self._carry, args=ends, daemon=True)
                    thread.start()
                    self._threads.append(thread)

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with source, contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                time.sleep(0.025)
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Let go, once both ends have hung up."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self._threads:
            thread.join(0.2)


def test_a_database_that_is_far_away(own: Database) -> None:
    """50 ms of network: asks take as long, and times are right all the same."""
    name = new_name()
    with tempfile.TemporaryDirectory(prefix="tarry-") as folder:
        way = Far(own, Path(folder))
        far, near = opened(name, way.url), opened(name, own.url)
        far.ask()
        begun = time.monotonic()
        mine = far.ask()
        assert 0.05 <= time.monotonic() - begun < 0.5
        assert near.tell(mine) is Told.RETURNED
        assert far.tell(near.ask()) is Told.RETURNED
        clocks = [engine_of(agent).ticker.now() for agent in (far, near)]
        assert abs(clocks[0] - clocks[1]) < 30_000
        caught_up(far, near)
        assert far.counts == near.counts == (3, 2, 1, 0, 0, 0, 0)
        assert all(0.0 < taken < 1.0 for taken in near.history().times[1:])
        far.close()
        near.close()
        way.close()


def test_cut_connections_are_made_anew(own: Database) -> None:
    """A batch of which nobody knows whether it arrived is there once."""
    first, second = pair(own, on_store_failure="continue")
    for k in range(30):
        play(first if k % 2 else second, 1)
        if k % 5 == 0:
            rows(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'tarry'",
                url=own.url,
            )
    until(lambda: not first.counts.undurable and not second.counts.undurable)
    caught_up(first, second)
    assert first.counts == second.counts == (30, 30, 0, 0, 0, 0, 0)
    assert evidence(replica_of(first)) == evidence(replica_of(second))
    first.close()
    second.close()


def test_a_tail_that_others_had_read_is_lost(
    own: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """As by a crash before it was on the disk: the replica that knew it is made anew."""
    first, second = pair(own, durability="normal")
    play(first)
    caught_up(first, second)
    agent = engine_of(first).store.agent
    rows(
        "WITH less AS (UPDATE tarry.agent SET seq = 15 WHERE id = %s RETURNING id) "
        "DELETE FROM tarry.fact WHERE agent IN (SELECT id FROM less) AND seq > 15",
        agent,
        url=own.url,
    )
    rows(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tarry'",
        url=own.url,
    )
    until(lambda: caplog.text.count("has lost its latest facts") == 2)
    play(second, 5)
    at_rest(first, second)
    with opened(engine_of(first).store.name, own.url) as fresh:
        assert evidence(replica_of(fresh)) == evidence(replica_of(second))
        assert evidence(replica_of(fresh)) == evidence(replica_of(first))
    first.close()
    second.close()


def test_a_process_that_slept_longer_than_facts_are_kept(own: Database) -> None:
    """It finds a gap in the log, and begins with the newest snapshot."""
    first, second = pair(own)
    play(first, 5)
    caught_up(first, second)
    engine = engine_of(second)
    old, seq = engine._replica.dump(), engine._replica.seq
    play(first, 10)
    caught_up(first, second)
    writer = engine_of(first).store
    writer.write_snapshot(replica_of(first).seq, replica_of(first).dump(), ["a", "b"])
    rows("DELETE FROM tarry.fact WHERE agent = %s AND seq <= 25", writer.agent, url=own.url)
    replicas, wire = engine._replicas, engine.store.courier
    with replicas.lock, wire.line.lock:
        replicas.current = replicas.restore(old, seq)
        wire.cursor = seq
        wire._latest.clear()
    until(lambda: replica_of(second).seq == replica_of(first).seq)
    play(second, 5)
    caught_up(first, second)
    assert evidence(replica_of(first)) == evidence(replica_of(second))
    first.close()
    second.close()


def test_a_repeated_batch_is_taken_once(own: Database) -> None:
    """The number of a batch says whether it is there already."""
    first, second = pair(own)
    first.ask()
    wire = engine_of(first).store.courier
    seq = replica_of(first).seq
    facts, placed = wire._turn(wire._db, [(99, (1, 5, 5, 0, None))], flush=True)
    assert placed == {seq: 99}
    assert facts == []
    first.close()
    second.close()


@pytest.mark.skipif(
    not (programs() / "pg_basebackup").exists(), reason="the server comes without pg_basebackup"
)
def test_a_standby_takes_over(quickly: None) -> None:
    """An address with both servers is enough; what was acknowledged is on the standby too."""
    with Database(QUICK) as primary, Database(QUICK, standby_of=primary) as standby:
        rows("ALTER SYSTEM SET synchronous_standby_names = '*'", url=primary.url)
        rows("SELECT pg_reload_conf()", url=primary.url)
        until(lambda: rows("SHOW synchronous_standby_names", url=primary.url) == [("*",)])
        hosts = ",".join(quote(str(one.folder), safe="") for one in (primary, standby))
        url = f"postgresql://tarry@{hosts}/postgres?target_session_attrs=read-write"
        name = new_name()
        first, second = (opened(name, url, on_store_failure="continue") for _ in range(2))
        play(first)
        play(second)
        out = second.ask()
        primary.crash()
        play(first, 5)
        standby.promote()
        assert second.tell(out, 0.1) is Told.RETURNED
        until(lambda: not first.counts.undurable and not second.counts.undurable)
        play(second, 5)
        at_rest(first, second)
        assert first.counts == second.counts == (31, 31, 0, 0, 0, 0, 0)
        third = opened(name, standby.url)
        for agent in (second, third):
            assert not differences(evidence(replica_of(agent)), evidence(replica_of(first)))
        for agent in (first, second, third):
            agent.close()
