"""One agent in a database, in several processes."""

import asyncio
import multiprocessing
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import psycopg
import pytest
from tests.live.postgres import (
    caught_up,
    engine_of,
    evidence,
    last_fact,
    new_database,
    new_name,
    opened,
    replica_of,
    rows,
    server,
    vanish,
)

import tarry
from tarry.demo.database import QUICK, Database
from tarry.errors import ConflictError, InputError, JournalError, LiveError, UnknownPlayError
from tarry.live import Agent, ManualClock, Told
from tarry.live.facts import RETURN, START
from tarry.live.history import CHUNK
from tarry.live.replica import KEEP
from tarry.live.store.postgres import schema
from tarry.live.store.postgres import store as store_module
from tarry.live.store.postgres.link import shown
from tarry.live.store.postgres.schema import VERSION, bring_up_to_date

pytestmark = pytest.mark.xdist_group("postgres")


def test_what_one_asks_another_may_tell() -> None:
    """An answer counts once, whoever tells it, and all count the same."""
    name = new_name()
    with opened(name) as first, opened(name, arms=None) as second:
        play = first.ask()
        assert second.tell(play.id, 0.25) is Told.RETURNED
        assert first.tell(play, 0.25) is Told.REPEATED
        with pytest.raises(ConflictError, match=r"was told with delay 0.25 s before and now"):
            second.tell(play.id, 0.5)
        assert second.counts.conflicts == 1
        other = second.ask()
        assert first.cancel(other.id)
        assert not second.cancel(other)
        assert second.fail(first.ask()) is Told.RETURNED
        caught_up(first, second)
        assert first.counts == second.counts == (3, 2, 0, 0, 1, 0, 1)
        assert str(first.explain()) == str(second.explain())
        table = rows("SELECT arm, status, seconds FROM tarry.play WHERE id = %s", play.id)
        assert table == [(play.arm, "returned", 0.25)]
        for wrong in (0, -1, play.id + 1000, 15 << 33, 2**70):
            with pytest.raises(UnknownPlayError, match="no process of this agent"):
                first.tell(wrong)
        with pytest.raises(UnknownPlayError):
            first.tell("x")  # type: ignore[arg-type]


def test_agents_of_one_database_do_not_know_each_other() -> None:
    """They have names; an id of one is unknown to the other."""
    with opened(new_name()) as first, opened(new_name(), arms=["x"]) as second:
        play = first.ask()
        assert second.arms == ("x",)
        with pytest.raises(UnknownPlayError):
            second.tell(play)
        assert second.counts.asked == 0


def test_arms_are_the_same_everywhere() -> None:
    """Added, paused, resumed, removed by one, and seen by all."""
    name = new_name()
    with opened(name) as first, opened(name) as second:
        first.add_arm("c")
        second.pause_arm("a") if "a" in second.arms else None
        caught_up(first, second)
        assert first.arms == second.arms == ("a", "b", "c")
        assert first.explain()["a"].paused
        first.remove_arm("b")
        caught_up(second)
        assert {second.ask().arm for _ in range(5)} == {"c"}
        with pytest.raises(InputError, match="There is no arm 'b'"):
            second.pause_arm("b")
        with pytest.raises(InputError, match="There is an arm 'c' already"):
            second.add_arm("c")
        with pytest.raises(InputError, match="leave out control characters"):
            second.add_arm("d\0")
        second.resume_arm("a")
    with opened(name, arms=["c", "a"]) as third:
        assert third.arms == ("a", "c")
        third.pause_arm("a")
        third.pause_arm("c")
        with pytest.raises(LiveError, match="No arm is open"):
            third.ask()
    assert rows(
        "SELECT arm.name FROM tarry.arm JOIN tarry.agent ON agent.id = arm.agent "
        "WHERE agent.name = %s ORDER BY slot",
        name,
    ) == [("a",), ("b",), ("c",)]


