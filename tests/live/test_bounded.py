"""No call does much at once: after a pause, at a restart, while a file cannot be written."""

import gc
import io
import os
import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tarry
from tarry.compiled import cache
from tarry.compiled.collector import at_rest
from tarry.live import Agent, ManualClock, elsewhere, machine, restore, state
from tarry.live.desk import grow
from tarry.live.facts import CENSOR
from tarry.live.maker import Maker
from tarry.live.register import CANCELLED, CLOSED, OUT, RETURNED, Columns
from tarry.live.store import sqlite
from tarry.plays import AT_ONCE


def opened(clock: ManualClock, path: Path | None = None, **more: Any) -> Agent:
    """An agent with D = 2 s."""
    given: dict[str, Any] = {"arms": ["a", "b", "c"], "max_delay": 2.0, "durability": "normal"}
    return Agent(payoff="cost", seed=3, path=path, clock=clock, **given | more)


def asked(agent: Agent, clock: ManualClock, plays: int, gap: float = 0.0005) -> list[int]:
    """The ids of so many plays."""
    ids = []
    for _ in range(plays):
        clock.advance(gap)
        ids.append(agent.ask().id)
    return ids


def test_after_a_pause_an_ask_closes_some_plays_and_the_next_ones_the_rest() -> None:
    """The counts are right at once; the evidence is soon that of an agent without the pause."""
    clock = ManualClock()
    agent = opened(clock)
    plays = 3 * AT_ONCE + 50
    asked(agent, clock, plays)
    clock.advance(100.0)
    core: Any = agent._core
    closed = [0]
    for _ in range(5):
        agent.ask()
        assert agent.counts.closed == plays
        closed.append(core.closed)
    assert max(np.diff(closed)) == AT_ONCE
    assert core.closed == plays
    assert sum(core.open.ledger.complete) == plays
    assert {int(n) for n in core.open.ages.reached} == {plays + 1}
    rule = core.open.rule.evidence
    assert sum(rule.passes[b] for b in range(len(rule.edges))) > 0


def test_facts_are_no_load_on_the_garbage_collector() -> None:
    """Thousands of them are kept, and it looks at none."""
    clock = ManualClock()
    agent = opened(clock)
    for play in asked(agent, clock, 300):
        agent.tell(play, 0.1)
    gc.collect()
    facts = agent._engine.store.append.__self__._facts[1]  # type: ignore[attr-defined]  # a look
    assert len(facts) == 600
    assert not any(map(gc.is_tracked, facts))


