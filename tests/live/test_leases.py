"""Agents with a lease: ages that are reported, plays that vanish, and plays that are void."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.conformance.cases import LIVE_CASES, Case
from tests.live.cases import crash, never_stopping

import tarry
from tarry.errors import InputError, JournalError
from tarry.live import Agent, ManualClock, Told, recover, state
from tarry.live.packed import unpacked
from tarry.live.settings import check_ages
from tarry.live.void import ERROR, unlike

D = 60.0


def make(clock: ManualClock, path: Path | None = None, **more: object) -> Agent:
    """An agent for time on a page, with a heartbeat of 5 s."""
    settings: dict[str, object] = {"arms": ["quiz", "video"], "lease": 15.0, "seed": 3} | more
    return Agent(
        payoff="reward",
        max_delay=D,
        clock=clock,
        path=path,
        durability="normal",
        **settings,  # type: ignore[arg-type]  # of the right types
    )


def by_clock(policy: object) -> bool:
    """Whether a policy is refused with a lease."""
    settings = {"lease": [15, 5], "max_delay": 10_000, "horizon": 1000, "payoff": "reward"}
    try:
        check_ages(policy, settings)
    except InputError as error:
        assert "from the clock" in str(error)  # noqa: PT017  # who is refused is looked up
        return True
    return False


LEASED = [case for case in LIVE_CASES if not by_clock(case.policy)]
ONE_EACH = list({type(case.policy): case for case in LEASED}.values())


def test_the_largest_report_is_the_age() -> None:
    """Repeats and reports in another order change nothing, and the clock does not either."""
    clock = ManualClock()
    agent = make(clock)
    play = agent.ask()
    for seconds in (0.0, 4.0, 9.0, 4.0, 9.0):
        clock.advance(7.0)
        assert agent.alive(play.id if seconds else play, seconds)
    assert agent.explain()[play.arm].oldest_pending == 9.0
    assert agent.history().times.tolist() == [9.0]
    assert agent.history().finished.tolist() == [False]
    assert agent.tell(play, 11.0) is Told.RETURNED
    assert agent.tell(play, 11.0) is Told.REPEATED
    assert not agent.alive(play, 12.0)
    assert agent.history().times.tolist() == [11.0]


def test_a_play_that_vanished_is_booked_in_the_middle() -> None:
    """It ended between its last report and a heartbeat later; the first end counts."""
    clock = ManualClock()
    agent = make(clock)
    play = agent.ask()
    agent.alive(play, 20.0)
    clock.advance(14.999_999)
    assert agent.counts.pending == 1
    clock.advance(0.000_001)
    assert (agent.counts.returned, agent.counts.vanished, agent.counts.pending) == (1, 1, 0)
    assert agent.history().times.tolist() == [22.5]
    assert agent.history().context["status"] == ["vanished"]
    assert not agent.alive(play, 25.0)
    assert agent.counts.reported_late == 1
    assert agent.tell(play, 40.0) is Told.LATE
    assert agent.tell(play, 40.0) is Told.REPEATED
    assert agent.history().times.tolist() == [22.5]


def test_at_max_delay_a_play_is_closed() -> None:
    """By what is reported, not by the clock; the last interval ends at D."""
    clock = ManualClock()
    agent = make(clock)
    long, late = agent.ask(), agent.ask()
    for _ in range(9):
        clock.advance(10.0)
        assert agent.alive(long, 30.0)
        assert agent.alive(late, 57.0)
    assert not agent.alive(long, 75.0)
    clock.advance(20.0)
    assert agent.history().times.tolist() == [D, 58.5]
    assert agent.history().context["status"] == ["closed", "vanished"]


def test_a_play_never_heard_of_is_void() -> None:
    """It is no evidence: policy and estimates are as if it had not been made."""
    clock = ManualClock()
    agent = make(clock, policy=tarry.DelayedUCB())
    plays = [agent.ask() for _ in range(2)]
    agent.tell(plays[0], 30.0)
    clock.advance(15.0)
    assert (agent.counts.void, agent.counts.pending, agent.counts.returned) == (1, 0, 1)
    assert agent.explain()[plays[1].arm].void == 1
    assert len(agent.history()) == 1
    agent.ask()  # which settles what became known
    core = agent._core
    desk, other = core.open, core.arms[plays[1].arm]
    assert desk.ledger.plays[core.arms[plays[0].arm].index] + desk.ledger.plays[other.index] == 2
    assert agent.tell(plays[1], 5.0) is Told.LATE
    assert not agent.alive(plays[1], 5.0)


def test_a_failure_is_the_worst_whatever_was_reported() -> None:
    """And a delay below what was reported counts as what was reported."""
    clock = ManualClock()
    agent = make(clock)
    for end in (agent.fail, lambda play: agent.tell(play, 3.0)):
        play = agent.ask()
        agent.alive(play, 8.0)
        assert end(play) is Told.RETURNED
        assert end(play) is Told.REPEATED
    assert agent.history().times.tolist() == [0.0, 8.0]
    passes = [sum(agent._core.open.rule.evidence.passes)]
    assert passes[0] > 0  # of the second alone: those of the first were withdrawn


def test_a_tab_that_is_paused_for_ever_is_given_up() -> None:
    """So that the plays that came after it need not be remembered for ever."""
    clock = ManualClock()
    agent = make(clock)
    play = agent.ask()
    hours = 0.0
    while agent.alive(play, 10.0):
        clock.advance(10.0)
        hours += 10 / 3600
        assert hours < 1.1
    assert agent.counts.cancelled == 1
    assert agent.history().times.tolist() == [10.0]
    assert agent.history().finished.tolist() == [False]


def test_bad_input_is_refused_in_a_sentence() -> None:
    """Leases, heartbeats and reports that make no sense."""
    clock = ManualClock()
    plain = tarry.Agent(arms=["a"], payoff="cost", max_delay=2.0)
    with pytest.raises(InputError, match="lease="):
        plain.alive(plain.ask(), 1.0)
    for bad in (0, -1.0, float("nan"), float("inf"), "15", True):
        with pytest.raises(InputError, match="lease is"):
            make(clock, lease=bad)
        with pytest.raises(InputError, match="heartbeat is"):
            make(clock, heartbeat=bad)
    with pytest.raises(InputError, match="at most the lease"):
        make(clock, heartbeat=15.1)
    with pytest.raises(InputError, match="give lease="):
        make(clock, lease=None, heartbeat=1.0)
    with pytest.raises(InputError, match="leave in_flight out"):
        make(clock, in_flight="censor")
    agent = make(clock)
    with pytest.raises(InputError, match="as in tell"):
        agent.tell(agent.ask())
    with pytest.raises(InputError, match="time reported is -1"):
        agent.alive(agent.ask(), -1)
    with pytest.raises(tarry.errors.UnknownPlayError):
        agent.alive(7, 1.0)


def test_reports_survive_and_downtime_is_nobodys_silence(tmp_path: Path) -> None:
    """What was acknowledged is there after a kill; leases begin anew when somebody listens."""
    clock = ManualClock()
    agent = make(clock, tmp_path / "a.db")
    play, silent, gone = agent.ask(), agent.ask(), agent.ask()
    agent.alive(gone, 2.0)
    clock.advance(10.0)
    agent.alive(play, 9.0)
    clock.advance(5.0)
    agent.alive(play, 12.0)
    crash(agent)
    clock.advance(1000.0)
    agent = make(clock, tmp_path / "a.db", lease=None, arms=None)
    assert (agent.lease, agent.heartbeat) == (15.0, 5.0)
    assert (agent.counts.pending, agent.counts.vanished, agent.counts.void) == (1, 1, 1)
    clock.advance(14.0)
    assert agent.alive(play, 20.0)
    assert not agent.alive(silent, 20.0)
    assert agent.history().times.tolist() == [20.0, 4.5]
    agent.close()
    with pytest.raises(JournalError, match="a lease of 15 s and a heartbeat of 5 s, but"):
        make(clock, tmp_path / "a.db", lease=20.0)


def test_a_journal_without_a_lease_stays_without(tmp_path: Path) -> None:
    """And is of the format that former versions know; one with a lease is not."""
    clock = ManualClock()
    for name, lease in (("plain.db", None), ("leased.db", 15.0)):
        make(clock, tmp_path / name, lease=lease).close()
    heads = [(tmp_path / name).read_bytes()[60:64] for name in ("plain.db", "leased.db")]
    assert [int.from_bytes(head, "big") for head in heads] == [2, 3]
    with pytest.raises(JournalError, match="was made with no lease"):
        make(clock, tmp_path / "plain.db")


def test_repeats_cost_nothing(tmp_path: Path) -> None:
    """A repeated report soon after is no fact; a larger one, and one that renews the lease, is."""
    clock = ManualClock()
    agent = make(clock, tmp_path / "a.db")
    play = agent.ask()
    store = agent._engine.store
    for seconds, facts in ((1.0, 2), (1.0, 2), (0.5, 2), (1.1, 3), (1.1, 3)):
        assert agent.alive(play, seconds)
        assert store.appended == facts
    clock.advance(5.0)
    assert agent.alive(play, 1.0)
    assert store.appended == 4
    agent.close()


def test_async() -> None:
    """`alive_async` does the same."""
    clock = ManualClock()
    agent = make(clock)

    async def visit() -> tuple[bool, bool]:
        play = await agent.ask_async()
        return await agent.alive_async(play, 3.0), await agent.alive_async(play, 61.0)

    assert asyncio.run(visit()) == (True, False)


@pytest.mark.parametrize("case", ONE_EACH, ids=str)
def test_every_policy_that_is_offered_lives_with_a_lease(case: Case, tmp_path: Path) -> None:
    """Reports, ends, vanishing and void plays, and after a kill the same state, bit for bit."""
    clock = ManualClock()
    policy = never_stopping(case.policy)

    def opened() -> Agent:
        return Agent(
            policy,
            arms=["a", "b", "c"],
            payoff=case.payoff,
            max_delay=D,
            lease=15.0,
            horizon=1000,
            path=tmp_path / "a.db",
            clock=clock,
            durability="normal",
            seed=4,
        )

    agent = opened()
    plays = []
    for k in range(120):
        plays.append(agent.ask())
        clock.advance(1.0)
        for back in (2, 7, 12):
            if k >= back and (k - back) % 5:
                agent.alive(plays[k - back], 3.0 * back + (k - back) % 3)
        if k >= 8 and k % 3 == 0:
            agent.tell(plays[k - 8], 20.0 + k % 7)
        if k == 60:
            agent.pause_arm("b")
        if k == 90:
            agent.resume_arm("b")
    agent.ask()  # and nothing is left to be noticed
    counts = agent.counts
    assert counts.vanished > 10
    assert counts.void > 10
    meta, before = unpacked(crash(agent))
    agent = opened()
    same, after = unpacked(state.dump(agent._core))
    assert agent.counts == counts
    assert same == meta
    assert set(after.pop("heard.time").tolist()) == {121_000_000 - 1_000_000}  # it listens anew
    del before["heard.time"]
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[name], after[name], equal_nan=True) for name in before)
    agent.close()


@pytest.mark.parametrize("policy", [tarry.BHSE(bounds="tight"), tarry.IncrementUCB()], ids=str)
def test_policies_by_the_clock_are_refused(policy: object) -> None:
    """Their bounds take a play to be as old as the time since it began."""
    with pytest.raises(InputError, match="from the clock"):
        make(ManualClock(), policy=policy, horizon=1000)


def test_arms_that_are_alike_are_hardly_ever_said_to_differ() -> None:
    """Whoever looks after every play is misled in one case of a hundred at most."""
    rng = np.random.default_rng(11)
    ever = 0
    for _ in range(300):
        void, plays = [0, 0, 0], [0, 0, 0]
        for _ in range(300):
            arm = int(rng.integers(3)) if sum(plays) < 30 else int(np.argmin(void))  # as it likes
            plays[arm] += 1
            void[arm] += bool(rng.random() < 0.2)
            if unlike(void, plays) >= np.log(1 / ERROR):
                ever += 1
                break
    assert ever <= 300 * ERROR + 5 * (300 * ERROR) ** 0.5  # 5 sigma


def test_one_arm_that_is_not_reported_is_noticed() -> None:
    """In explain(), with both rates; one with as many plays but no difference is not."""
    for broken, warns in ((0.6, True), (0.1, False)):
        clock = ManualClock()
        agent = make(clock, policy=tarry.Uniform())
        rng = np.random.default_rng(2)
        for _ in range(200):
            play = agent.ask()
            if rng.random() >= (broken if play.arm == "quiz" else 0.1):
                agent.alive(play, 1.0)
            clock.advance(1.0)
        clock.advance(60.0)
        report = agent.explain()
        assert (": " in report.warning) is warns
        assert (report.warning in str(report)) is True
        if warns:
            assert "of quiz" in report.warning
            assert "video" in report.warning


def test_machine_code_decides_as_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ages that are reported lead to the same state and the same choices."""
    found = []
    for wish in ("never", "now"):
        monkeypatch.setenv("TARRY_COMPILE", wish)
        clock = ManualClock()
        agent = make(clock)
        plays = []
        for k in range(150):
            plays.append(agent.ask())
            clock.advance(1.0)
            for back in (1, 5, 9):
                if k >= back and (k - back) % 4:
                    agent.alive(plays[k - back], 5.0 * back)
            if k >= 10 and k % 3 == 0:
                agent.tell(plays[k - 10], 52.0)
        core = agent._core
        assert core.open.is_quick is (wish == "now")
        found.append(([play.arm for play in plays], agent.counts, repr(agent.explain())))
    assert found[0] == found[1]


