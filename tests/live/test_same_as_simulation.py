"""On a clock that ticks once per play, an agent plays exactly the arms of the simulator."""

import numpy as np
import pytest
from tests.conformance.cases import LIVE_CASES, LIVE_RULES, Case
from tests.live.cases import in_steps, number_of

import tarry
from tarry.live import Agent, ManualClock, Told
from tarry.problems import Problem

TICK = 1e-6
HORIZON = 300


def live_arms(
    agent: Agent, clock: ManualClock, problem: Problem, seed: int, horizon: int = HORIZON
) -> list[int]:
    """Let `agent` play `problem`, one play per tick; answers arrive as in the simulator."""
    due: dict[int, list[tuple[int, float]]] = {}
    chosen: list[int] = []
    world = problem.world(seed)
    for step in range(1, horizon + 1):
        clock.time = step * TICK
        try:
            play = agent.ask()
        except tarry.errors.LiveError:
            break
        assert number_of(agent, play) == step
        arm = problem.names.index(play.arm)
        chosen.append(arm)
        delay = int(world.delay(step, arm))
        due.setdefault(step + delay, []).append((play.id, delay * TICK))
        for number, taken in reversed(due.pop(step, [])):
            told = agent.tell(number, delay=taken)
            assert told in (Told.RETURNED, Told.LATE)
    return chosen


@pytest.mark.parametrize(
    ("case", "family"),
    [(c, "spread") for c in LIVE_CASES] + [(c, "two-point") for c in LIVE_RULES],
    ids=str,
)
def test_plays_the_arms_of_the_simulator(case: Case, family: str) -> None:
    """Every policy, both payoffs: the agent's choices are those of `tarry.play`, step by step."""
    policy, payoff = case
    if family == "spread":
        problem = tarry.problems.truncated_normal(arms=4, max_delay=60, mean_scale=0.3, seed=3)
    else:
        problem = tarry.problems.bernoulli(arms=3, max_delay=25, seed=5)
    run = tarry.play(policy, problem, payoff=payoff, horizon=HORIZON, seed=11, mode="interpreted")
    clock = ManualClock()
    agent = Agent(
        in_steps(policy, TICK),
        arms=problem.names,
        payoff=payoff,
        max_delay=problem.max_delay * TICK,
        horizon=HORIZON,
        seed=11,
        clock=clock,
    )
    agent._core.paced = False  # as in the paper: one play per sweep
    arms = live_arms(agent, clock, problem, 11)
    assert np.array_equal(arms, run.arms)
    counts = agent.counts
    assert counts.asked == counts.returned + counts.pending + counts.closed + counts.cancelled


def test_peak_spacing_is_the_sweep_for_regular_sweeps() -> None:
    """With all arms active throughout, the peak play density gives the size of the sweep."""
    problem = tarry.problems.deterministic([20, 20, 20], max_delay=20)
    clock = ManualClock()
    agent = Agent(
        tarry.BDSE(),
        arms=problem.names,
        payoff="cost",
        max_delay=20 * TICK,
        horizon=400,
        seed=0,
        clock=clock,
    )
    live_arms(agent, clock, problem, 0, horizon=400)
    spacing = agent._core.open.ledger.spacing
    assert [spacing[arm] for arm in range(3)] == [3, 3, 3]
