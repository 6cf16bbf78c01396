"""What somebody found who tried to break a shared agent, each cured."""

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from tests.live.postgres import (
    at_rest,
    caught_up,
    engine_of,
    evidence,
    new_name,
    opened,
    replica_of,
    rows,
    server,
)

import tarry
from tarry.demo.database import QUICK, Database
from tarry.errors import InputError, JournalError
from tarry.live import Agent, Told
from tarry.live.facts import CANCEL, RETURN, TIME
from tarry.live.store.postgres import courier, line, link, store

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture(scope="module")
def own() -> Iterator[Database]:
    """A server that may be ended."""
    with Database(QUICK) as database:
        yield database


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short times, lest the tests take long."""
    monkeypatch.setattr(courier, "AGAIN", (0.02, 0.05))
    monkeypatch.setattr(store, "PATIENCE", 0.5)


def play(agent: Agent, times: int) -> None:
    """Plays that come back."""
    for _ in range(times):
        assert agent.tell(agent.ask(), 0.1) is Told.RETURNED


def test_who_closes_waits_for_a_database_that_is_away(
    own: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What was acknowledged meanwhile is sent, though it was away for longer than that before."""
    monkeypatch.setattr(courier, "AGAIN", (0.02, 1.0))
    name = new_name()
    agent = opened(name, own.url, on_store_failure="continue")
    play(agent, 1)
    own.crash()
    play(agent, 20)
    engine_of(agent).store.line.since -= 60.0
    back = threading.Timer(0.3, own.start)
    back.start()
    agent.close()
    back.join()
    assert "is closed without" not in caplog.text
    assert agent.counts.dropped == agent.counts.undurable == 0
    with opened(name, own.url) as again:
        assert again.counts.returned == 21


def test_what_cannot_be_written_before_the_end_is_said(
    own: Database, quickly: None, caplog: pytest.LogCaptureFixture
) -> None:
    """After a stated time close gives up, in one line with the number of facts."""
    name = new_name()
    closed, left = (opened(name, own.url, on_store_failure="continue") for _ in range(2))
    play(closed, 1)
    own.crash()
    try:
        play(closed, 20)
        play(left, 5)
        begun = time.monotonic()
        closed.close()
        assert 0.4 < time.monotonic() - begun < 2.0
        assert closed.counts.dropped == 40
        assert closed.counts.undurable == 0
        del left  # which nobody closes
    finally:
        own.start()
    said = [record for record in caplog.records if "is closed without" in record.message]
    assert [record.levelno for record in said] == [logging.WARNING] * 2
    assert "without its latest 40 facts, which could not be written (" in said[0].message
    assert "without its latest 10 facts" in said[1].message
    with opened(name, own.url) as again:
        assert again.counts.returned == 1


