"""The agent's promises, one by one, on a clock that the test moves."""

import asyncio
import dataclasses
import math
import threading
import time
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.conformance.cases import LIVE_RULES, Case
from tests.live.cases import delay_of, never_stopping, number_of, status_of

import tarry
from tarry.errors import (
    ConflictError,
    InputError,
    LiveError,
    PayoffError,
    PolicyError,
    UnknownPlayError,
)
from tarry.live import Agent, ManualClock, Told, history, restore
from tarry.live.maker import listed
from tarry.live.plays import Status
from tarry.policies.protocol import Setting

ARMS = ["fra", "ams", "lon"]


def made(clock: ManualClock | None = None, **settings: Any) -> tuple[Agent, ManualClock]:
    """An agent of three arms with D = 2 s, and its clock."""
    clock = clock or ManualClock()
    policy = settings.pop("policy", None)
    given: dict[str, Any] = {"arms": ARMS, "payoff": "cost", "max_delay": 2.0, "seed": 1} | settings
    return Agent(policy, clock=clock, **given), clock


def test_the_example_of_the_design_runs() -> None:
    """The names promised for live use are there, and the default policy follows survival."""
    agent = tarry.Agent(
        tarry.SurvivalThompson(), arms=["fra", "ams", "lon"], payoff="cost", max_delay=2.0
    )
    play = agent.ask()
    assert play.arm in ARMS
    assert abs(play.time - time.time()) < 5
    assert agent.tell(play.id) is Told.RETURNED
    other = agent.ask()
    assert agent.tell(other.id, delay=0.113) is Told.RETURNED
    assert "SurvivalThompson" in repr(agent)


def test_time_between_ask_and_tell_is_the_delay() -> None:
    """A tell without a delay books the age of the play at that moment."""
    agent, clock = made(policy=tarry.DelayedUCB())
    play = agent.ask()
    clock.advance(0.75)
    agent.tell(play.id)
    assert delay_of(agent, number_of(agent, play)) == 750_000


def test_a_play_is_closed_at_exactly_d_however_late_that_is_noticed() -> None:
    """After a long idle gap, a play still out counts D, and its answer is late."""
    agent, clock = made(policy=tarry.DelayedUCB())
    play = agent.ask()
    clock.advance(1e6)
    assert agent.counts.closed == 1
    assert agent.explain()[play.arm].closed == 1
    agent.ask()
    assert agent._core.open.ledger.seen_sum[ARMS.index(play.arm)] == 2_000_000
    assert agent.tell(play.id, delay=0.1) is Told.LATE
    assert agent.tell(play.id, delay=0.1) is Told.REPEATED
    with pytest.raises(ConflictError, match="one answer"):
        agent.tell(play.id, delay=0.2)
    assert agent._core.open.ledger.seen_sum[ARMS.index(play.arm)] == 2_000_000
    assert agent.counts.late == agent.explain()[play.arm].late == 1


def test_an_answer_counts_once() -> None:
    """A repeated tell changes nothing and says so, a different one and an unknown id are errors."""
    agent, clock = made()
    play = agent.ask()
    clock.advance(0.5)
    assert agent.tell(play.id) is Told.RETURNED
    clock.advance(0.5)
    assert agent.tell(play.id) is Told.REPEATED
    assert agent.tell(play.id, delay=0.5) is Told.REPEATED
    with pytest.raises(ConflictError, match=r"0\.5 s before and now with 0\.7 s"):
        agent.tell(play.id, delay=0.7)
    nonsense: Any
    for nonsense in (0, 1, play.id + 1, play.id - 1, "1", None, 1.5, False, []):
        with pytest.raises(UnknownPlayError, match="no play"):
            agent.tell(nonsense)
    assert agent.counts.returned == 1