def test_curves_and_ages_are_those_of_the_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folded in batches, by cancellations and by snapshots, they are what a recount finds."""
    monkeypatch.setattr("tarry.live.passing.MUCH", 100)
    clock = ManualClock()
    agent = opened(clock)
    rng = np.random.default_rng(5)
    for step in range(600):
        clock.advance(0.01)
        play = agent.ask()
        fate = rng.random()
        if fate < 0.7:
            agent.tell(play, float(rng.random()))
        elif fate < 0.72 or 300 < step < 320:
            agent.cancel(play)
        if step % 170 == 0:
            state.dump(agent._core)
    core = agent._core
    core.tally.count(core.register, core.slots, core.ended)
    known = core.register.columns(1, core.asked + 1)
    back = (known.status == RETURNED) | (known.status == CLOSED)
    for arm in core.slots:
        mine = known.slot == arm.slot
        assert arm.curve.events.sum() == (mine & back).sum()
        assert arm.curve.cut.sum() == (mine & (known.status == CANCELLED)).sum()
        early = mine & back & (known.delay < core.max_delay)
        assert arm.curve.sums.sum() == known.delay[early].sum()
        starts = known.start[mine & (known.status == OUT)] // arm.width
        counted = np.unique(starts, return_counts=True)
        assert arm.out == dict(zip(*map(np.ndarray.tolist, counted), strict=True))


@pytest.mark.parametrize("policy", [tarry.SurvivalThompson(), tarry.DelayedUCB()])
def test_the_plays_of_an_earlier_process_are_given_up_as_one_fact(
    policy: Any, tmp_path: Path
) -> None:
    """Each is cancelled at its age, booked with no less, and a replay comes to the same."""
    clock = ManualClock()
    agent = opened(clock, tmp_path / "a.db", policy=policy)
    for play in asked(agent, clock, 900, 0.004)[:800:2]:
        agent.tell(play, 0.05)
    clock.advance(0.5)
    agent.tell(agent.ask(), 0.01)
    agent._engine.store._ended()  # type: ignore[attr-defined]  # no farewell
    clock.advance(50.0)
    agent = opened(clock, tmp_path / "a.db", policy=policy)
    counts, core, store = agent.counts, agent._core, agent._engine.store
    assert counts.pending == 0
    assert counts.censored == counts.cancelled > 100
    assert [fact.kind for fact in store.kept().facts].count(CENSOR) == 1
    known = core.register.columns(1, core.asked + 1)
    gone = known.status == CANCELLED
    assert gone.sum() == counts.cancelled
    assert (known.watched[gone] == core.now - known.start[gone]).all()
    assert (known.delay[gone] >= known.watched[gone]).all()
    assert not any(arm.out for arm in core.slots)
    again = restore.restored(policy, store.settings, store, "it")
    assert state.dump(again) == state.dump(core)
    agent.tell(agent.ask(), 0.1)
    agent.close()


def test_facts_that_wait_for_a_file_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Beyond the bound, what they led to is written in their place, and counted and said."""
    monkeypatch.setattr(sqlite, "WAITING", 200)
    monkeypatch.setattr(sqlite, "SNAPSHOT_EVERY", 100)
    path, aside = tmp_path / "a.db", tmp_path / "b.db"
    clock = ManualClock()
    agent = opened(clock, path, on_store_failure="continue")
    first = asked(agent, clock, 20)
    path.rename(aside)
    for _ in range(10):
        for play in asked(agent, clock, 60):
            agent.tell(play, 0.1)
    store: Any = agent._engine.store
    assert len(store.append.__self__._facts[1]) < 500
    waiting = agent.counts
    assert waiting.undurable > 1000
    assert 200 < waiting.dropped <= waiting.undurable
    aside.rename(path)
    store.wait(store.appended)
    assert (agent.counts.undurable, agent.counts.dropped) == (0, waiting.dropped)
    assert f"of {waiting.dropped} facts, too many to wait, only what" in caplog.text
    agent.tell(first[0], 0.2)
    before = agent.counts
    store._ended()
    agent = opened(clock, path, in_flight="keep")
    assert agent.counts == before
    assert agent.counts.returned == 601
    for play in asked(agent, clock, 300):
        agent.tell(play, 0.1)
    agent.close()
    assert opened(clock, path).counts.returned == 901


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_the_collector_rests_and_goes_on() -> None:
    """On as before, with nothing frozen; off, or with frozen objects, it is left as it is."""
    with at_rest():
        assert not gc.isenabled()
        kept: list[list[int]] = [[] for _ in range(1000)]
        child = os.fork()
        if child == 0:
            os._exit(0 if gc.isenabled() else 1)
        assert os.waitpid(child, 0)[1] == 0
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
    assert gc.get_count()[0] < len(kept)
    gc.disable()
    try:
        with at_rest():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_collector_rests_while_other_threads_make_tuples() -> None:
    """A list of all objects, taken to count them, broke those that were being made: SystemError."""
    over = threading.Event()

    def make() -> int:
        made = 0
        while not over.is_set():
            made += len(tuple(number for number in range(200)))
        return made

    with ThreadPoolExecutor(3) as threads:
        makers = [threads.submit(make) for _ in range(3)]
        until = time.monotonic() + 1.5
        while time.monotonic() < until and not any(maker.done() for maker in makers):
            with at_rest():
                pass
        over.set()
        assert all(maker.result() for maker in makers)


def test_another_process_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not in the cache is compiled elsewhere, and a stamp says that it is there."""
    monkeypatch.setattr(cache, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(machine, "compiled_steps", lambda examples, *, apart: examples)
    sent: list[bytes] = []

    def run(command: list[str], *, input: bytes, **options: Any) -> None:  # noqa: A002
        assert command[0] == sys.executable
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(input)))
        sent.append(input)
        elsewhere.compile_here()

    monkeypatch.setattr("tarry.live.elsewhere.subprocess.run", run)
    clock = ManualClock()
    maker: Maker = opened(clock)._core.maker
    examples = (*maker.examples(), maker.random())
    for _ in range(2):
        assert len(machine.steps_aside(examples)) == 5
    assert len(sent) == 1
    assert type(pickle.loads(sent[0])[0][0]) is type(examples[0])  # noqa: S301  # our own
    assert elsewhere.stamp(tmp_path, examples).exists()
    monkeypatch.setattr(sys, "executable", "/usr/bin/uwsgi")
    elsewhere.stamp(tmp_path, examples).unlink()
    machine.steps_aside(examples)
    assert len(sent) == 1


def test_cancel_and_explain_with_a_hundred_thousand_plays_out() -> None:
    """Each takes a small part of a second, however many plays are out."""
    plays = 100_000
    clock = ManualClock()
    agent = opened(clock, max_delay=86_400.0)
    core, number = agent._core, np.arange(plays)
    none = np.full(plays, -1)
    status = np.zeros(plays, np.int8)
    core.register.fill(1, Columns(number % 3, 10 * number, none, none, none, status))
    while len(core.open.plays.number) < 2 * plays:
        grow(core.desks())
    state.fill_tables(core)
    clock.advance(plays / 1e5)
    begin = time.thread_time()
    assert agent.explain()["a"].pending == -(-plays // 3)
    explained = time.thread_time()
    for play in range(1, 41):
        assert agent.cancel(agent._engine.ids.base + play)
    cancelled = time.thread_time()
    assert explained - begin < 0.5
    assert cancelled - explained < 40 * 0.01
    assert agent.counts.pending == plays - 40