def test_a_forked_child_goes_on_by_itself() -> None:
    """Without a file it is another agent; reports of its parent's plays are its own business."""
    clock = ManualClock()
    agent = make(clock)
    play = agent.ask()
    agent.alive(play, 3.0)
    child = os.fork()
    if child == 0:
        fine = False
        try:
            fine = agent.alive(play, 4.0) and agent.alive(agent.ask(), 1.0)
            fine = fine and agent.counts.pending == 2
        finally:  # whatever goes wrong, no second test run goes on from here
            os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert agent.history().times.tolist() == [3.0]


def test_evidence_is_made_anew_for_another_policy(tmp_path: Path) -> None:
    """From the plays that are kept, vanished and void ones and reports included."""
    clock = ManualClock()
    agent = make(clock, tmp_path / "a.db")
    plays = []
    for k in range(80):
        plays.append(agent.ask())
        clock.advance(1.0)
        if k % 4:
            agent.alive(plays[k], 6.0 + k % 5)
        if k % 3 == 0 and k > 5:
            agent.tell(plays[k - 5], 20.0)
    agent.cancel(plays[-2])
    clock.advance(2.0)
    for play in plays[-4:]:
        agent.alive(play, 11.0)
    agent.ask()
    passes = np.asarray(agent._core.open.rule.evidence.passes).tolist()
    ledger = [np.asarray(column).tolist() for column in agent._core.open.ledger]
    counts = agent.counts
    agent.close()
    make(clock, tmp_path / "a.db", policy=tarry.DelayedUCB()).close()
    agent = make(clock, tmp_path / "a.db")
    assert agent.counts == counts
    assert np.asarray(agent._core.open.rule.evidence.passes).tolist() == passes
    fresh = [np.asarray(column).tolist() for column in agent._core.open.ledger]
    assert fresh[:2] == ledger[:2]  # sums hold an estimate for the cancelled one
    agent.close()


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    """The age of each play is at least the last one that was answered, and counted once."""
    code = """
import sys, tarry
agent = tarry.Agent(arms=["a", "b"], payoff="reward", max_delay=600.0, lease=60.0, path=sys.argv[1],
                    durability="normal")
plays = [agent.ask() for _ in range(3)]
for k in range(10**6):
    agent.alive(plays[k % 3], k / 100)
    print(plays[k % 3].id, k / 100, flush=True)
"""
    path = tmp_path / "a.db"
    said: dict[int, float] = {}
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout is not None
        for count, line in enumerate(victim.stdout):
            if count == 200:
                victim.kill()
            if line.endswith("\n"):  # the last one may be cut off
                name, last = line.split()
                said[int(name)] = float(last)
    with Agent(payoff="reward", max_delay=600.0, path=path) as agent:
        ages = dict(zip(sorted(said), agent.history().times.tolist(), strict=True))
        assert agent.counts.pending == 3
    for play, seconds in said.items():
        assert seconds <= ages[play] <= seconds + 0.031  # one more may have been written


def test_a_damaged_journal_is_saved_with_its_reports(tmp_path: Path) -> None:
    """What `recover` saves opens, with the plays that it could read."""
    clock = ManualClock()
    agent = make(clock, tmp_path / "a.db")
    plays = [agent.ask() for _ in range(40)]
    for seconds in range(1, 12):
        clock.advance(1.0)
        for play in plays:
            agent.alive(play, float(seconds))
    crash(agent)
    with sqlite3.connect(tmp_path / "a.db") as db:
        db.execute("UPDATE facts SET value = 7 WHERE seq = 300")
    db.close()
    with pytest.raises(JournalError, match="recover"):
        make(clock, tmp_path / "a.db")
    saved = recover(tmp_path / "a.db", tmp_path / "b.db")
    assert saved.events >= 299
    with make(clock, tmp_path / "b.db") as again:
        assert again.counts.pending == 40
        assert 6.0 <= min(again.history().times) <= max(again.history().times) <= 11.0