def test_old_answers_are_forgotten_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded: ended plays beyond the number remembered are known by id only."""
    monkeypatch.setattr(restore, "LOOK", 1)
    monkeypatch.setattr(history, "CHUNK", 4)
    agent, clock = made(remembered=5)
    first = agent.ask()
    agent.tell(first)
    for _ in range(140):
        agent.tell(agent.ask().id, delay=0.1)
        clock.advance(1.0)
    agent.ask()
    assert agent.tell(first) is Told.FORGOTTEN
    assert agent.cancel(first) is False
    assert agent.counts.returned == 141


def test_a_cancelled_play_is_neither_dropped_nor_counted_as_long() -> None:
    """Cancelling all plays at a fixed age leaves the estimated mean where it was."""
    rng = np.random.default_rng(0)
    delays = rng.exponential(0.3, 4000)
    means = {}
    for watched in (math.inf, 0.3):
        agent, clock = made(policy=tarry.DelayedUCB(), arms=["a"])
        for delay in delays:
            play = agent.ask()
            if delay > watched and play.id % 2:
                clock.advance(watched)
                assert agent.cancel(play.id) is True
            else:
                clock.advance(min(delay, 2.1))
                agent.tell(play.id)
        ledger = agent._core.open.ledger
        means[watched] = (agent.explain()["a"].mean, ledger.seen_sum[0] / ledger.seen[0] / 1e6)
    error = 0.3 / math.sqrt(len(delays)) * 1.5  # a sixth of the evidence is gone
    for estimate in (*means[0.3], *means[math.inf]):
        assert abs(estimate - 0.3) < 4 * error
    dropped = delays[(delays <= 0.3) | (np.arange(len(delays)) % 2 == 1)].mean()
    assert dropped < 0.3 - 4 * error  # what dropping the cancelled plays would have given


@pytest.mark.parametrize(("payoff", "worst"), [("cost", 2_000_000), ("reward", 0)])
def test_a_failing_block_gets_the_worst_payoff(payoff: str, worst: int) -> None:
    """A backend that fails in no time never looks good."""
    agent, clock = made(payoff=payoff)
    block = agent.play()
    with pytest.raises(ZeroDivisionError), block:
        clock.advance(1 / 0)
    assert status_of(agent, 1) is Status.FAILED
    assert delay_of(agent, 1) == worst
    assert agent.counts.failed == agent.counts.returned == 1
    assert agent.fail(block.play) is Told.REPEATED


def test_a_block_is_timed() -> None:
    """The delay of a block is the time between its ends; it can be given up from inside."""
    agent, clock = made()
    block = agent.play()
    with pytest.raises(LiveError, match="not begun"):
        _ = block.play
    with block as arm:
        clock.advance(0.25)
        assert block.play.arm == arm
    assert delay_of(agent, 1) == 250_000
    with pytest.raises(LiveError, match="entered before"), block:
        pass
    given_up = agent.play()
    with given_up:
        given_up.cancel()
    with pytest.raises(KeyboardInterrupt), agent.play():
        raise KeyboardInterrupt
    assert agent.counts.cancelled == 2


def test_asyncio_blocks_overlap() -> None:
    """Many plays at once from asyncio; a cancelled task cancels its play."""

    async def request(agent: Agent, seconds: float) -> str:
        async with agent.play() as arm:
            await asyncio.sleep(seconds)
        return arm

    async def main(agent: Agent) -> None:
        tasks = [asyncio.create_task(request(agent, 0.01)) for _ in range(50)]
        stuck = asyncio.create_task(request(agent, 60))
        await asyncio.gather(*tasks)
        assert agent.counts.pending == 1
        stuck.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stuck

    agent = Agent(arms=ARMS, payoff="cost", max_delay=2.0, seed=0)
    asyncio.run(main(agent))
    assert agent.counts[:5] == (51, 50, 0, 0, 1)
    assert all(0.009 < delay_of(agent, n) / 1e6 < 1 for n in range(1, 51))


def test_threads_share_an_agent() -> None:
    """Eight threads that ask and tell at once lose nothing."""
    agent = Agent(tarry.DelayedUCB(), arms=ARMS, payoff="cost", max_delay=5.0)
    ids: list[int] = []

    def work() -> None:
        for _ in range(250):
            play = agent.ask()
            ids.append(play.id)
            agent.tell(play.id)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [number_of(agent, i) for i in sorted(ids)] == list(range(1, 2001))
    assert agent.counts[:3] == (2000, 2000, 0)


def test_a_clock_that_jumps_back_makes_no_negative_age() -> None:
    """After a jump back, time stands and then goes on from there."""
    agent, clock = made(policy=tarry.DelayedUCB())
    clock.advance(10.0)
    play = agent.ask()
    clock.advance(-7.0)
    assert agent.explain()[play.arm].oldest_pending == 0.0
    clock.advance(0.5)
    agent.tell(play.id)
    assert delay_of(agent, number_of(agent, play)) == 500_000


def test_a_burst_at_one_instant() -> None:
    """A thousand asks at one instant are a thousand plays, each told on its own."""
    agent, clock = made()
    plays = [agent.ask() for _ in range(1000)]
    assert len({play.id for play in plays}) == 1000
    assert agent.counts.pending == 1000
    clock.advance(0.1)
    for play in plays:
        assert agent.tell(play.id) is Told.RETURNED
    assert agent.explain()[plays[-1].arm].mean == pytest.approx(0.1, rel=0.05)


def bold(policy: Any) -> Any:
    """The policy; a LinUCB, with a bound for unplayed arms above every reward."""
    wide = isinstance(policy, tarry.LinUCB) and policy.alpha < 1
    return dataclasses.replace(policy, alpha=1.0) if wide else policy


@pytest.mark.parametrize("case", LIVE_RULES, ids=str)
def test_arms_come_go_and_pause_under_every_policy(case: Case) -> None:
    """Paused and removed arms are never chosen, a new arm is, and the rest is learnt throughout."""
    reward = case.payoff == "reward"
    agent, clock = made(
        policy=bold(never_stopping(case.policy)), horizon=3000, payoff=case.payoff, max_delay=0.5
    )
    time_of = {"fra": 0.1, "ams": 0.2, "lon": 0.3, "new": 0.02}
    if reward:
        time_of = {arm: 0.4 - seconds for arm, seconds in time_of.items()}
    chosen: list[str] = []

    def go_on(times: int) -> list[str]:
        chosen.clear()
        for _ in range(times):
            play = agent.ask()
            chosen.append(play.arm)
            clock.advance(0.011)
            if play.id % 3:
                agent.tell(play.id, time_of[play.arm])
        return chosen

    assert set(go_on(60)) == set(ARMS)
    agent.pause_arm("fra")
    assert "fra" not in go_on(60)
    agent.resume_arm("fra")
    assert "fra" in go_on(200)
    agent.remove_arm("lon")
    agent.add_arm("new")
    assert "new" in go_on(200)
    assert "lon" not in chosen
    assert agent.arms == ("fra", "ams", "new")
    agent.pause_arm("fra")
    agent.pause_arm("new")
    assert set(go_on(30)) == {"ams"}
    agent.remove_arm("ams")
    with pytest.raises(LiveError, match="No arm is open"):
        agent.ask()
    agent.resume_arm("new")
    assert set(go_on(30)) == {"new"}
    assert agent.explain()["fra"].why.startswith("paused")


def test_arms_that_cannot_be_changed_are_refused() -> None:
    """Names must exist, be new, and be text."""
    agent, _ = made()
    with pytest.raises(InputError, match="There is an arm 'fra' already"):
        agent.add_arm("fra")
    with pytest.raises(InputError, match="There is no arm 'oslo'; the arms are fra, ams, lon"):
        agent.remove_arm("oslo")
    with pytest.raises(InputError, match="There is no arm 'oslo'"):
        agent.pause_arm("oslo")
    with pytest.raises(InputError, match="non-empty text"):
        agent.add_arm("")


@pytest.mark.parametrize(
    ("settings", "kind", "says"),
    [
        ({"policy": tarry.BDSE()}, InputError, "BDSE needs a horizon; give horizon="),
        ({"policy": tarry.BDSE(), "horizon": 0}, InputError, "horizon is 0"),
        ({"policy": tarry.BDSE(), "payoff": "reward"}, PayoffError, "BHSE"),
        ({"payoff": "fun"}, PayoffError, "'fun'"),
        ({"arms": []}, InputError, "at least one name"),
        ({"arms": "fra"}, InputError, "a list of names"),
        ({"arms": ["a", "a"]}, InputError, "named twice"),
        ({"arms": None}, InputError, "No arms are given"),
        ({"max_delay": 0}, InputError, "max_delay is 0"),
        ({"max_delay": math.nan}, InputError, "max_delay is nan"),
        ({"max_delay": "2"}, InputError, "max_delay is '2'"),
        ({"durability": "some"}, InputError, "durability"),
        ({"in_flight": "drop"}, InputError, "in_flight"),
        ({"seed": -1}, InputError, "seed"),
        ({"clock": 5}, InputError, "The clock is 5"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], kind: Any, says: str) -> None:
    """One sentence that names the value and what is allowed."""
    given: dict[str, Any] = {"arms": ARMS, "payoff": "cost", "max_delay": 2.0} | settings
    with pytest.raises(kind, match=says):
        Agent(given.pop("policy", None), **given)


@pytest.mark.parametrize("delay", [-0.1, math.nan, math.inf, "soon"])
def test_bad_delays_are_refused(delay: Any) -> None:
    """A delay is a number of seconds, 0 or more; the play stays out."""
    agent, _ = made()
    play = agent.ask()
    with pytest.raises(InputError, match="The delay is"):
        agent.tell(play.id, delay)
    assert agent.counts.pending == 1


@pytest.mark.parametrize(
    "policy", [tarry.QPMD(), tarry.DelayedFTRL(), tarry.AccrualFTRL()], ids=str
)
def test_policies_for_simulation_only_are_refused(policy: Any) -> None:
    """A rule whose tables are sized by D in steps would need a place for every microsecond."""
    with pytest.raises(InputError, match=r"for tarry\.play and tarry\.compare only"):
        made(policy=policy)


def test_a_rule_that_stops_says_so() -> None:
    """CSE on its own gives up when its threshold is met by nobody; the error names the way out."""
    agent, clock = made(policy=tarry.CSE(threshold=0.01), horizon=10)

    def go_on() -> None:
        for _ in range(10_000):
            play = agent.ask()
            clock.advance(1.9)
            agent.tell(play.id)

    with pytest.raises(LiveError, match="such as BDSE"):
        go_on()
    with pytest.raises(LiveError, match="has stopped"):
        agent.ask()


def test_a_closed_agent_refuses() -> None:
    """After close, asking and telling are errors; closing again is none."""
    agent, _ = made()
    with agent:
        play = agent.ask()
    agent.close()
    with pytest.raises(LiveError, match="closed"):
        agent.ask()
    with pytest.raises(LiveError, match="closed"):
        agent.tell(play.id)


class _LastRule(NamedTuple):
    arms: int

    def select(self, ledger: Any, plays: Any, row: int, now: int, rng: Any) -> int:
        return self.arms - 1 if isinstance(ledger.plays, np.ndarray) else 99


class _Last:
    """A policy from outside: no dataclass, no payoffs, arrays as in the simulator."""

    def start(self, setting: Setting) -> _LastRule:
        return _LastRule(setting.arms)


class _Odd:
    """A policy whose rule is no NamedTuple."""

    arm = 0

    def start(self, setting: Setting) -> "_Odd":
        return self

    def select(self, ledger: Any, plays: Any, row: int, now: int, rng: Any) -> int:
        return self.arm


def test_policies_from_outside_work() -> None:
    """A user's own rule gets arrays; one that is no NamedTuple keeps its arms; misuse is named."""
    agent, _ = made(policy=_Last())
    assert agent.ask().arm == "lon"
    agent.add_arm("new")
    assert agent.ask().arm == "new"
    odd = _Odd()
    agent, _ = made(policy=odd)
    assert agent.ask().arm == "fra"
    with pytest.raises(LiveError, match="not a NamedTuple"):
        agent.add_arm("new")
    odd.arm = 7
    with pytest.raises(tarry.errors.PolicyError, match="chose 7 among 3 arms"):
        agent.ask()


