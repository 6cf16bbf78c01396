"""Several clients of one agent in a database, against the same naive model as a single agent."""

import time
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import initialize, rule
from tests.conformance.cases import LIVE_CASES, Case
from tests.live import test_against_model
from tests.live.postgres import (
    caught_up,
    engine_of,
    evidence,
    new_name,
    opened,
    replica_of,
    server,
    vanish,
)
from tests.live.test_against_model import STEPS, AgentMachine, D

from tarry.live import Agent
from tarry.live.facts import TIME
from tarry.live.store.postgres import line

SHAREABLE = [case for case in LIVE_CASES if getattr(case.policy, "shareable", False)]
CLIENTS = 3
pytestmark = pytest.mark.xdist_group("postgres")


def knows_the_time(client: Agent) -> None:
    """Return when the clock did not move while the client last heard of it."""
    wire = engine_of(client).store.line
    until = time.monotonic() + 20
    while wire.low != wire.high:
        assert time.monotonic() < until
        time.sleep(0.001)


class SharedMachine(AgentMachine):
    """Every step is made by another client, which knows all that the others did before."""

    settings_of_all: dict[str, Any] = {}  # noqa: RUF012  # more that all clients are given

    def __init__(self) -> None:
        super().__init__()
        self.clients: list[Agent] = []
        self.turn = 0

    @property
    def agent(self) -> Agent:
        """The next client, once it has read everything."""
        self.turn += 1
        client = self.clients[self.turn % len(self.clients)]
        caught_up(client)
        knows_the_time(client)
        return client

    @agent.setter
    def agent(self, agent: Agent) -> None:
        """The first of them was made."""

    @initialize(case=st.sampled_from(SHAREABLE))
    def begin(self, case: Case) -> None:
        """Several clients of a new agent."""
        self.name = new_name()
        super().begin(case)

    def opened(self, in_flight: Any) -> Agent:
        """As many clients as there should be."""
        while len(self.clients) < CLIENTS:
            client = opened(
                self.name,
                policy=self.policy,
                arms=list(self.names),
                payoff=self.payoff,
                max_delay=D / 1e6,
                clock=self.clock,
                horizon=1000,
                **self.settings_of_all,
            )
            engine_of(client)._part = 2**60  # time goes on with the steps of the test alone
            self.clients.append(client)
        return self.clients[0]

    def tell_the_time(self) -> None:
        """The database hears what the clock says."""
        store = engine_of(self.agent).store
        store.wait(store.append((TIME, engine_of(self.agent).ticker.now(), None, None, None)))
        caught_up(*self.clients)
        for client in self.clients:
            knows_the_time(client)

    @rule(seconds=st.sampled_from([0.5, 20.0]))
    def jump_back(self, seconds: float) -> None:
        """The clock of the database is set back, and ages stay what they were."""
        self.tell_the_time()
        self.clock.advance(-seconds)
        self.tell_the_time()
        self.last = self.now

    @rule(seconds=STEPS)
    def wait(self, seconds: float) -> None:
        """Time goes by."""
        super().wait(seconds)

    @rule(in_flight=st.just("keep"))
    def crash(self, in_flight: Any) -> None:
        """A client dies and another one comes: all have the same evidence, bit for bit."""
        caught_up(*self.clients)
        first = evidence(replica_of(self.clients[0]))
        assert all(evidence(replica_of(client)) == first for client in self.clients[1:])
        vanish(self.clients.pop(0))
        self.opened(in_flight)
        caught_up(self.clients[-1])
        assert evidence(replica_of(self.clients[-1])) == first

    def teardown(self) -> None:
        """Let go of everything."""
        for client in self.clients:
            client.close()
        self.clients = []
        self.folder.cleanup()


SharedMachine.TestCase.settings = settings(max_examples=12, stateful_step_count=30)


TestShared = SharedMachine.TestCase


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients look often at what others did; numbers of plays are those of the log."""
    server()
    monkeypatch.setattr(line, "POLL", 0.002)
    monkeypatch.setattr(line, "RESTING", 0.002)
    monkeypatch.setattr(
        test_against_model, "number_of", lambda agent, play: replica_of(agent).numbers[play.id]
    )