def test_nobody_waits_for_what_has_piled_up(
    own: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The database is back, but slow: calls go on while all that waited is sent."""
    monkeypatch.setattr(courier, "AGAIN", (0.02, 0.05))
    monkeypatch.setattr(line, "PILED", 500)
    first, second = (
        opened(name, own.url, on_store_failure="continue") for name in [new_name()] * 2
    )
    play(first, 10)
    wire = engine_of(first).store.courier
    turn = wire._turn

    def slowly(db: Any, batch: Any, *, flush: bool) -> Any:
        time.sleep(0.2 if len(batch) > 1 else 0.0)
        return turn(db, batch, flush=flush)

    monkeypatch.setattr(wire, "_turn", slowly)
    own.crash()
    play(first, 1000)
    play(second, 10)
    own.start()
    took = []
    while engine_of(first)._replicas.is_alone():
        begun = time.monotonic()
        play(first, 1)
        took.append(time.monotonic() - begun)
        assert first.counts.undurable or not engine_of(first)._replicas.is_alone()
        time.sleep(0.005)
    assert len(took) > 50
    assert sorted(took)[-2] < 0.1  # the last one may have been waited for
    monkeypatch.undo()
    while first.counts.undurable:
        time.sleep(0.01)
    at_rest(first, second)
    assert first.counts == second.counts
    assert first.counts.returned == 1020 + len(took)
    assert evidence(replica_of(first)) == evidence(replica_of(second))
    assert caplog.text.count("is written again; nothing is missing") == 2
    first.close()
    second.close()


def test_who_closes_waits_for_all_that_is_being_sent(
    own: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """However long it takes, as long as something arrives; and nobody says before that it has."""
    monkeypatch.setattr(courier, "AGAIN", (0.02, 0.05))
    monkeypatch.setattr(line, "BATCH", 50)
    monkeypatch.setattr(store, "PATIENCE", 1.0)
    name = new_name()
    agent = opened(name, own.url, on_store_failure="continue")
    wire = engine_of(agent).store.courier
    turn = wire._turn

    def slowly(db: Any, batch: Any, *, flush: bool) -> Any:
        time.sleep(0.1 if batch else 0.0)
        return turn(db, batch, flush=flush)

    own.crash()
    play(agent, 400)
    monkeypatch.setattr(wire, "_turn", slowly)
    own.start()
    while engine_of(agent).store.trouble:
        time.sleep(0.01)
    assert "is written again" not in caplog.text
    agent.close()
    assert "is closed without" not in caplog.text
    with opened(name, own.url) as again:
        assert again.counts.returned == 400


def test_a_refused_opening_is_no_process_of_the_agent() -> None:
    """It does not keep another policy out."""
    name = new_name()
    with opened(name):
        for _ in range(2):
            with pytest.raises(JournalError, match="stop the others first"):
                opened(name, policy=tarry.DelayedUCB())
    with opened(name, policy=tarry.DelayedUCB()) as agent:
        agent.ask()


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_hold_every_name(encoding: str) -> None:
    """It is refused before anything is made in it."""
    name = f"of_{encoding}".lower()
    rows(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    url = server().url.replace("/postgres", f"/{name}")
    with pytest.raises(JournalError, match=f"has the encoding {encoding}, .*'UTF8'"):
        opened("x", url)
    assert rows("SELECT to_regclass('tarry.agent')", url=url) == [(None,)]


def test_names_arrive_whatever_the_client_is_set_to() -> None:
    """The address says otherwise, and is not heard."""
    name = new_name()
    with opened(name, server().url + "?client_encoding=latin1", arms=["ж", "b"]) as agent:
        agent.add_arm("漢")
        agent.ask()
        with opened(name, arms=None) as other:
            assert other.arms == ("ж", "b", "漢")


def test_a_history_that_cannot_be_read(own: Database) -> None:
    """One sentence, and an error of ours, whether or not the server runs."""
    with opened(new_name(), own.url) as agent:
        play(agent, 1)
        rows("ALTER TABLE tarry.history RENAME TO gone", url=own.url)
        with pytest.raises(JournalError, match=r"history .* cannot be read \(.*\); try") as error:
            agent.history()
        assert "\n" not in str(error.value)
        rows("ALTER TABLE tarry.gone RENAME TO history", url=own.url)
        own.crash()
        with pytest.raises(JournalError, match=r"history .* cannot be read \(.*\); try") as error:
            agent.history()
        assert "\n" not in str(error.value)
        own.start()
        assert len(agent.history().times) == 1


def test_another_agent_with_the_same_number_is_left_alone(quickly: None) -> None:
    """Somebody has dropped all tables, and made another agent, while this one was at work."""
    with Database(QUICK) as database:
        url = database.url
        agent = opened("routes", url)
        play(agent, 3)
        rows("DROP SCHEMA tarry CASCADE", url=url)
        with opened("pages", url, payoff="reward", max_delay=600.0) as other:
            assert engine_of(other).store.agent == engine_of(agent).store.agent
            play(other, 1)
            with pytest.raises(JournalError, match="the agent was deleted"):
                agent.ask()
            assert other.counts.asked == 1
            assert rows("SELECT count(*) FROM tarry.play", url=url) == [(1,)]
            agent.close()


def test_a_worker_that_starts_again_has_its_old_list() -> None:
    """Arms that were added and removed since are no reason to refuse it; others are."""
    name = new_name()
    with opened(name) as agent:
        agent.add_arm("c")
        agent.add_arm("d")
        agent.remove_arm("a")
        play(agent, 3)
        for arms in (["a", "b"], ["b", "a", "c"], ["b"], ["b", "c", "d"], ["a", "b", "c", "d"]):
            with opened(name, arms=arms) as again:
                caught_up(agent, again)
                assert again.arms == ("b", "c", "d")
                play(again, 1)
        for arms in (["a"], ["c", "d"], ["a", "b", "e"]):
            with pytest.raises(JournalError, match=r"has the arms b, c, d, but .*; leave arms out"):
                opened(name, arms=arms)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "\ud800"}, "The name of the agent, .* no database can hold"),
        ({"name": "x" * 501}, "The name of the agent has 501 characters"),
        ({"arms": ["a\0", "b"]}, "The name of an arm or a feature, 'a\\\\x00', has characters"),
        ({"features": {"kind": ["x", "y\0"]}}, "no database can hold"),
        ({"features": {"kind\ud800": float}}, "no database can hold"),
    ],
)
def test_names_that_no_database_can_hold(given: dict[str, Any], said: str) -> None:
    """The sentence is about the name, not about the database."""
    with pytest.raises(InputError, match=said):
        opened(**({"name": new_name()} | given))


def test_a_long_name_is_taken() -> None:
    """Of letters that take the most room."""
    name = "".join(chr(0x10000 + 97 * k % 60000) for k in range(500))
    with opened(name) as agent:
        agent.ask()


def test_another_horizon_is_named() -> None:
    """What differs is in the sentence."""
    name = new_name()
    with opened(name), pytest.raises(JournalError, match="SurvivalThompson with horizon 10 is gi"):
        opened(name, horizon=10)


def test_who_insists_does_not_go_on_from_memory(
    own: Database, quickly: None, caplog: pytest.LogCaptureFixture
) -> None:
    """And the log does not say so."""
    with opened(new_name(), own.url) as agent:
        own.crash()
        with pytest.raises(JournalError, match="cannot be written"):
            agent.ask()
        agent.counts  # noqa: B018  # it looks
        own.start()
    assert "goes on from memory" not in caplog.text
    assert "calls fail meanwhile" in caplog.text


def test_the_view_closes_plays_without_anybody() -> None:
    """They are as old as the clock says, not as the latest fact does."""
    name = new_name()
    with opened(name, max_delay=0.2) as agent:
        plays = [agent.ask().id for _ in range(3)]
    seen = "SELECT status, seconds FROM tarry.play WHERE id = ANY(%s)"
    time.sleep(0.25)
    assert rows(seen, plays) == [("closed", Decimal("0.2"))] * 3
    with opened(new_name(), max_delay=60.0) as agent:
        play = agent.ask().id
    assert rows("SELECT status, seconds FROM tarry.play WHERE id = %s", play) == [("out", None)]


def test_the_view_says_what_replicas_make_of_late_cancellations() -> None:
    """One that was made in time but arrives when the play is closed changes nothing."""
    name = new_name()
    with opened(name) as agent:
        engine = engine_of(agent)
        plays = [agent.ask().id for _ in range(3)]
        began = replica_of(agent).core.now
        line_ = engine.store.line
        line_.given = lambda: began + 10_000_000
        ends = [
            (CANCEL, began + 10, plays[0], None, None),
            (TIME, began + 3_000_000, None, None, None),
            (CANCEL, began + 20, plays[1], None, None),
            (CANCEL, began + 20, plays[2], None, None),
            (RETURN, began + 30, plays[2], 1_000_000, None),
        ]
        for end in ends:
            engine.flush(engine.store.append(end), insist=True)
        assert agent.counts == (3, 1, 0, 1, 1, 0, 0)
        status = dict(rows("SELECT id, status FROM tarry.play WHERE agent = %s", name))
    assert [status[play] for play in plays] == ["cancelled", "closed", "returned"]


def test_a_clock_of_ones_own_is_refused() -> None:
    """It would be that of all processes."""
    with pytest.raises(InputError, match="goes by the clock of the database"):
        opened(new_name(), clock=lambda: time.time() + 3600.0)


def test_a_process_hears_that_another_policy_has_taken_over(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It was not heard of for a minute: asleep, or cut off."""
    name = new_name()
    with opened(name) as agent:
        engine = engine_of(agent)
        rows(
            "UPDATE tarry.writer SET seen = now() - interval '61 s' WHERE id = %s",
            engine.store.writer,
        )
        with opened(name, policy=tarry.DelayedUCB()):
            for _ in range(2):
                engine.store.courier._alive = -1e9
                while engine.store.courier._alive < 0.0:
                    agent.tell(agent.ask(), 0.1)
    assert caplog.text.count("is decided on by DelayedUCB in other processes, which took over") == 1


@contextlib.contextmanager
def locked(url: str) -> Iterator[None]:
    """Somebody else has a table for himself."""
    with psycopg.connect(url) as db:
        db.execute("LOCK TABLE tarry.fact")
        yield
        db.rollback()


def test_a_table_that_is_locked_while_nothing_was_to_be_sent(
    own: Database, quickly: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread waits for what others have written; who asks then does not wait for ever."""
    monkeypatch.setattr(courier, "BOUND", 0.3)
    agent = opened(new_name(), own.url, on_store_failure="continue")
    play(agent, 1)
    with locked(own.url):
        time.sleep(0.1)
        begun = time.monotonic()
        play(agent, 5)
        assert time.monotonic() - begun < 2.0
        assert agent.counts.undurable == 10
    while agent.counts.undurable:
        time.sleep(0.01)
    assert agent.counts.returned == 6
    agent.close()


def test_an_opening_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that somebody holds is waited for, for a stated time."""
    name = new_name()
    opened(name).close()
    monkeypatch.setattr(link, "PATIENCE", 0.3)
    with (
        locked(server().url),
        pytest.raises(JournalError, match=r"\(no answer for 0.3 s; is a table locked\?\)"),
    ):
        opened(name)
    opened(name).close()
