"""What is kept of plays that ended, and what can be made from it."""

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conformance.cases import LIVE_RULES, Case
from tests.live.cases import at_rest, never_stopping, snapshot_every

import tarry
from tarry.errors import JournalError
from tarry.live import Agent, ManualClock, Told, history, recover
from tarry.live.maker import listed
from tarry.live.store import unwritten

ARMS = ["fra", "ams", "lon"]
OLD = Path(__file__).with_name("old")


def opened(path: Path | None, clock: ManualClock, **more: Any) -> Agent:
    """An agent with D = 2 s."""
    given: dict[str, Any] = {
        "arms": ARMS,
        "payoff": "cost",
        "max_delay": 2.0,
        "seed": 3,
        "durability": "normal",
        "in_flight": "keep",
    }
    policy = more.pop("policy", tarry.DelayedUCB())
    return Agent(policy, path=path, clock=clock, **(given | more))


def go_on(agent: Agent, clock: ManualClock, plays: int) -> list[tuple[str, float, str]]:
    """Some plays with all kinds of ends: arm, delay and status of each, as they will be."""
    story = []
    for k in range(plays):
        play = agent.ask()
        clock.advance(0.03)
        delay = 0.01 * (1 + ARMS.index(play.arm))
        kind = ("returned", "returned", "cancelled", "failed", "closed")[k % 5]
        if kind == "returned":
            agent.tell(play, delay)
        elif kind == "cancelled":
            agent.cancel(play)
            delay = 0.03
        elif kind == "failed":
            agent.fail(play)
            delay = 2.0
        else:
            delay = 2.0
        story.append((play.arm, delay, kind))
    return story


def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a chunk be 16 plays."""
    snapshot_every(50, monkeypatch)
    for module in (history, unwritten):
        monkeypatch.setattr(module, "CHUNK", 16)


@pytest.mark.parametrize("durable", [False, True])
def test_history_is_what_happened(
    durable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All plays that ended, in order: arm, start, delay and status; after a restart too."""
    small_chunks(monkeypatch)
    clock = ManualClock(100.0)
    path = tmp_path / "a.db" if durable else None
    agent = opened(path, clock, remembered=20)
    story = go_on(agent, clock, 300)
    clock.advance(3.0)
    for _ in range(2):
        found = agent.history()
        assert [found.names[arm] for arm in found.arms] == [arm for arm, _, _ in story]
        statuses = found.context["status"]
        assert list(statuses) == [status for _, _, status in story]
        assert np.allclose(found.times, [delay for _, delay, _ in story])
        assert found.starts is not None
        assert np.allclose(found.starts, 100.0 + 0.03 * np.arange(300))
        assert (found.finished == (np.array(statuses) != "cancelled")).all()
        assert set(found.means()) == set(found.names)
        if path is None:
            break
        agent.close()
        agent = opened(path, clock, remembered=20)
    agent.close()


@pytest.mark.parametrize("durable", [False, True])
def test_history_knows_the_plays_that_are_out(durable: bool, tmp_path: Path) -> None:
    """One that is out is unfinished at its age: without it the means would be too short."""
    clock = ManualClock(100.0)
    agent = opened(tmp_path / "a.db" if durable else None, clock)
    plays = [agent.ask() for _ in range(4)]
    clock.advance(0.5)
    agent.tell(plays[0], 0.25)
    late = agent.ask()
    clock.advance(1.0)
    found = agent.history()
    assert found.context["status"] == ["returned", "out", "out", "out", "out"]
    assert np.allclose(found.times, [0.25, 1.5, 1.5, 1.5, 1.0])
    assert found.finished.tolist() == [True, False, False, False, False]
    assert found.unfinished == agent.counts.pending == 4
    clock.advance(0.75)
    assert agent.history().context["status"] == ["returned", "closed", "closed", "closed", "out"]
    agent.cancel(late)
    agent.close()