def test_two_add_the_same_arm_at_once() -> None:
    """The first in the order of the log has added it; the other one hears so."""
    name = new_name()
    with opened(name) as first, opened(name) as second:
        seqs = [engine_of(agent).change_arms(5, "c") for agent in (first, second)]
        failed = 0
        for agent, seq in zip((first, second), seqs, strict=True):
            engine_of(agent).flush(seq, insist=True)
            try:
                engine_of(agent).changed_arms(seq)
            except InputError:
                failed += 1
        assert failed == 1
        caught_up(first, second)
        assert first.arms == second.arms == ("a", "b", "c")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"max_delay": 3.0}, "max_delay 2 s, but 3 s is given"),
        ({"payoff": "reward"}, "payoff 'cost', but 'reward'"),
        ({"seed": 6}, "seed 5, but 6"),
        ({"arms": ["a", "z"]}, "has the arms a, b, but a, z"),
        ({"features": {"size": float}}, "other features"),
        ({"policy": tarry.DelayedUCB()}, "by SurvivalThompson in other processes, but DelayedUCB"),
    ],
)
def test_others_must_agree(given: dict[str, Any], said: str) -> None:
    """Or get one sentence; the agent is as it was."""
    name = new_name()
    with opened(name) as agent:
        agent.ask()
        with pytest.raises(JournalError, match=said):
            opened(name, **given)
        agent.ask()