class _FickleRule(NamedTuple):
    turns: Any

    def select(self, ledger: Any, plays: Any, row: int, now: int, rng: Any) -> Any:
        self.turns[0] += 1
        if self.turns[0] == 2:
            return None
        if self.turns[0] == 3:
            raise ZeroDivisionError
        return 0


class _Fickle:
    """A policy whose rule returns nothing at its second turn and fails at its third."""

    turns = np.zeros(1, np.int64)

    def start(self, setting: Setting) -> _FickleRule:
        return _FickleRule(self.turns)


def known(agent: Agent) -> Any:
    """All that an agent decides by."""
    desk = agent._core.open
    return *map(listed, (desk.rule, desk.ledger)), agent.counts


@pytest.mark.parametrize(("turn", "kind"), [(1, PolicyError), (2, ZeroDivisionError)])
def test_a_decision_that_fails_changes_nothing(turn: int, kind: Any) -> None:
    """If `select` returns None or raises, that is an error, and all is as it was before."""
    agent, clock = made(policy=_Fickle())
    turns = agent._core.open.rule.turns
    play = agent.ask()
    clock.advance(0.1)
    turns[0] = turn
    before = known(agent)
    for _ in range(2):
        with pytest.raises(kind):
            agent.ask()
        assert known(agent) == before
    turns[0] = 5
    assert agent.tell(play) is Told.RETURNED
    assert agent.ask().arm == "fra"
    assert agent.counts[:3] == (2, 1, 1)


