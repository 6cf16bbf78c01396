"""An agent that was closed and opened again is the one that stayed, also where arms change then."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.cases import LIVE_RULES, Case
from tests.live.cases import never_stopping, number_of

import tarry
from tarry.errors import InputError, LiveError
from tarry.live import Agent, ManualClock, start, state
from tarry.plays import AT_ONCE

CHANGES: list[Callable[[Agent], None]] = [
    lambda agent: agent.pause_arm("ams"),
    lambda agent: agent.remove_arm("lon"),
    lambda agent: agent.add_arm("new"),
    lambda agent: agent.resume_arm("ams"),
]


def go_on(agent: Agent, clock: ManualClock) -> list[str]:
    """Some plays; two of five stay out."""
    chosen = []
    for _ in range(25):
        play = agent.ask()
        chosen.append(play.arm)
        clock.advance(0.03)
        if number_of(agent, play) % 5 < 3:
            agent.tell(play, 0.01 * (1 + agent.arms.index(play.arm)))
    return chosen


def life(case: Case, path: Path, *, restarts: bool) -> tuple[list[str], bytes]:
    """The choices and the last state of an agent whose arms change while plays are out."""
    clock = ManualClock()
    given: dict[str, Any] = {
        "policy": never_stopping(case.policy),
        "payoff": case.payoff,
        "max_delay": 2.0,
        "horizon": 1000,
        "path": path,
        "clock": clock,
        "durability": "normal",
        "in_flight": "keep",
    }
    agent = Agent(arms=["fra", "ams", "lon"], seed=3, **given)
    chosen = []
    for change in CHANGES:
        chosen += go_on(agent, clock)
        clock.advance(0.2)
        if restarts:
            agent.close()
            agent = Agent(**given)
        clock.advance(0.1)
        change(agent)
    chosen += go_on(agent, clock)
    body = state.dump(agent._core)
    agent.close()
    return chosen, body


@pytest.mark.parametrize("case", LIVE_RULES, ids=str)
def test_a_close_tells_nothing_before_arms_change(case: Case, tmp_path: Path) -> None:
    """Reopened with plays out, some time after the last fact, an agent goes on bit for bit."""
    steady = life(case, tmp_path / "steady.db", restarts=False)
    assert life(case, tmp_path / "shaken.db", restarts=True) == steady


def test_names_that_cannot_be_shown_are_for_old_journals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A control character in the name of a new arm is refused, and an old journal of it opens."""
    given: dict[str, Any] = {"payoff": "cost", "max_delay": 2.0}
    for path in (None, tmp_path / "new.db"):
        with pytest.raises(InputError, match=r"name 'a\\nb' cannot be shown; leave out control"):
            Agent(arms=["a\nb"], path=path, **given)
    old = tmp_path / "old.db"
    with monkeypatch.context() as patch:
        patch.setattr(start, "check_shown", lambda names: None)
        Agent(arms=["a\nb", "fra"], path=old, **given).close()
    for arms in (None, ["a\nb", "fra"]):
        with Agent(arms=arms, path=old, **given) as agent:
            assert agent.arms == ("a\nb", "fra")
            with pytest.raises(InputError, match="leave out control characters"):
                agent.add_arm("c\x7f")
            agent.pause_arm("a\nb")
            assert agent.ask().arm == "fra"
            agent.resume_arm("a\nb")


@pytest.mark.parametrize("policy", [tarry.SurvivalThompson(), tarry.SE(), tarry.CUSUMUCB()])
def test_removed_arms_stay_removed_for_another_policy(policy: Any, tmp_path: Path) -> None:
    """With all arms removed, another policy chooses none of them, and then only the new one."""
    given: dict[str, Any] = {
        "payoff": "cost",
        "max_delay": 2.0,
        "horizon": 1000,
        "path": tmp_path / "a.db",
        "clock": ManualClock(),
        "in_flight": "keep",
        "durability": "normal",
    }
    with Agent(tarry.DelayedUCB(), arms=["fra", "ams"], **given) as agent:
        out = [agent.ask() for _ in range(2 * AT_ONCE + 5)]
        agent.tell(out[0], 0.1)
        agent.remove_arm("fra")
        agent.remove_arm("ams")
    given["clock"].advance(1.0)
    with Agent(policy, **given) as agent:
        assert agent.arms == ()
        with pytest.raises(LiveError, match="No arm is open: all were removed"):
            agent.ask()
        agent.add_arm("new")
        later = [agent.ask() for _ in range(9)]
        assert {play.arm for play in later} == {"new"}
        given["clock"].advance(0.1)
        assert agent.tell(out[1], 0.1) == "returned"
        assert agent.tell(later[0]) == "returned"
        given["clock"].advance(3.0)
        assert {agent.ask().arm for _ in range(3)} == {"new"}  # each closes some of the old ones
        ledger = agent._core.open.ledger
        assert (ledger.plays[0], ledger.seen[0]) == (12, 9)