def test_another_policy_may_take_over_when_nobody_is_there(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Facts outlive policies."""
    name = new_name()
    with opened(name) as agent:
        for _ in range(20):
            agent.tell(agent.ask(), 0.1)
    with opened(name, policy=tarry.DelayedUCB()) as agent:
        assert agent.counts.returned == 20
        assert np.asarray(replica_of(agent).core.open.ledger.seen).sum() == 20
    assert "is by DelayedUCB from now on" in caplog.text
    with opened(name, policy=tarry.DelayedUCB()) as agent:
        assert agent.ask().arm in ("a", "b")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"policy": tarry.BDSE()}, "processes cannot share"),
        ({"name": None}, "needs name="),
        ({"name": ""}, "needs name="),
        ({"name": "a\0"}, "needs name="),
        ({"arms": None}, "No arms are given"),
    ],
)
def test_bad_settings(given: dict[str, Any], said: str) -> None:
    """They are refused at the border."""
    more = {"name": new_name()} | given
    with pytest.raises(InputError, match=said):
        opened(**more)


def test_a_name_is_for_databases_only(tmp_path: Any) -> None:
    """A file has its path."""
    with pytest.raises(InputError, match="only an agent in a database"):
        Agent(arms=["a"], payoff="cost", max_delay=1.0, path=tmp_path / "a.db", name="x")


def test_a_database_that_is_not_there() -> None:
    """One sentence, without the password."""
    with pytest.raises(JournalError, match="cannot be used") as error:
        opened("x", "postgresql://me:secret@127.0.0.1:1/db")
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)
    assert shown("postgresql://me:secret@h:5/db?password=x") == "postgresql://me@h:5/db"
    assert shown("postgresql://h/db") == "postgresql://h/db"


def test_tables_of_a_newer_version_are_left_alone() -> None:
    """They are made once, and by one process at a time."""
    with opened(new_name()) as agent:
        db = engine_of(agent).store._db
        assert bring_up_to_date(db) == VERSION
    rows("UPDATE tarry.version SET version = version + 1")
    try:
        found = f"version {VERSION + 1}, and this version of tarry knows 1 to {VERSION}"
        with pytest.raises(JournalError, match=found):
            opened(new_name())
    finally:
        rows("UPDATE tarry.version SET version = version - 1")


def test_tables_are_made_once_by_processes_that_come_together() -> None:
    """Who looked before they were there, and then waited for their maker, finds them."""
    url = new_database()
    with (
        psycopg.connect(url, autocommit=True) as maker,
        psycopg.connect(url, autocommit=True) as other,
        ThreadPoolExecutor(1) as thread,
    ):
        with maker.transaction():
            assert bring_up_to_date(maker) == 0
            waiting = thread.submit(bring_up_to_date, other)
            waits = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            until = time.monotonic() + 20
            while not rows(waits) and time.monotonic() < until:
                time.sleep(0.01)
        assert waiting.result(20) == VERSION
    with ThreadPoolExecutor(4) as threads:
        url = new_database()
        for agent in threads.map(lambda _: opened("together", url), range(4)):
            agent.close()


def test_tables_of_an_older_version_are_brought_up_to_date(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By whoever comes first, once, and with all that was known; the older version is refused."""
    change = "ALTER TABLE tarry.fact ADD COLUMN note text; COMMENT ON TABLE tarry.fact IS 'new'"
    with Database(QUICK) as database:
        name, url = new_name(), database.url
        with opened(name, url) as agent:
            agent.tell(agent.ask(), 0.1)
        with monkeypatch.context() as newer:
            newer.setattr(schema, "VERSION", VERSION + 1)
            newer.setattr(store_module, "VERSION", VERSION + 1)
            newer.setattr(schema, "CHANGES", [*schema.CHANGES, change])
            with ThreadPoolExecutor(4) as threads:
                agents = list(threads.map(lambda _: opened(name, url), range(4)))
            assert rows("SELECT version FROM tarry.version", url=url) == [(VERSION + 1,)]
            agents[0].tell(agents[1].ask(), 0.1)
            caught_up(*agents)
            assert [agent.counts.returned for agent in agents] == [2] * 4
            for agent in agents:
                agent.close()
        with pytest.raises(JournalError, match="use a newer version") as error:
            opened(name, url)
        assert "\n" not in str(error.value)


def test_a_change_of_tables_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next attempt finds them as they were."""
    with Database(QUICK) as database:
        name, url = new_name(), database.url
        opened(name, url).close()
        with monkeypatch.context() as newer:
            newer.setattr(schema, "VERSION", VERSION + 1)
            newer.setattr(store_module, "VERSION", VERSION + 1)
            newer.setattr(schema, "CHANGES", [*schema.CHANGES, "DROP VIEW tarry.play; nonsense"])
            with pytest.raises(JournalError, match="cannot be used") as error:
                opened(name, url)
        assert "\n" not in str(error.value)
        assert rows("SELECT count(*) FROM tarry.play", url=url) == [(0,)]
        opened(name, url).close()


def test_a_play_that_nobody_ends_is_closed_at_d_by_all() -> None:
    """Without anybody writing it; an answer after that is late."""
    clock, name = ManualClock(1000.0), new_name()
    with opened(name, clock=clock) as first, opened(name, clock=clock) as second:
        play = first.ask()
        caught_up(second)
        vanish(first)
        clock.advance(2.5)
        assert second.counts == (1, 0, 0, 1, 0, 0, 0)
        assert second.tell(play.id) is Told.LATE
        caught_up(second)
        assert second.counts == (1, 0, 0, 1, 0, 1, 0)
        assert rows("SELECT status FROM tarry.play WHERE id = %s", play.id) == [("closed",)]


@pytest.mark.parametrize("policy", [tarry.SurvivalThompson(), tarry.DelayedUCB()])
def test_an_end_that_was_long_on_its_way_counts(policy: Any) -> None:
    """A process that was cut off sends an end made in time: the closing at D is taken back."""
    clock, name = ManualClock(1000.0), new_name()
    with (
        opened(name, clock=clock, policy=policy) as first,
        opened(name, clock=clock, policy=policy) as second,
    ):
        plays = [first.ask() for _ in range(4)]
        caught_up(second)
        start = engine_of(first).ticker.now()
        clock.advance(5.0)
        second.ask()
        assert second.counts.closed == 4
        store = engine_of(first).store
        for play, delay, last in zip(plays, (0.5, 1.5, 1.5, 3.0), (0, 0, KEEP, 0), strict=True):
            clock.advance(last / 1e6)
            at = start + round(min(delay, 2.9) * 1e6)
            store.wait(store.append((RETURN, at, play.id, None, None)))
            if last:
                second.ask()
        caught_up(first, second)
        assert second.counts[:6] == (6, 3, 1, 2, 0, 1)
        assert evidence(replica_of(first)) == evidence(replica_of(second))
        ledger = replica_of(second).core.open.ledger
        assert np.asarray(ledger.seen).sum() == 5
        assert np.asarray(ledger.seen_sum).sum() == 500_000 + 2 * 1_500_000 + 2 * 2_000_000
        with opened(name, clock=clock, policy=policy) as third:
            assert evidence(replica_of(third)) == evidence(replica_of(second))


def test_an_end_may_come_before_its_start() -> None:
    """The process that asked is cut off, and another one is told: it waits for the start."""
    name = new_name()
    with opened(name) as first, opened(name) as second:
        writer, seq = engine_of(first).store.writer, last_fact(first)
        play = (writer << 32) + 1
        assert second.tell(play, 0.5) is Told.RETURNED
        assert second.tell(play, 0.5) is Told.REPEATED
        assert second.counts.asked == 0
        first_play = first.ask()
        assert first_play.id == play
        caught_up(first, second)
        assert first.counts == second.counts == (1, 1, 0, 0, 0, 0, 0)
        assert last_fact(first) == seq + 3
    with opened(name) as third:
        assert third.counts == (1, 1, 0, 0, 0, 0, 0)


def test_time_goes_on_while_plays_are_out() -> None:
    """So that ages are evidence where nothing else happens; an idle agent writes nothing."""
    name = new_name()
    with opened(name, max_delay=1.0) as agent:
        play = agent.ask()
        time.sleep(0.3)
        behind = engine_of(agent).ticker.now() - replica_of(agent).core.now
        assert behind < 200_000
        agent.tell(play)
        time.sleep(0.05)
        last = last_fact(agent)
        time.sleep(0.2)
        assert last_fact(agent) == last


def test_threads_and_tasks_lose_nothing() -> None:
    """Asks and tells from everywhere at once; every replica equals a recount from the table."""
    name = new_name()
    agents = [opened(name) for _ in range(2)]

    def work(agent: Agent) -> None:
        for _ in range(40):
            with agent.play():
                pass

    async def task(agent: Agent) -> None:
        for _ in range(10):
            play = await agent.ask_async()
            assert await agent.tell_async(play, 0.1) is Told.RETURNED
            async with agent.play() as active:
                assert active.tell() is Told.RETURNED
        assert await agent.cancel_async(await agent.ask_async())
        assert await agent.fail_async(await agent.ask_async()) is Told.RETURNED

    async def tasks() -> None:
        await asyncio.gather(*(task(agents[k % 2]) for k in range(8)))

    threads = [threading.Thread(target=work, args=(agents[k % 2],)) for k in range(8)]
    for thread in threads:
        thread.start()
    asyncio.run(tasks())
    for thread in threads:
        thread.join()
    caught_up(*agents)
    asked = 8 * 40 + 8 * 22
    for agent in agents:
        assert agent.counts[:3] == (asked, asked - 8, 0)
    fresh = opened(name)
    assert evidence(replica_of(agents[0])) == evidence(replica_of(agents[1]))
    assert evidence(replica_of(agents[0])) == evidence(replica_of(fresh))
    table = rows("SELECT status, count(*) FROM tarry.play WHERE agent = %s GROUP BY 1", name)
    assert dict(table) == {"returned": asked - 16, "failed": 8, "cancelled": 8}
    for agent in (*agents, fresh):
        agent.close()


def test_contexts_are_shared() -> None:
    """What is known of a request is a part of the fact."""
    name = new_name()
    features = {"size": float, "region": ["eu", "us"]}
    with opened(name, features=features) as first, opened(name) as second:
        for k in range(20):
            first.tell(second.ask({"size": k / 10, "region": "eu"}), 0.1)
        caught_up(first, second)
        assert evidence(replica_of(first)) == evidence(replica_of(second))
        assert second.history().context["size"][:2] == [0.0, 0.1]
        assert second.explain({"size": 1.0}).arms
        with pytest.raises(InputError):
            first.ask({"colour": 1})


def test_snapshots_and_history_are_kept_and_old_facts_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new process begins with the newest snapshot; facts beyond the history are deleted."""
    monkeypatch.setattr(store_module, "SNAPSHOT_EVERY", 4000)
    clock, name = ManualClock(1000.0), new_name()
    agents = [opened(name, clock=clock, history=CHUNK, durability="normal") for _ in range(2)]
    store = engine_of(agents[0]).store
    for k in range(3 * CHUNK):
        clock.advance(0.02)
        play, _ = engine_of(agents[k % 2]).ask()
        engine_of(agents[k % 2]).end(RETURN, play.id, 1000)
        if k % 500 == 0:
            caught_up(*agents)
    for agent in agents:
        engine_of(agent).store.wait(engine_of(agent).store.appended)
    clock.advance(100.0)
    for _ in range(CHUNK // 8):
        agents[0]._engine.ask()
    engine_of(agents[0]).store.wait(engine_of(agents[0]).store.appended)
    caught_up(*agents)
    until = time.monotonic() + 10
    query = "SELECT count(*), min(seq), max(seq) FROM tarry.fact WHERE agent = %s"
    while rows(query, store.agent)[0][1] == 1 and time.monotonic() < until:
        time.sleep(0.05)
    found, first, last = rows(query, store.agent)[0]
    assert 2 * CHUNK <= found == last - first + 1 < 6 * CHUNK
    assert [chunk.first for chunk in store.chunks()] == [1 + 2 * CHUNK]
    assert len(rows("SELECT 1 FROM tarry.snapshot WHERE agent = %s", store.agent)) == 2
    assert evidence(replica_of(agents[0])) == evidence(replica_of(agents[1]))
    fresh = opened(name, clock=clock)
    assert evidence(replica_of(fresh)) == evidence(replica_of(agents[0]))
    assert len(fresh.history().times) == CHUNK
    assert fresh.tell((store.writer << 32) + 1) is Told.FORGOTTEN
    rows(
        "UPDATE tarry.snapshot SET crc = 0 WHERE agent = %s AND seq = "
        "(SELECT max(seq) FROM tarry.snapshot WHERE agent = %s)",
        store.agent,
        store.agent,
    )
    again = opened(name, clock=clock)
    caught_up(again, fresh)
    assert evidence(replica_of(again)) == evidence(replica_of(fresh))
    for agent in (*agents, fresh, again):
        agent.close()


def test_the_same_numbers_are_never_drawn_twice() -> None:
    """Decisions of different processes, and of one process at one time, are different draws."""
    name = new_name()
    arms = [str(k) for k in range(50)]
    with opened(name, arms=arms) as first, opened(name, arms=arms) as second:
        for arm in arms:
            first.tell(first.ask(), 0.1 + int(arm) / 1000)
        caught_up(first, second)
        sequences = [
            [engine_of(agent).ask()[0].arm for _ in range(20)] for agent in (first, second)
        ]
        assert sequences[0] != sequences[1]
        assert len(set(sequences[0])) > 5


def in_child(work: Any) -> int:
    """The exit code of a forked process that does this."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_agent_has_its_own_connection() -> None:
    """Parent and child go on side by side, as two processes of one agent."""
    name = new_name()
    with opened(name) as agent:
        mine = agent.ask()

        def work() -> None:
            assert agent.tell(mine, 0.5) is Told.RETURNED
            play = agent.ask()
            assert play.id >> 32 != mine.id >> 32
            assert agent.tell(play, 0.5) is Told.RETURNED
            assert agent.counts.returned == 2
            agent.close()

        assert in_child(work) == 0
        assert in_child(lambda: None) == 0
        assert agent.tell(mine, 0.5) is Told.REPEATED
        assert agent.tell(agent.ask()) is Told.RETURNED
        assert agent.counts[:3] == (3, 3, 0)


def test_an_agent_that_nobody_closes_ends_with_its_owner() -> None:
    """Its thread ends, and what was appended is there."""
    name = new_name()
    agent = opened(name)
    threads = engine_of(agent).store.courier._threads
    agent.ask()
    del agent
    for thread in threads[:1]:
        thread.join(10)
        assert not thread.is_alive()
    with opened(name) as again:
        assert again.counts.asked == 1


def test_a_closed_agent_says_so() -> None:
    """Twice is no error; counts can still be read."""
    agent = opened(new_name())
    agent.ask()
    agent.close()
    agent.close()
    with pytest.raises(LiveError, match="closed"):
        agent.ask()
    assert agent.counts.asked == 1
    with pytest.raises(JournalError, match="pg_dump"):
        agent.backup("x")


def worker(url: str, name: str, count: int) -> None:
    """A process that plays."""
    with opened(name, url) as agent:
        for _ in range(count):
            agent.tell(agent.ask(), 0.1)


def test_real_processes() -> None:
    """Two of them, started afresh."""
    name = new_name()
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=worker, args=(server().url, name, 50)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    with opened(name) as agent:
        assert agent.counts[:3] == (100, 100, 0)
    table = rows(
        "SELECT count(*), count(DISTINCT play) FROM tarry.fact JOIN tarry.agent ON "
        "agent.id = fact.agent WHERE agent.name = %s AND kind = %s",
        name,
        START,
    )
    assert table == [(100, 100)]
