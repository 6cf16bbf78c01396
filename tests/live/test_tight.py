"""The tight bounds hold live as well, where answers are late, plays cancelled and arms paused."""

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

import tarry
from tarry.live import Agent, ManualClock

D = 1.0
PLAYS = 1500


def bounds(agent: Agent, name: str) -> tuple[float, float]:
    """The interval in which the rule believes the mean delay of an arm, in seconds."""
    arm = agent._core.arms[name]
    assert arm.desk is not None
    sweep = arm.desk.rule.sweep
    return sweep.lower[arm.index] * D, sweep.upper[arm.index] * D


def told_late(agent: Agent, clock: ManualClock, draw: Callable[[str], float]) -> None:
    """Answers are measured when they come and told half of D later; in the end, at once."""
    waiting: list[tuple[float, Any, float]] = []
    for k in range(PLAYS):
        clock.advance(0.013)
        play = agent.ask()
        delay = draw(play.arm)
        late = D / 2 if k < PLAYS - 250 else 0.0
        waiting.append((clock.time + min(delay + late, 0.99 * D), play, delay))
        due = [item for item in waiting if item[0] <= clock.time]
        waiting = [item for item in waiting if item[0] > clock.time]
        for _, other, taken in due:
            agent.tell(other, taken)


def cancelled(agent: Agent, clock: ManualClock, draw: Callable[[str], float]) -> None:
    """Half of the plays are no longer watched after a short while."""
    waiting: list[tuple[float, Any, bool]] = []
    for k in range(PLAYS):
        clock.advance(0.013)
        play = agent.ask()
        delay = draw(play.arm)
        watched = 0.02 if k % 2 else math.inf
        waiting.append((clock.time + min(delay, watched), play, delay <= watched))
        for _, other, back in [item for item in waiting if item[0] <= clock.time]:
            agent.tell(other) if back else agent.cancel(other)
        waiting = [item for item in waiting if item[0] > clock.time]


def paused(agent: Agent, clock: ManualClock, draw: Callable[[str], float]) -> None:
    """An arm rests again and again, also while its plays are out."""
    waiting: list[tuple[float, Any]] = []
    for k in range(PLAYS):
        if k % 50 == 25:
            agent.pause_arm("b")
        if k % 50 == 40:
            agent.resume_arm("b")
        clock.advance(0.013)
        play = agent.ask()
        waiting.append((clock.time + draw(play.arm), play))
        for _, other in [item for item in waiting if item[0] <= clock.time]:
            agent.tell(other)
        waiting = [item for item in waiting if item[0] > clock.time]


@pytest.mark.parametrize("trouble", [told_late, cancelled, paused])
@pytest.mark.parametrize("payoff", ["cost", "reward"])
def test_bounds_hold(trouble: Any, payoff: str) -> None:
    """The lower bound stays below the true mean and the upper one above, with room to spare."""
    policy = (tarry.BDSE if payoff == "cost" else tarry.BHSE)(bounds="tight")
    means = {"a": 0.2, "b": 0.25}
    for seed in range(3):
        rng = random.Random(seed)
        clock = ManualClock()
        agent = Agent(
            policy,
            arms=list(means),
            payoff=payoff,
            max_delay=D,
            horizon=PLAYS,
            seed=seed,
            clock=clock,
        )

        def draw(arm: str, rng: random.Random = rng) -> float:
            return min(rng.expovariate(1 / means[arm]), D - 1e-6)

        trouble(agent, clock, draw)
        for name, scale in means.items():
            low, high = bounds(agent, name)
            true = scale * (1 - math.exp(-D / scale))
            assert low <= true <= high
            assert high - low < 0.8 * D  # they say something
