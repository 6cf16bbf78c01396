"""A PostgreSQL server for tests, and agents on it."""

import atexit
import contextlib
import time
from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import Any

import psycopg
from benchmarks.shared_kills import differences, evidence, replica_of

from tarry.demo.database import QUICK, Database
from tarry.live import Agent
from tarry.live.shared import SharedEngine

__all__ = ["differences", "evidence", "replica_of"]
_names: Iterator[int] = count()


@cache
def server() -> Database:
    """One server for all tests of this process; without fsync, which is not their point."""
    database = Database(QUICK)
    atexit.register(database.close)
    return database


def new_database() -> str:
    """The address of an empty database, for what looks at all agents of one."""
    name = f"db{next(_names)}"
    rows(f'CREATE DATABASE "{name}"')
    return server().url.removesuffix("postgres") + name


def new_name() -> str:
    """A name that no agent has yet."""
    return f"agent {next(_names)} at {time.monotonic_ns()}"


def engine_of(agent: Agent) -> SharedEngine:
    """What an agent works with."""
    engine: Any = agent._engine
    assert isinstance(engine, SharedEngine)
    return engine


def opened(name: str, url: str | None = None, **more: Any) -> Agent:
    """An agent with D = 2 s, on the server of the tests."""
    given: dict[str, Any] = {"arms": ["a", "b"], "payoff": "cost", "max_delay": 2.0, "seed": 5}
    return Agent(path=url or server().url, name=name, **(given | more))


_connections: dict[str, "psycopg.Connection[Any]"] = {}


def _connection(url: str) -> "psycopg.Connection[Any]":
    """One for each server, as long as it lives."""
    found = _connections.get(url)
    if found is not None:
        with contextlib.suppress(psycopg.Error):
            found.execute("SELECT 1")
            return found
        found.close()
    _connections[url] = psycopg.connect(url, autocommit=True)
    atexit.register(_connections[url].close)
    return _connections[url]


def rows(query: str, *values: Any, url: str | None = None) -> list[tuple[Any, ...]]:
    """What the database answers."""
    cursor = _connection(url or server().url).execute(query, values)
    return cursor.fetchall() if cursor.description else []


def last_fact(agent: Agent) -> int:
    """The number of the latest fact in the database."""
    store = engine_of(agent).store
    return int(
        rows("SELECT seq FROM tarry.agent WHERE id = %s", store.agent, url=store.address)[0][0]
    )


def caught_up(*agents: Agent) -> None:
    """Return when these agents have read all that is in the database."""
    until = time.monotonic() + 20
    last = last_fact(agents[0])
    for agent in agents:
        while replica_of(agent).seq < last or engine_of(agent)._replicas.is_alone():
            assert time.monotonic() < until, engine_of(agent).store.trouble
            time.sleep(0.001)


def at_rest(*agents: Agent) -> None:
    """Return when these agents have read everything, and write no more that time goes on."""
    for agent in agents:
        wire = engine_of(agent).store.line
        wire._used = -1e9
        until = time.monotonic() + 20
        while wire.unsent:
            assert time.monotonic() < until
            time.sleep(0.001)
    time.sleep(0.05)
    caught_up(*agents)


def vanish(agent: Agent) -> None:
    """Let the process of an agent "die": nothing is sent any more."""
    courier = engine_of(agent).store.courier
    courier.line.over = True
    engine_of(agent)._ended.detach()
    engine_of(agent).closed = True
    for thread in courier._threads[:1]:
        thread.join(10)
    courier._hang_up()