@pytest.mark.parametrize("durable", [False, True])
def test_history_has_an_end(durable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more plays are kept than asked for, in memory and on disk; none if none are wanted."""
    small_chunks(monkeypatch)
    clock = ManualClock()
    for most in (0, 50):
        path = tmp_path / f"{most}.db" if durable else None
        agent = opened(path, clock, remembered=20, history=most)
        story = go_on(agent, clock, 400)
        clock.advance(3.0)
        found = agent.history()
        names = [found.names[arm] for arm in found.arms]
        assert names == [arm for arm, _, _ in story][400 - most :]
        if durable:
            at_rest(agent)
        assert len(agent._engine.store.chunks()) <= 4
        agent.close()


@pytest.mark.parametrize("case", LIVE_RULES, ids=str)
def test_evidence_is_made_anew_for_another_policy(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Any policy can take over: it knows what it would know had it seen these plays itself."""
    small_chunks(monkeypatch)
    path = tmp_path / "a.db"
    clock, other = ManualClock(), ManualClock()
    first = tarry.Uniform()
    agent = opened(path, clock, policy=first, remembered=20, payoff=case.payoff)
    story = go_on(agent, clock, 150)
    counts = agent.counts
    agent.close()
    policy = never_stopping(case.policy)
    with caplog.at_level(logging.INFO, "tarry"):
        agent = opened(path, clock, policy=policy, horizon=1000, payoff=case.payoff, arms=None)
    if policy != first:
        assert "was made anew from the last 150 of 150 plays" in caplog.text
        assert "was decided on by Uniform and is by" in caplog.text
    assert agent.counts == counts
    same = opened(None, other, policy=policy, horizon=1000, payoff=case.payoff)
    for arm, delay, kind in story:
        core = same._core
        core.settle(same._engine.ticker.now())
        core.open.enter(core.asked + 1, same._engine.ticker.now())
        number = core.start(core.arms[arm], same._engine.ticker.now())
        other.advance(0.03)
        if kind == "cancelled":
            core.cancel(number, same._engine.ticker.now())
        elif kind == "failed":
            core.fail(number, same._engine.ticker.now())
        elif kind == "returned":
            core.tell(number, round(delay * 1e6), same._engine.ticker.now())
    ours: Any = agent._core.open.ledger
    theirs: Any = same._core.open.ledger
    assert list(ours.plays) == list(theirs.plays)
    for one in (agent, same):
        one._engine.ticker._clock.advance(5.0)  # type: ignore[attr-defined]  # a manual clock
        one._core.settle(one._engine.ticker.now())
    assert list(ours.seen) == list(theirs.seen)
    assert list(ours.complete_sum) == pytest.approx(list(theirs.complete_sum), rel=0.02)
    assert {agent.ask().arm for _ in range(30)} <= set(ARMS)
    agent.close()


def test_a_policy_changed_back_is_the_same_agent(tmp_path: Path) -> None:
    """Ids, counts and arms stay; answers to earlier plays count under the new policy."""
    path = tmp_path / "a.db"
    clock = ManualClock()
    agent = opened(path, clock)
    go_on(agent, clock, 40)
    agent.pause_arm("ams")
    play = agent.ask()
    agent.close()
    for policy in (tarry.SurvivalThompson(), tarry.BDSE(bounds="tight"), tarry.DelayedUCB()):
        agent = opened(path, clock, policy=policy, horizon=500)
        assert "ams" not in {agent.ask().arm for _ in range(20)}
        agent.close()
    agent = opened(path, clock, policy=tarry.SurvivalThompson())
    assert agent.tell(play) is Told.RETURNED
    assert agent.explain()["ams"].paused
    agent.close()


def test_another_default_does_not_break_a_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A version of a policy that decides or counts in another way goes on with the same plays."""
    path = tmp_path / "a.db"
    clock = ManualClock()
    policy = tarry.SurvivalThompson()
    agent = opened(path, clock, policy=policy)
    go_on(agent, clock, 60)
    counts = agent.counts
    agent.close()
    start, other = tarry.SurvivalThompson.start, tarry.SurvivalThompson(bins=20)
    monkeypatch.setattr(tarry.SurvivalThompson, "start", lambda _, setting: start(other, setting))
    with caplog.at_level(logging.INFO, "tarry"):
        agent = opened(path, clock, policy=policy)
    assert "made anew from the last 60 of 60 plays" in caplog.text
    assert agent.counts == counts
    go_on(agent, clock, 10)
    agent.close()
    caplog.clear()
    opened(path, clock, policy=policy).close()
    assert caplog.text == ""


def test_replay_takes_the_recorded_arm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that would choose otherwise now, or fails, changes nothing that was played."""
    path = tmp_path / "a.db"
    clock = ManualClock()
    agent = opened(path, clock)
    go_on(agent, clock, 60)
    before = listed(agent._core.open.ledger)
    at_rest(agent)
    agent._engine.store._ended()  # type: ignore[attr-defined]  # as if the process had died

    def broken(*_: Any) -> int:
        raise ZeroDivisionError

    rule = type(agent._core.open.rule)
    for select in (lambda *_: 0, broken):
        monkeypatch.setattr(rule, "select", select)
        agent = opened(path, clock)
        assert listed(agent._core.open.ledger) == before
        agent._engine.store._ended()  # type: ignore[attr-defined]  # likewise


@pytest.mark.parametrize("name", ["closed", "crashed", "elimination"])
def test_journals_of_the_first_format_are_upgraded(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Written by version 0.1: counts, arms, curves and plays out are as they were."""
    truth = json.loads((OLD / f"{name}.json").read_text())
    for file in OLD.glob(f"{name}.db*"):
        shutil.copy(file, tmp_path / file.name)
    path = tmp_path / f"{name}.db"
    clock = ManualClock(truth["time"])
    policy = tarry.BDSE() if name == "elimination" else tarry.SurvivalThompson()
    more = {"policy": policy, "arms": None, "horizon": 1000 if name == "elimination" else None}
    saved = recover(path, tmp_path / "saved.db")
    assert saved.events > truth["counts"][0]
    for file in (tmp_path / "saved.db", path):
        with caplog.at_level(logging.INFO, "tarry"):
            agent = opened(file, clock, **more)
        assert agent.counts == tuple(truth["counts"])
        assert list(agent.arms) == truth["arms"]
        for row in agent.explain().arms:
            known = truth["explain"][row.arm]
            numbers = [row.plays, row.returned, row.pending, row.cancelled, row.closed]
            assert numbers == known[:-1]
            assert row.mean == pytest.approx(known[-1], rel=1e-3)
        agent.close()
    assert "of format 1" in caplog.text
    assert "is now of format 2" in caplog.text
    agent = opened(path, clock, **more)
    number = max(n for n in range(1, truth["counts"][0] + 1) if agent._core.is_out(n))
    assert agent.tell(number, 0.02) is Told.RETURNED  # ids were plain numbers then
    assert agent.ask().id > 2**40
    assert len(agent.history().arms) > 50
    agent.close()
    with pytest.raises(JournalError, match="in use"), opened(path, clock, **more):
        opened(path, clock, **more)
