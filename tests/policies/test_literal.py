"""Compiled run = interpreted run = literal transcription, arm by arm."""

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarry
from tarry.problems.problem import Payoff
from tarry.randomness import new_random
from tests.policies import literal
from tests.sizes import examples

Transcription = Callable[[literal.World], Iterator[int]]


def opse(factor: int) -> Transcription:
    """OPSE with log(T) or, with the number of arms as the factor, log(K T)."""
    return lambda world: literal.opse(
        world, math.log(world.horizon * (world.arms if factor else 1))
    )


def censored(*, paper: bool) -> Transcription:
    """CensoredUCB with either radius."""

    def start(world: literal.World) -> Iterator[int]:
        k, t = world.arms, world.horizon
        return literal.censored_ucb(world, 2 * k**2 * t**3 if paper else k * t, new_random(0))

    return start


def one_phase(threshold: float) -> Transcription:
    """CSE or RSE alone."""
    return functools.partial(literal.single_phase, threshold=threshold)


CASES: list[tuple[Any, Payoff, Transcription]] = [
    (tarry.CSE(threshold=0.05), "cost", one_phase(0.05)),
    (tarry.CSE(threshold=0.4), "cost", one_phase(0.4)),
    (tarry.RSE(threshold=0.9), "reward", one_phase(0.9)),
    (tarry.RSE(threshold=0.4), "reward", one_phase(0.4)),
    (tarry.BDSE(), "cost", literal.doubling),
    (tarry.BDSE(keep_history=True), "cost", literal.kept),
    (tarry.BHSE(), "reward", literal.doubling),
    (tarry.BHSE(keep_history=True), "reward", literal.kept),
    (tarry.SEPK(), "cost", literal.sepk),
    (tarry.SEPK(), "reward", literal.sepk),
    (tarry.SE(), "cost", literal.se),
    (tarry.SE(), "reward", literal.se),
    (tarry.OPSE(), "cost", opse(0)),
    (tarry.OPSE(log_term="KT"), "reward", opse(1)),
    (tarry.CensoredUCB(), "reward", censored(paper=True)),
    (tarry.CensoredUCB(radius="experiments"), "cost", censored(paper=False)),
    (tarry.DelayedUCB(), "cost", literal.delayed_ucb),
    (tarry.DelayedUCB(), "reward", literal.delayed_ucb),
    (tarry.DelayedThompson(), "cost", lambda world: literal.thompson(world, new_random(0))),
    (tarry.DelayedThompson(), "reward", lambda world: literal.thompson(world, new_random(0))),
]
WORLDS = examples(90)  # of each case
NAMES = [f"{policy}-{payoff}" for policy, payoff, _ in CASES]


def delays(kind: str, arms: int, max_delay: int, horizon: int, seed: int) -> npt.NDArray[np.int64]:
    """A table of delays of one of several kinds."""
    rng = np.random.default_rng(seed)
    shape = (horizon, arms)
    if kind == "zero":
        return np.zeros(shape, np.int64)
    if kind == "longest":
        return np.full(shape, max_delay)
    if kind == "constant":
        return np.broadcast_to(rng.integers(0, max_delay + 1, arms), shape).copy()
    if kind == "two-point":
        return np.where(rng.random(shape) < rng.random(arms), max_delay, 0)
    if kind == "near":
        return np.clip(max_delay - rng.geometric(0.4, shape) + 1, 0, max_delay)
    return rng.integers(0, rng.integers(1, max_delay + 1, arms) + 1, shape)


def compare(case: tuple[Any, Payoff, Transcription], table: Any, max_delay: int) -> tarry.Run:
    """Require equal arms, restarts and failures of all three, and return the compiled run."""
    policy, payoff, transcription = case
    problem = tarry.problems.replay(table, max_delay=max_delay)
    horizon = len(table)
    arms, restarts = literal.trajectory(transcription, table, max_delay, reward=payoff == "reward")
    compiled = tarry.play(policy, problem, payoff=payoff, horizon=horizon, mode="compiled")
    plain = tarry.play(policy, problem, payoff=payoff, horizon=horizon, mode="interpreted")
    for run in (compiled, plain):
        assert run.arms.tolist() == arms
        assert run.restarts.tolist() == [step for step in restarts if step <= horizon]
        assert run.failed_at == (len(arms) + 1 if len(arms) < horizon else None)
    return compiled


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_small_worlds(case: tuple[Any, Payoff, Transcription]) -> None:
    """On random small worlds all three agree, and the worlds are not all dull."""
    met: Counter[str] = Counter()

    @settings(max_examples=WORLDS)
    @given(
        kind=st.sampled_from(["zero", "longest", "constant", "two-point", "near", "uniform"]),
        arms=st.sampled_from([1, 2, 2, 3, 4, 5]),  # with few arms more happens
        max_delay=st.one_of(st.integers(1, 3), st.integers(1, 40)),
        horizon=st.one_of(st.integers(1, 60), st.integers(100, 160)),
        seed=st.integers(0, 2**16),
    )
    def check(kind: str, arms: int, max_delay: int, horizon: int, seed: int) -> None:
        run = compare(case, delays(kind, arms, max_delay, horizon, seed), max_delay)
        met["worlds"] += 1
        met["eventful"] += bool(len(run.restarts) or run.failed_at)
        met["settled"] += bool(arms > 1 and len(set(run.arms[-3 * arms :].tolist())) < arms)

    check()
    assert met["worlds"] >= WORLDS
    if isinstance(case[0], (tarry.CSE, tarry.RSE, tarry.BDSE, tarry.BHSE)):
        assert met["eventful"] >= WORLDS // 40, met
    assert met["settled"] >= WORLDS // 50, met


@pytest.mark.parametrize("case", CASES, ids=NAMES)
@pytest.mark.parametrize("kind", ["longest", "constant", "two-point", "near"])
def test_longer_worlds(case: tuple[Any, Payoff, Transcription], kind: str) -> None:
    """Worlds long enough for missing plays to pile up, for L3 and for phases cut in flight."""
    compare(case, delays(kind, arms=2, max_delay=320, horizon=700, seed=3), 320)
