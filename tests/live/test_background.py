"""Machine code is made ready behind the back of an agent: nobody waits for it, nothing hangs."""

import logging
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import tarry
from tarry.compiled.turns import turn
from tarry.live import Agent, ManualClock, machine
from tarry.live.desk import INTERPRETED

pytestmark = pytest.mark.xdist_group("machine")  # which is compiled once


def made(policy: Any = None) -> tuple[Agent, ManualClock]:
    """An agent of three arms."""
    clock = ManualClock()
    policy = policy or tarry.SurvivalThompson()
    arms = ["a", "b", "c"]
    return Agent(policy, arms=arms, payoff="cost", max_delay=1.0, seed=3, clock=clock), clock


def asked(agent: Agent, clock: ManualClock) -> str:
    """The arm of one play, which comes back after a while."""
    clock.advance(0.013)
    play = agent.ask()
    clock.advance({"a": 0.02, "b": 0.03, "c": 0.3}[play.arm])
    agent.tell(play)
    return play.arm


def is_compiled(agent: Agent) -> bool:
    """Whether it has gone over."""
    return agent._core.open.steps is not INTERPRETED


def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A process of its own."""
    return subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script],
        env=os.environ | {"TARRY_COMPILE": ""} | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_an_agent_goes_over_when_it_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """After many asks, by itself, and to the choices of an agent that never does."""
    monkeypatch.setenv(machine.OPTION, "never")
    other = made(tarry.IncrementUCB(unbounded=True))
    monkeypatch.delenv(machine.OPTION)
    monkeypatch.setattr(machine, "AFTER", 50)
    agent, clock = made(tarry.IncrementUCB(unbounded=True))
    arms = [asked(agent, clock) for _ in range(50)]
    promise = agent._core.promise
    assert promise is not None
    assert promise not in machine._wanted
    assert not promise.over
    deadline = time.monotonic() + 100
    while agent._core.promise is not None and time.monotonic() < deadline:
        arms.append(asked(agent, clock))
        time.sleep(0.005)
    arms += [asked(agent, clock) for _ in range(200)]
    assert is_compiled(agent)
    assert arms == [asked(*other) for _ in arms]


def test_what_a_journal_did_before_does_not_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A process that opens a long journal for a few plays does not begin to compile."""
    monkeypatch.delenv(machine.OPTION)
    monkeypatch.setattr(machine, "AFTER", 50)
    settings: dict[str, Any] = {"payoff": "cost", "max_delay": 1.0, "path": tmp_path / "a.db"}
    monkeypatch.setattr(machine, "_send", lambda promise: pytest.fail("it begins"))
    for _ in range(3):
        with Agent(arms=["a", "b"], **settings) as agent:
            for _ in range(30):
                agent.tell(agent.ask())
        settings["in_flight"] = "keep"


def test_what_cannot_be_compiled_is_interpreted_and_told_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A compiler that fails costs a line in the log, and no play."""
    monkeypatch.setenv(machine.OPTION, "now")

    def fails(maker: Any, *, apart: bool) -> Any:
        raise RuntimeError("no such luck\nand more of it")

    monkeypatch.setattr(machine, "compiled_steps", fails)
    with caplog.at_level(logging.WARNING, "tarry"):
        agent, clock = made()
    asked(agent, clock)
    assert not is_compiled(agent)
    assert agent._core.promise is None
    assert [record.getMessage() for record in caplog.records] == [
        "SurvivalThompson is interpreted, since compiling it fails: no such luck"
    ]


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")  # just that is tested
def test_a_fork_waits_for_its_turn() -> None:
    """A thread at the compiler may finish before the process is forked; the child is free."""
    begun, done = threading.Event(), threading.Event()

    def compiling() -> None:
        with turn:
            begun.set()
            time.sleep(0.2)
            done.set()

    thread = threading.Thread(target=compiling)
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        free = turn.acquire(blocking=False)
        os._exit(0 if done.is_set() and free else 1)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


BEGIN = """
import os, sys, time
{before}
from tarry.live import Agent, machine
import tarry
agent = Agent(tarry.DelayedUCB(), arms=["a", "b"], payoff="cost", max_delay=1.0, seed=1)
assert "numba" not in sys.modules or sys.modules["numba"] is None
machine.AFTER = 20
for _ in range(30):
    agent.tell(agent.ask())
"""

FORKS = """
for k in range(3):
    time.sleep(0.15)
    child = os.fork()
    if child == 0:
        import numba
        assert numba.njit(lambda x: x + 1)(k) == k + 1
        other = Agent(tarry.DelayedUCB(), arms=["a", "b"], payoff="cost", max_delay=1.0, seed=1)
        for _ in range(30):
            other.tell(other.ask())
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


def test_forked_while_compiling_and_ended_while_compiling() -> None:
    """Children can compile, children and parent end well, whatever the thread is doing."""
    done = run(BEGIN.format(before="") + FORKS)
    assert done.returncode == 0, done.stderr
    assert "Error" not in done.stderr
    done = run(BEGIN.format(before=""))
    assert done.returncode == 0, done.stderr
    assert "Error" not in done.stderr


def test_without_numba_agents_are_interpreted() -> None:
    """Where Numba is missing nothing is said, and choices are made."""
    script = BEGIN.format(before='sys.modules["numba"] = None') + (
        "while agent._core.promise is not None:\n    agent.tell(agent.ask())\n"
        "print(agent.counts.returned == agent.counts.asked)\n"
    )
    done = run(script)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
