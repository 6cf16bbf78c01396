"""Asking again with the same key: one play, wherever and whenever it is asked again."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.live.postgres import caught_up, new_name, opened, rows

from tarry.errors import ConflictError, InputError
from tarry.live import Agent, ManualClock, Told


def made(path: Path | None = None, **more: Any) -> Agent:
    """An agent with D = 2 s."""
    given: dict[str, Any] = {"payoff": "cost", "max_delay": 2.0, "seed": 5, "path": path}
    if path is None or not path.exists():
        given["arms"] = ["a", "b", "c"]
    return Agent(**(given | more))


@pytest.mark.parametrize("file", [None, "a.db"])
def test_same_key_same_play(tmp_path: Path, file: str | None) -> None:
    """A second ask with the key returns the first play and starts none."""
    with made(tmp_path / file if file else None) as agent:
        first = agent.ask(key="one")
        between = agent.ask()
        assert agent.ask(key="one") == first
        assert agent.ask(key="two").id != first.id
        assert asyncio.run(agent.ask_async(key="one")) == first
        assert agent.counts.asked == 3
        assert agent.counts.asked_again == 2
        assert agent.tell(first, 0.5) is Told.RETURNED
        assert agent.ask(key="one") == first
        assert between.id not in (first.id, agent.ask(key="two").id)


@pytest.mark.parametrize("snapshot", [False, True])
def test_keys_outlive_the_process(tmp_path: Path, *, snapshot: bool) -> None:
    """They are in the same fact as the play, and in the snapshot that takes its place."""
    path = tmp_path / "a.db"
    agent = made(path)
    plays = {key: agent.ask(key=key) for key in ("x", "y z", "#~")}
    if snapshot:
        agent.close()
    else:  # as after a kill: nothing but the facts
        copy = tmp_path / "b.db"
        agent.backup(copy)
        agent.close()
        path = copy
    with made(path, in_flight="keep") as later:
        for key, play in plays.items():
            assert later.ask(key=key) == play
        assert later.counts.asked == 3


def test_a_key_is_for_one_request(tmp_path: Path) -> None:
    """With another context it is refused; the context is kept as ever."""
    path = tmp_path / "a.db"
    with made(path, features={"size": float}) as agent:
        play = agent.ask({"size": 2.0}, key="k")
        with pytest.raises(ConflictError, match="'k' was used before, with another context"):
            agent.ask({"size": 3.0}, key="k")
        assert agent.ask({"size": 2.0}, key="k") == play
        agent.tell(play, 0.1)
        assert agent.history().context["size"] == [2.0]
    with made(path, features={"size": float}) as agent:
        assert agent.ask({"size": 2.0}, key="k") == play
        assert agent.history().context["size"] == [2.0]


def test_keys_are_forgotten_with_their_plays() -> None:
    """Memory is bounded: a key is known as long as its play is."""
    clock = ManualClock()
    agent = made(clock=clock, remembered=100, history=0)
    first = agent.ask(key="0")
    for number in range(1, 9000):
        agent.tell(agent.ask(key=str(number)), 0.01)
        clock.advance(0.01)
    assert len(agent._core.requests.keys) < 5000
    assert agent.ask(key="0").id != first.id


@pytest.mark.parametrize("key", ["", "é", "a\nb", "x" * 201, 7])
def test_bad_keys(key: Any) -> None:
    """A key is printable ASCII."""
    agent = made()
    with pytest.raises(InputError, match=r"The key is .*; give 1 to 200 printable ASCII"):
        agent.ask(key=key)
    assert agent.counts.asked == 0


def test_a_failed_ask_leaves_no_key() -> None:
    """An ask without a key after one that failed does not get its key."""
    agent = made(arms=["a"])
    agent.pause_arm("a")
    with pytest.raises(Exception, match="No arm is open"):
        agent.ask(key="k")
    agent.resume_arm("a")
    other = agent.ask()
    assert agent.ask(key="k").id != other.id


@pytest.mark.xdist_group("postgres")
def test_keys_of_many_processes() -> None:
    """The first start in the log counts, whoever asked; the other gets its play."""
    name = new_name()
    with opened(name) as first, opened(name, arms=None) as second:
        play = first.ask(key="k")
        assert second.ask(key="k")[:2] == play[:2]
        assert second.tell(play, 0.2) is Told.RETURNED
        found: list[Any] = []

        def ask(agent: Agent, key: str) -> None:
            found.append((key, agent.ask(key=key)[:2]))  # its time is that of the database

        threads = [
            threading.Thread(target=ask, args=(agent, f"race {number}"))
            for number in range(20)
            for agent in (first, second)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({play for _, play in found}) == len(set(found)) == 20
        caught_up(first, second)
        assert first.counts == second.counts
        assert first.counts.asked == 21
        assert first.counts.asked_again + second.counts.asked_again == 21
        seen = rows("SELECT status, context FROM tarry.play WHERE agent = %s", name)
        assert sorted(seen) == [("out", None)] * 20 + [("returned", None)]
    with opened(name, arms=None) as later:
        assert later.ask(key="k")[:2] == play[:2]
        assert later.counts.asked == 21


@pytest.mark.xdist_group("postgres")
def test_keys_are_in_the_snapshot_of_a_replica() -> None:
    """A process that begins from a snapshot knows them."""
    name = new_name()
    with opened(name) as agent:
        play = agent.ask(key="k")
        replica: Any = agent._engine._replica  # type: ignore[attr-defined]
        body = replica.dump()
        again: Any = agent._engine._replicas.restore(body, replica.seq)  # type: ignore[attr-defined]
        assert again.core.requests.keys == replica.core.requests.keys == {"k": 1}
        assert again._ids[0] == play.id
        assert again.dump() == body
