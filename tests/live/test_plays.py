"""Plays as they are handed out: ids that belong to one agent, blocks that are names, counts."""

import subprocess
import sys
from typing import Any

import pytest
from tests.live.cases import delay_of, status_of

import tarry
from tarry.errors import ConflictError, InputError, UnknownPlayError
from tarry.live import Agent, ManualClock, Told
from tarry.live.ids import Ids

ARMS = ["fra", "ams", "lon"]


def made(**more: Any) -> tuple[Agent, ManualClock]:
    """An agent with D = 2 s, and its clock."""
    clock = ManualClock()
    return Agent(arms=ARMS, payoff="cost", max_delay=2.0, seed=1, clock=clock, **more), clock


def test_the_id_of_another_agent_is_unknown() -> None:
    """Ids carry the identity of their agent; they are whole numbers that increase."""
    one, _ = made()
    other, _ = made()
    plays = [one.ask() for _ in range(3)]
    assert [play.id - plays[0].id for play in plays] == [0, 1, 2]
    assert 2**40 < plays[0].id < 2**63
    other.ask()
    with pytest.raises(UnknownPlayError, match="this agent made 1 play, each with an id"):
        other.tell(plays[0])
    assert other.counts.unknown == 1
    assert other.counts.pending == 1
    assert one.tell(plays[0]) is Told.RETURNED


def test_an_agent_may_have_been_another_one() -> None:
    """Each identity is good for the numbers of its time."""
    ids = Ids([[0, 1], [30, 5]])
    ids.begin(60, 9)
    base = 2**40
    assert [ids.number_of(i, 10) for i in (1, 4, 30 * base + 5, 60 * base + 9)] == [1, 4, 5, 9]
    assert ids.id_of(10) == 60 * base + 10
    for wrong in (5, 30 * base + 4, 30 * base + 9, 60 * base + 8, 60 * base + 11, -1):
        with pytest.raises(UnknownPlayError):
            ids.number_of(wrong, 10)


def test_a_block_gives_a_play_that_is_a_name() -> None:
    """It formats, compares and hashes as the arm, and can be told, failed or cancelled inside."""
    agent, clock = made()
    urls = {arm: f"https://{arm}.example.org" for arm in ARMS}
    with agent.play() as play:
        clock.advance(0.25)
        assert play in ARMS
        assert play == play.arm
        assert f"{play}" == play.arm
        assert urls[play].startswith(f"https://{play}.")
        assert isinstance(play, str)
    assert delay_of(agent, 1) == 250_000
    assert agent.tell(play) is Told.REPEATED
    with agent.play() as play:
        assert play.tell(0.125) is Told.RETURNED
        clock.advance(1.0)
        with pytest.raises(ConflictError, match="is said to have failed"):
            play.fail()
    with pytest.raises(ZeroDivisionError), agent.play() as play:
        raise ZeroDivisionError(play.tell())
    with agent.play() as play:
        assert play.fail() is Told.RETURNED
        assert play.cancel() is False
    with agent.play() as play:
        assert play.cancel() is True
    with agent.play() as play:
        clock.advance(0.5)
        with pytest.raises(InputError, match="The delay is -1"):
            play.tell(-1)
    assert [delay_of(agent, n) for n in (2, 3, 4, 6)] == [125_000, 0, 2_000_000, 500_000]
    assert [status_of(agent, n) for n in (2, 4, 5)] == ["returned", "failed", "cancelled"]
    assert agent.counts == (6, 5, 0, 0, 1, 0, 1)


def test_counts_tell_what_was_not_normal() -> None:
    """Seven numbers of plays that compare and unpack, and further ones by name."""
    agent, _ = made(remembered=0)
    play = agent.ask()
    agent.tell(play, 0.1)
    agent.tell(play, 0.1)
    with pytest.raises(tarry.errors.ConflictError):
        agent.tell(play, 0.2)
    with pytest.raises(UnknownPlayError):
        agent.tell(1)
    counts = agent.counts
    assert counts == (1, 1, 0, 0, 0, 0, 0)
    asked, returned, *_ = counts
    assert (asked, returned) == (1, 1)
    assert (counts.repeated, counts.conflicts, counts.unknown) == (1, 1, 1)
    assert repr(counts) == (
        "Counts(asked=1, returned=1, pending=0, closed=0, cancelled=0, late=0, failed=0, "
        "repeated=1, conflicts=1, unknown=1)"
    )
    with pytest.raises(AttributeError):
        _ = counts.nonsense


def test_explain_knows_its_arms() -> None:
    """An arm that is not there is a KeyError that names those that are."""
    agent, _ = made()
    with pytest.raises(KeyError, match="the arms are fra, ams, lon"):
        agent.explain()["oslo"]


def test_an_agent_is_ready_without_heavy_packages(tmp_path: Any) -> None:
    """Nothing that only a simulation needs is imported before the first answers, file or not."""
    code = (
        "import sys, tarry\n"
        "for path in (None, sys.argv[1]):\n"
        "    agent = tarry.Agent(arms=['a', 'b'], payoff='cost', max_delay=2.0, path=path)\n"
        "    for _ in range(20):\n"
        "        agent.tell(agent.ask())\n"
        "heavy = {'pyarrow', 'scipy', 'numba', 'matplotlib', 'pandas', 'anyio', 'trio', 'httpx'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.db")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"
