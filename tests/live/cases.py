"""The cases of the conformance tests, for agents, and looks inside one."""

import dataclasses
import threading
from typing import Any

import pytest

import tarry
from tarry.live import Agent, restore, state
from tarry.live.plays import Status
from tarry.live.store import memory, sqlite
from tarry.live.store.sqlite import SqliteStore
from tarry.policies.change.regime_thompson import LIVE_ODDS, SIMULATED_ODDS


def never_stopping(policy: Any) -> Any:
    """The policy; one with a threshold gets one that some arm always meets."""
    if not hasattr(policy, "threshold"):
        return policy
    easy = 0.001 if "reward" in policy.payoffs else 0.999
    return dataclasses.replace(policy, threshold=easy)


def in_steps(policy: Any, step: float) -> Any:
    """The policy as it is in the simulator, on a clock with steps of so many seconds."""
    if not hasattr(policy, "change_every"):
        return policy
    every = policy.change_every
    as_simulated: dict[str, Any] = {}
    if isinstance(policy, tarry.RegimeThompson):
        usual = SIMULATED_ODDS if every is None else LIVE_ODDS
        as_simulated = {"load": bool(policy.load), "odds": policy.odds or usual}
    return dataclasses.replace(policy, change_every=every and every * step, **as_simulated)


def number_of(agent: Agent, play: Any) -> int:
    """The number of a play, from 1 on."""
    return agent._engine.number_of(play)


def row_of(agent: Agent, number: int) -> int:
    """Where the play with this number is in the register."""
    assert agent._core.register.oldest <= number <= agent._core.register.last
    return number & agent._core.register.mask


def delay_of(agent: Agent, number: int) -> int:
    """The delay booked for the play with this number, in ticks."""
    return agent._core.register.delay[row_of(agent, number)]


def status_of(agent: Agent, number: int) -> Status:
    """Where the play with this number stands."""
    return list(Status)[agent._core.register.status[row_of(agent, number)]]


def arm_of(agent: Agent, number: int) -> str:
    """The arm of the play with this number."""
    core = agent._core
    return core.slots[core.register.slot[row_of(agent, number)]].name


def store_of(agent: Agent) -> SqliteStore:
    """The store of an agent with a file."""
    store = agent._engine.store
    assert isinstance(store, SqliteStore)
    return store


def at_rest(agent: Agent) -> None:
    """Return when nothing is written in the background any more."""
    done = threading.Event()
    store_of(agent).keeper.do(done.set)
    assert done.wait(timeout=30)


def crash(agent: Agent) -> bytes:
    """Let the process "die"; returns the state it was in."""
    body = state.dump(agent._core)
    at_rest(agent)
    store_of(agent)._ended()
    return body


def snapshot_every(facts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stores be handed a snapshot after so many facts."""
    monkeypatch.setattr(sqlite, "SNAPSHOT_EVERY", facts)
    monkeypatch.setattr(memory, "SNAPSHOT_EVERY", facts)
    monkeypatch.setattr(restore, "LOOK", 1)
