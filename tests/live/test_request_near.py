"""Where a mean bends or jumps with a number, plays near a request count by themselves."""

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

import tarry
from tarry.live import Agent, ManualClock
from tarry.live.request_near import FEWEST, near

MOST = 10.0


def played(mean: Callable[[float], float], kind: Any, plays: int, seed: int) -> Agent:
    """An agent whose first arm has a mean that moves with a number."""
    clock, rng = ManualClock(), random.Random(seed)  # a simulation
    told: dict[str, Any] = {"payoff": "cost", "max_delay": MOST, "clock": clock, "seed": seed}
    agent = Agent(arms=["x", "y"], features={"n": kind}, **told)
    for _ in range(plays):
        n = rng.gauss(0.0, 1.0)
        play = agent.ask(context={"n": n})
        delay = min(rng.expovariate(1.0 / (mean(n) if play.arm == "x" else 1.5)), MOST)
        clock.advance(delay)
        agent.tell(play, delay)
    return agent


def bent(n: float) -> float:
    """A mean that is least in the middle."""
    return 0.3 + n * n


def jumps(n: float) -> float:
    """A mean that is four times as long from some number on."""
    return 0.5 if n < 0.3 else 2.0


def steady(n: float) -> float:
    """A mean as the model has it."""
    return math.exp(0.5 * n)


@pytest.mark.parametrize(
    ("mean", "kind"), [(bent, tarry.numeric(curve=True)), (jumps, float)], ids=["bent", "jumps"]
)
def test_intervals_hold_the_mean_where_it_bends(mean: Callable[[float], float], kind: Any) -> None:
    """By the model alone hardly any held it, the fewer the more plays there were."""
    held = []
    for seed in range(4):
        row = played(mean, kind, 800, seed).explain(context={"n": 0.0})["x"]
        truth = mean(0.0) * (1.0 - math.exp(-MOST / mean(0.0)))
        held.append(row.low <= truth <= row.high)
        assert row.high - row.low < 1.0
    assert sum(held) >= 3


def test_intervals_stay_narrow_where_the_model_is_right() -> None:
    """And hold the mean."""
    for seed in range(2):
        row = played(steady, float, 800, seed).explain(context={"n": 0.0})["x"]
        assert row.low <= steady(0.0) <= row.high
        assert row.high - row.low < 0.7


def test_which_plays_are_near() -> None:
    """Those with nearly the same numbers, and with the same numbers missing."""
    clock = ManualClock()
    told: dict[str, Any] = {"payoff": "cost", "max_delay": MOST, "clock": clock, "seed": 1}
    agent = Agent(arms=["a"], features={"n": float, "m": float}, **told)
    for number in range(400):
        context = {"n": float(number % 4), "m": 1.0} if number % 2 else {"n": float(number % 4)}
        agent.tell(agent.ask(context=context), 1.0)
    core, few = agent._core, FEWEST
    arm = core.arms["a"]
    assert len(near(core, arm, [1.1, 1.0]).slot) == 100 > few
    assert len(near(core, arm, [2.1, math.nan]).slot) == 100
    assert len(near(core, arm, [1.0, math.nan]).slot) == 0
    assert len(near(core, arm, [1.5, 1.0]).slot) == 0
