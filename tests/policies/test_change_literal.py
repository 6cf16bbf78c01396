"""Rivals for worlds that change: compiled run = interpreted run = literal transcription."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarry
from tarry.problems.problem import Payoff
from tarry.randomness import new_random
from tests.policies import literal, literal_change
from tests.policies.test_survival_literal import delays
from tests.sizes import examples

CASES: list[tuple[Any, Callable[..., Iterator[int]]]] = [
    (
        tarry.DiscountedThompson(change_every=12),
        functools.partial(literal_change.discounted, memory=12.0),
    ),
    (tarry.WindowThompson(7), functools.partial(literal_change.windowed, window=7)),
    (
        tarry.FadingThompson(change_every=15),
        functools.partial(literal_change.fading, memory=15.0, bins=24),
    ),
    (
        tarry.CUSUMUCB(warm_up=3, slack=0.1, threshold=0.7, explore=0.1),
        functools.partial(literal_change.cusum, warm_up=3, slack=0.1, threshold=0.7, explore=0.1),
    ),
]


@pytest.mark.parametrize(("policy", "transcription"), CASES, ids=lambda x: getattr(x, "func", x))
@pytest.mark.parametrize("payoff", ["cost", "reward"])
def test_small_worlds(
    policy: Any, transcription: Callable[..., Iterator[int]], payoff: Payoff
) -> None:
    """On random small worlds, which may change half-way, all three play the same arms."""

    @settings(max_examples=examples(60))
    @given(
        kinds=st.tuples(*[st.sampled_from(["constant", "two-point", "short", "uniform"])] * 2),
        arms=st.integers(1, 4),
        max_delay=st.one_of(st.integers(1, 3), st.integers(1, 30)),
        horizon=st.integers(1, 80),
        seed=st.integers(0, 2**16),
    )
    def check(kinds: tuple[str, str], arms: int, max_delay: int, horizon: int, seed: int) -> None:
        table = delays(kinds[0], arms, max_delay, horizon, seed)
        later = delays(kinds[1], arms, max_delay, horizon, seed + 1)
        table[horizon // 2 :] = later[horizon // 2 :]
        expected, _ = literal.trajectory(
            lambda world: transcription(world, new_random(seed)),
            table,
            max_delay,
            reward=payoff == "reward",
        )
        problem = tarry.problems.replay(table, max_delay=max_delay)
        for mode in ("compiled", "interpreted"):
            run = tarry.play(policy, problem, payoff=payoff, horizon=horizon, seed=seed, mode=mode)
            assert run.arms.tolist() == expected

    check()
