"""SurvivalThompson: compiled run = interpreted run = literal transcription, arm by arm."""

from collections import Counter

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarry
from tarry.problems.problem import Payoff
from tarry.randomness import new_random
from tests.policies import literal
from tests.policies.literal_survival import survival_thompson
from tests.sizes import examples


def delays(kind: str, arms: int, max_delay: int, horizon: int, seed: int) -> npt.NDArray[np.int64]:
    """A table of delays of one of several kinds; D may be far above all delays."""
    rng = np.random.default_rng(seed)
    shape = (horizon, arms)
    if kind == "same":
        return np.full(shape, rng.integers(0, max_delay + 1))
    if kind == "constant":
        return np.broadcast_to(rng.integers(0, max_delay + 1, arms), shape).copy()
    if kind == "two-point":
        return np.where(rng.random(shape) < rng.random(arms), max_delay, 0)
    if kind == "short":
        return np.minimum(rng.geometric(rng.random(arms), shape) - 1, max_delay)
    return rng.integers(0, rng.integers(1, max_delay + 1, arms) + 1, shape)


@pytest.mark.parametrize("payoff", ["cost", "reward"])
def test_small_worlds(payoff: Payoff) -> None:
    """On hundreds of random small worlds all three play the same arms."""
    met: Counter[str] = Counter()

    @settings(max_examples=examples(300))
    @given(
        kind=st.sampled_from(["same", "constant", "two-point", "short", "uniform"]),
        arms=st.one_of(st.integers(1, 5), st.integers(6, 9)),
        max_delay=st.one_of(st.integers(1, 3), st.integers(1, 40), st.just(5000)),
        horizon=st.one_of(st.integers(1, 12), st.integers(13, 80)),
        bins=st.sampled_from([2, 5, 24]),
        seed=st.integers(0, 2**16),
    )
    def check(kind: str, arms: int, max_delay: int, horizon: int, bins: int, seed: int) -> None:
        table = delays(kind, arms, max_delay, horizon, seed)
        expected, _ = literal.trajectory(
            lambda world: survival_thompson(world, new_random(seed), bins),
            table,
            max_delay,
            reward=payoff == "reward",
        )
        problem = tarry.problems.replay(table, max_delay=max_delay)
        policy = tarry.SurvivalThompson(bins=bins)
        for mode in ("compiled", "interpreted"):
            run = tarry.play(policy, problem, payoff=payoff, horizon=horizon, seed=seed, mode=mode)
            assert run.arms.tolist() == expected
        met["worlds"] += 1
        met["settled"] += bool(arms > 1 and len(set(expected[-2 * arms :])) == 1)

    check()
    assert met["worlds"] >= 300
    assert met["settled"] >= 10, met
