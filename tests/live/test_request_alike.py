"""What plays for the very same request took counts beside the model, however long ago it was."""

import math
import random
from typing import Any

import pytest

from tarry.live import Agent, ManualClock
from tarry.live.core import Core
from tarry.live.plays import Arm
from tarry.live.request_alike import (
    MOST_ALIKE,
    MOST_KINDS,
    Own,
    by_kind,
    remembered,
    same_request,
)
from tarry.live.request_means import curves_of

MOST = 10.0


def one_arm(payoff: Any = "cost", **features: Any) -> tuple[ManualClock, Agent]:
    """An agent with one arm."""
    clock = ManualClock()
    told: dict[str, Any] = {"payoff": payoff, "max_delay": MOST, "clock": clock, "seed": 1}
    return clock, Agent(arms=["a"], features=features or {"x": ["u", "v"]}, **told)


def own_plays(agent: Agent, numbers: list[float]) -> tuple[Own, Own]:
    """By the curve of the kind, and by the plays that are remembered."""

    def found(core: Core, now: int) -> tuple[Own, Own]:
        arm: Arm = core.arms["a"]
        kind = by_kind(core, arm, now, numbers, curves_of(core, arm, now))
        return kind, remembered(core, arm, now, numbers)

    return agent._engine.look(found)


@pytest.mark.parametrize("payoff", ["cost", "reward"])
@pytest.mark.parametrize("seconds", [1.2, 5.0, 9.5])
def test_a_kind_that_gave_an_arm_up_long_ago_is_remembered(seconds: float, payoff: Any) -> None:
    """Thirty plays took exactly as long; none is among the latest of the arm."""
    clock, agent = one_arm(payoff, kind=["u", "v", "rare"])
    took = {"u": 2.0, "v": 9.0, "rare": seconds}
    for number in range(300 + MOST_ALIKE):
        kind = "rare" if number < 300 and number % 10 == 9 else "uv"[number % 2]
        play = agent.ask(context={"kind": kind})
        clock.advance(took[kind])
        agent.tell(play)
    row = agent.explain(context={"kind": "rare"})["a"]
    assert row.low <= seconds <= row.high
    assert row.high - row.low < 6.0
    by_curve, latest = own_plays(agent, [0.0, 0.0, 1.0])
    assert (by_curve.plays, latest.plays) == (30, 0)


@pytest.mark.parametrize("payoff", ["cost", "reward"])
@pytest.mark.parametrize("answered", [0, 1, 2])
def test_a_curve_of_a_kind_says_what_its_plays_say(answered: int, payoff: Any) -> None:
    """As those that are remembered one by one, with plays that are out as they are now."""
    rng = random.Random(3)  # a simulation
    clock, agent = one_arm(payoff)
    for number in range(60):
        play = agent.ask(context={"x": "uv"[number % 2]})
        clock.advance(rng.expovariate(2.0))
        if number % 3 < answered:
            agent.tell(play)
        elif number % 5 == 0:
            agent.cancel(play)
    kind, one = own_plays(agent, [1.0, 0.0])
    assert kind.plays == one.plays == 30
    for mine, theirs in zip(kind.estimate, one.estimate, strict=True):
        assert mine == pytest.approx(theirs, abs=0.05)


def test_two_plays_that_took_as_long_prove_little() -> None:
    """An interval allows their time, and much more."""
    clock, agent = one_arm(kind=["x", "y", "z"])
    for number in range(300):
        kind = "z" if number in (5, 6) else "xy"[number % 2]
        play = agent.ask(context={"kind": kind})
        clock.advance(9.5 if kind == "z" else 1.0)
        agent.tell(play)
    row = agent.explain(context={"kind": "z"})["a"]
    assert row.low + 3.0 < 9.5 <= row.high


def test_the_same_request_is_known_in_any_order() -> None:
    """And if it lacks something; of too many different requests the latest are looked at."""
    _, agent = one_arm(x=["u", "v"], n=float)
    contexts: list[dict[str, Any]] = [
        {"x": "u", "n": 1},
        {"n": 1.0, "x": "u"},
        {"x": "v", "n": 1.0},
        {"x": "u"},
        {},
    ]
    for context in contexts:
        agent.ask(context=context)
    core, plays = agent._core, list(range(1, 6))
    assert same_request(core, [1.0, 0.0, 1.0], plays) == [True, True, False, False, False]
    assert same_request(core, [1.0, 0.0, math.nan], plays) == [False, False, False, True, False]
    for n in range(2, MOST_KINDS + 2):
        agent.ask(context={"x": "u", "n": n})
    many = list(range(1, MOST_KINDS + 6))
    assert sum(same_request(core, [1.0, 0.0, 1.0], many)) == 0
    assert same_request(core, [1.0, 0.0, 9.0], many).index(True) == many.index(6 + 7)