def test_clocks_may_be_functions() -> None:
    """A function that returns seconds is a clock."""
    agent = Agent(arms=["a"], payoff="cost", max_delay=1.0, clock=time.time)
    assert abs(agent.ask().time - time.time()) < 1


def test_explain_is_a_table_with_reasons() -> None:
    """Per arm: plays, returned, pending, oldest age, estimate in its interval, share, and why."""
    agent, clock = made()
    for _ in range(400):
        play = agent.ask()
        clock.advance(0.01)
        agent.tell(play.id, {"fra": 0.02, "ams": 0.3, "lon": 0.5}[play.arm])
    play = agent.ask()
    clock.advance(0.5)
    told = agent.explain()
    row = told[play.arm]
    assert (row.pending, row.oldest_pending) == (1, 0.5)
    assert sum(r.plays for r in told.arms) == 401
    assert sum(r.share for r in told.arms) == pytest.approx(1)
    assert told["fra"].low <= 0.02 * 1.2
    assert told["fra"].why == "shortest mean so far"
    assert told["lon"].why.split(":")[0] in ("tried now and then", "rarely")
    text = str(told)
    assert text.splitlines()[0].startswith("SurvivalThompson, cost: 401 asked = 400 returned + 1")
    assert "95 % interval" in text
    for name in ARMS:
        assert name in text


def test_explain_speaks_of_sweeps() -> None:
    """For eliminating policies the words say who is in turn and who is out."""
    agent, clock = made(policy=tarry.SE(), horizon=100)
    assert {row.why for row in agent.explain().arms} == {"never played yet"}
    for _ in range(300):
        play = agent.ask()
        clock.advance(0.01)
        agent.tell(play.id, {"fra": 0.02, "ams": 1.5, "lon": 1.9}[play.arm])
        if number_of(agent, play) == 10:
            assert agent.explain()["ams"].why.startswith("in turn")
    assert agent.explain()["lon"].why.startswith("out: surely worse")
    assert agent.explain()["fra"].why == "shortest mean so far"
