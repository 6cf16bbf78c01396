"""One agent with a lease in a database: reports may come to any process."""

import time

import pytest
from tests.live.postgres import caught_up, engine_of, evidence, new_name, opened, replica_of, rows

from tarry.demo.database import QUICK, Database
from tarry.errors import InputError, JournalError
from tarry.live import Agent, ManualClock, Told
from tarry.live.shared_ticker import LEASE_PARTS
from tarry.live.store.postgres import schema
from tarry.live.store.postgres import store as store_module

pytestmark = pytest.mark.xdist_group("postgres")


def two(clock: ManualClock) -> tuple[str, Agent, Agent]:
    """Two processes of a new agent."""
    name = new_name()
    first = opened(name, payoff="reward", max_delay=60.0, lease=8.0, clock=clock)
    return name, first, opened(name, payoff="reward", max_delay=60.0, arms=None, clock=clock)


def passes(clock: ManualClock, seconds: int, *agents: Agent) -> None:
    """Time goes on, and processes that listen write that it does."""
    for _ in range(seconds):
        clock.advance(1.0)
        until = time.monotonic() + 20
        core = replica_of(agents[0]).core
        behind = engine_of(agents[0])._part + 1
        while core.out and engine_of(agents[0]).ticker.now() - core.now > behind:
            assert time.monotonic() < until
            time.sleep(0.002)
            core = replica_of(agents[0]).core
    caught_up(*agents)


def test_reports_come_to_any_process() -> None:
    """All have the same evidence; a play not heard of by any of them vanishes for all."""
    clock = ManualClock(1000.0)
    name, first, second = two(clock)
    with first, second:
        assert (second.lease, second.heartbeat) == (8.0, 2.666666)
        kept, gone, void = first.ask(), second.ask(), first.ask()
        assert second.alive(kept, 1.0)
        assert first.alive(gone, 0.5)
        for k in range(3):
            passes(clock, 3, first, second)
            assert (first, second)[k % 2].alive(kept, 3.0 * k)
        caught_up(first, second)
        for agent in (first, second):
            assert (agent.counts.vanished, agent.counts.void, agent.counts.pending) == (1, 1, 1)
        assert evidence(replica_of(first)) == evidence(replica_of(second))
        assert not second.alive(gone, 9.0)
        assert first.tell(void, 9.0) is Told.LATE
        assert first.tell(kept, 12.0) is Told.RETURNED
        assert second.tell(kept, 12.0) is Told.REPEATED
        found = rows("SELECT id, status, seconds::float8 FROM tarry.play WHERE agent = %s", name)
        by_id = {row[0]: row[1:] for row in found}
        assert by_id[kept.id] == ("returned", 12.0)
        assert by_id[gone.id][0] == "vanished"
        assert by_id[gone.id][1] == pytest.approx(0.5 + 8.0 / 6, abs=1e-5)
        assert by_id[void.id] == ("void", None)


def test_nobody_is_silent_while_nobody_listens() -> None:
    """After an hour without any process, leases begin anew."""
    clock = ManualClock(1000.0)
    name, first, second = two(clock)
    play = first.ask()
    first.alive(play, 2.0)
    first.close()
    second.close()
    clock.advance(3600.0)
    with opened(name, payoff="reward", max_delay=60.0, arms=None, clock=clock) as third:
        assert third.alive(play, 4.0)
        assert third.counts.pending == 1
        passes(clock, 8, third)
        assert third.counts.vanished == 1
        assert engine_of(third)._part == min(8_000_000 // LEASE_PARTS, 60_000_000 // 64)


def test_contradictions_are_refused() -> None:
    """Another lease, a report without one, and an end whose time would be measured."""
    clock = ManualClock(1000.0)
    name, first, second = two(clock)
    with first, second:
        with pytest.raises(JournalError, match="a lease of 8 s"):
            opened(name, payoff="reward", max_delay=60.0, lease=9.0)
        with pytest.raises(InputError, match="as in tell"):
            first.tell(first.ask())
    with opened(new_name()) as plain, pytest.raises(InputError, match="lease="):
        plain.alive(plain.ask(), 1.0)


def test_tables_from_before_there_were_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    """They get the view that knows of leases; agents of both kinds go on in them."""
    with Database(QUICK) as database:
        plain, url = new_name(), database.url
        with monkeypatch.context() as older:
            older.setattr(schema, "VERSION", 1)
            older.setattr(store_module, "VERSION", 1)
            older.setattr(schema, "CHANGES", [schema.TABLES])
            with opened(plain, url) as agent:
                agent.tell(agent.ask(), 0.25)
        with opened(plain, url) as agent, opened(new_name(), url, lease=5.0) as leased:
            agent.tell(agent.ask(), 0.5)
            play = leased.ask()
            leased.alive(play, 0.75)
            leased.tell(play, 1.0)
            found = rows("SELECT status, seconds::float8 FROM tarry.play ORDER BY 2", url=url)
        assert found == [("returned", 0.25), ("returned", 0.5), ("returned", 1.0)]
        assert rows("SELECT version FROM tarry.version", url=url) == [(schema.VERSION,)]
