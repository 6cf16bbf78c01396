"""The same scenarios for an agent here and for one of a service."""

import asyncio
import math
import time
from collections.abc import Callable, Coroutine, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.service.serving import running

import tarry
from tarry.errors import ConflictError, InputError, LiveError, UnknownPlayError
from tarry.live import Play, Told

Make = Callable[..., Any]


@pytest.fixture(scope="module")
def service() -> Iterator[Any]:
    """One service for all scenarios."""
    with running() as here:
        yield here


@pytest.fixture(params=["here", "file", "service"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Makes agents of one kind or the other."""
    given: dict[str, Any] = {"arms": ["fra", "ams"], "payoff": "cost", "max_delay": 2.0, "seed": 1}
    made: list[Any] = []
    if request.param == "service":
        here = request.getfixturevalue("service")
        with tarry.connect(here.address) as connection:
            names = count()
            yield lambda **more: connection.agent(
                f"{request.node.name} {next(names)}", **(given | more)
            )
        return

    def agent(**more: Any) -> Any:
        path = tmp_path / f"{len(made)}.db" if request.param == "file" else None
        made.append(tarry.Agent(path=path, **(given | more)))
        return made[-1]

    yield agent
    for each in made:
        each.close()


async def alone(agent: Any, call: Coroutine[Any, Any, Any]) -> Any:
    """One call in an event loop of its own."""
    try:
        return await call
    finally:
        if hasattr(agent, "connection"):
            await agent.connection.close_async()


def test_ask_and_tell(make: Make) -> None:
    """A play comes back, once."""
    agent = make()
    play = agent.ask()
    assert isinstance(play, Play)
    assert play.arm in agent.arms
    assert abs(play.time - time.time()) < 5
    assert agent.tell(play, 0.113) is Told.RETURNED
    assert agent.tell(play.id, 0.113) is Told.REPEATED
    with pytest.raises(
        ConflictError, match=r"was told with delay 0\.113 s before and now with 0\.2"
    ):
        agent.tell(play, 0.2)
    assert agent.counts == (1, 1, 0, 0, 0, 0, 0)
    assert agent.counts.repeated == 1
    assert agent.counts.conflicts == 1
    assert agent.tell(play) is Told.REPEATED


def test_just_now(make: Make) -> None:
    """Without a delay, the time since the ask counts."""
    agent = make()
    play = agent.ask()
    time.sleep(0.05)
    assert agent.tell(play) is Told.RETURNED
    assert 0.05 <= agent.history().times[0] < 1.5
    assert agent.tell(play) is Told.REPEATED


def test_fail_and_cancel(make: Make) -> None:
    """Both are counted as what they are."""
    agent = make()
    assert agent.fail(agent.ask()) is Told.RETURNED
    play = agent.ask()
    assert agent.cancel(play) is True
    assert agent.cancel(play) is False
    assert agent.tell(play, 0.1) is Told.LATE
    assert agent.counts == (2, 1, 0, 0, 1, 1, 1)


def test_unknown_plays(make: Make) -> None:
    """Ids of others are refused."""
    agent, other = make(), make(seed=2)
    play = other.ask()
    for wrong in (play, play.id, 0, 77, -1, 2**70, "x", 1.5, None):
        with pytest.raises(UnknownPlayError, match="There is no play"):
            agent.tell(wrong)
    with pytest.raises(InputError, match="The delay is -1"):
        agent.tell(agent.ask(), -1)
    with pytest.raises(InputError, match="The delay is nan"):
        agent.tell(agent.ask(), math.nan)


def test_asking_again(make: Make) -> None:
    """The same key is the same play."""
    agent = make()
    play = agent.ask(key="k 1")
    assert agent.ask(key="k 1") == play
    assert agent.ask(key="k 2") != play
    assert agent.counts.asked == 2


def test_blocks(make: Make) -> None:
    """A block is timed, an exception is a failure, Ctrl-C a cancellation."""
    agent = make()
    with agent.play() as play:
        assert play in agent.arms
    with pytest.raises(KeyError), agent.play():
        raise KeyError("gone")
    with pytest.raises(KeyboardInterrupt), agent.play():
        raise KeyboardInterrupt
    with agent.play() as play:
        play.fail()
    with agent.play() as play:
        assert play.tell(0.04) is Told.RETURNED
    with agent.play() as play:
        play.cancel()
    assert agent.counts == (6, 4, 0, 0, 2, 0, 2)
    block = agent.play()
    with block:
        pass
    with pytest.raises(LiveError, match="was entered before"), block:
        pass


def test_async(make: Make) -> None:
    """All verbs that wait do so without holding up the loop."""
    agent = make()

    async def live() -> None:
        plays = await asyncio.gather(*(agent.ask_async() for _ in range(8)))
        assert len({play.id for play in plays}) == 8
        assert await agent.tell_async(plays[0], 0.1) is Told.RETURNED
        assert await agent.fail_async(plays[1]) is Told.RETURNED
        assert await agent.cancel_async(plays[2])
        async with agent.play() as play:
            assert play in ("fra", "ams")
        with pytest.raises(KeyError):
            async with agent.play():
                raise KeyError("gone")
        async with agent.play() as play:
            play.cancel()

    asyncio.run(alone(agent, live()))
    assert agent.counts == (11, 4, 5, 0, 2, 0, 2)


def test_arms(make: Make) -> None:
    """They come, go, and pause, whatever they are called."""
    agent = make()
    odd = "a/b ?#%2F&é\u2028.."
    for name in (odd, ".", "..", "lon"):
        agent.add_arm(name)
        assert name in agent.arms
        agent.pause_arm(name)
        assert agent.paused == (name,)
        agent.resume_arm(name)
        assert agent.paused == ()
    with pytest.raises(InputError, match="There is an arm 'lon' already"):
        agent.add_arm("lon")
    agent.remove_arm(odd)
    assert odd not in agent.arms
    with pytest.raises(InputError, match="There is no arm"):
        agent.remove_arm(odd)
    with pytest.raises(InputError):
        agent.add_arm("")
    for name in ("fra", "ams", ".", "..", "lon"):
        agent.pause_arm(name)
    with pytest.raises(LiveError, match="No arm is open"):
        agent.ask()


def test_looking(make: Make) -> None:
    """The explanation and the history are those of the agent."""
    agent = make()
    for _ in range(30):
        play = agent.ask()
        agent.tell(play, {"fra": 0.1, "ams": 0.5}[play.arm])
    report = agent.explain()
    assert report.counts == agent.counts
    assert report["fra"].why == "shortest mean so far"
    assert "95 % interval" in str(report)
    log = agent.history()
    assert len(log.times) == 30
    assert set(log.context["status"]) == {"returned"}
    assert log.means()["fra"].mean == pytest.approx(0.1)
    assert agent.max_delay == 2.0
    assert agent.payoff == "cost"
    assert agent.trouble == ""
    assert "cost" in repr(agent)


def test_values_of_contexts(make: Make) -> None:
    """What is a number, a text or missing here is that at a service too, and so is what is not."""
    agent = make(
        features={"device": ["phone", "tv"], "size": float, "age": tarry.numeric(log=True)}
    )
    for size in (Decimal("1.5"), Fraction(3, 2), np.float32(1.5), np.array(1.5), 10**30):
        agent.ask({"device": np.str_("phone"), "size": size, "age": 1})
    assert agent.counts.features_missing == 0
    for nothing in (pd.NA, pd.NaT, math.nan, None, np.float64("nan"), Decimal("nan")):
        agent.ask({"device": nothing, "size": nothing, "age": 1})
    agent.explain(context={"size": Decimal(2), "device": pd.NA})
    assert agent.counts.features_missing == 12
    assert agent.counts.features_unknown == 0
    assert agent.history().context["size"] == [1.5] * 4 + [1e30] + [None] * 6
    for context, words in (
        ({"size": "3"}, "The feature 'size' is '3'; it must be a number, or None"),
        ({"size": 10**400}, "The feature 'size' is 1000.*, which is too large; it must be a"),
        ({"size": 1e151}, r"The feature 'size' is 1e\+151, which is too large; it must be"),
        ({"size": math.inf}, "The feature 'size' is infinite"),
        ({"device": 3}, "it must be a text, or None"),
        ([3], "give a dict of values by name"),
    ):
        for verb in (agent.ask, agent.explain):
            with pytest.raises(InputError, match=words):
                verb(context=context)
    with pytest.raises(InputError, match="this agent has no features"):
        make().ask({"size": 1})


def test_half_a_character(make: Make) -> None:
    """A text that no file can hold is called that, in the words of an agent here."""
    agent, half = make(features={"device": ["phone", "tv"]}), "half \ud83d"
    words = "has characters that no file can hold; give proper text"
    for verb in (agent.ask, agent.explain):
        with pytest.raises(InputError, match=f"value of the feature 'device' .*half.* {words}"):
            verb(context={"device": half})
    with pytest.raises(InputError, match=f"The arm .*half.* {words}"):
        agent.add_arm(half)
    assert agent.counts.asked == 0
    for features, what in (({half: float}, "name of a"), ({"device": [half]}, "value of the")):
        with pytest.raises(InputError, match=f"The {what} feature .*half.* {words}"):
            make(features=features)


def test_contexts(make: Make) -> None:
    """Features are those of the agent; what it does not know is refused."""
    features = {
        "device": ["phone", "desktop"],
        "size": tarry.numeric(log=True),
        "hour": tarry.cyclic(24),
    }
    agent = make(features=features)
    for _ in range(5):
        agent.tell(agent.ask({"device": "phone", "size": 3.1}), 0.2)
    with pytest.raises(InputError, match="The context has 'colour'"):
        agent.ask({"colour": "red"})
    with pytest.raises(InputError):
        agent.ask({"size": "large"})
    assert agent.history().context["device"] == ["phone"] * 5
    assert agent.counts.features_missing == 5
    assert agent.explain({"device": "phone"})["fra"].arm == "fra"
    with pytest.raises(InputError, match="has no features"):
        make().ask({"size": 1.0})


def test_leases(make: Make) -> None:
    """Ages are reported; without a lease that is refused."""
    agent = make(payoff="reward", max_delay=60.0, lease=15.0)
    assert agent.lease == 15.0
    assert agent.heartbeat == 5.0
    play = agent.ask()
    assert agent.alive(play, 3.0) is True
    assert asyncio.run(alone(agent, agent.alive_async(play, 4.0))) is True
    with pytest.raises(InputError, match="give its delay"):
        agent.tell(play)
    assert agent.tell(play, 12.5) is Told.RETURNED
    assert agent.alive(play, 13.0) is False
    plain = make()
    with pytest.raises(InputError, match="measures the ages"):
        plain.alive(plain.ask(), 1.0)


def test_refused_at_once(make: Make) -> None:
    """What no agent can be is refused in one sentence."""
    cases: list[dict[str, Any]] = [
        {"arms": []},
        {"arms": ["a", "a"]},
        {"payoff": "profit"},
        {"max_delay": 0},
        {"max_delay": math.nan},
        {"policy": tarry.BDSE()},
        {"seed": -1},
        {"features": {}},
        {"lease": -1.0},
    ]
    for wrong in cases:
        with pytest.raises(InputError) as caught:
            make(**wrong)
        assert "\n" not in str(caught.value)
