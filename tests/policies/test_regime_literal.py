"""RegimeThompson: compiled run = interpreted run = literal transcription, arm by arm."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarry
from tarry.problems.problem import Payoff
from tarry.randomness import new_random
from tests.policies import literal
from tests.policies.literal_regime import regime_thompson
from tests.policies.test_survival_literal import delays
from tests.sizes import examples

pytestmark = pytest.mark.xdist_group("survival")  # which is compiled once


@pytest.mark.parametrize("payoff", ["cost", "reward"])
def test_small_worlds(payoff: Payoff) -> None:
    """On random small worlds, some of which change half-way, all three play the same arms."""
    met: Counter[str] = Counter()

    @settings(max_examples=examples(120))
    @given(
        kinds=st.lists(
            st.sampled_from(["same", "constant", "two-point", "short", "uniform"]),
            min_size=1,
            max_size=2,
        ),
        arms=st.integers(1, 5),
        max_delay=st.one_of(st.integers(1, 3), st.integers(1, 40), st.just(5000)),
        horizon=st.one_of(st.integers(1, 12), st.integers(13, 60)),
        policy=st.builds(
            tarry.RegimeThompson,
            change_every=st.sampled_from([None, 0.5, 20, 1000.0]),
            load=st.sampled_from([None, True]),
        ),
        seed=st.integers(0, 2**16),
    )
    def check(
        kinds: list[str],
        arms: int,
        max_delay: int,
        horizon: int,
        policy: tarry.RegimeThompson,
        seed: int,
    ) -> None:
        table = delays(kinds[0], arms, max_delay, horizon, seed)
        table[horizon // 2 :] = delays(kinds[-1], arms, max_delay, horizon, seed + 1)[
            horizon // 2 :
        ]
        expected, _ = literal.trajectory(
            lambda world: regime_thompson(
                world,
                new_random(seed),
                bins=24,
                tau=policy.change_every,
                load=bool(policy.load),
            ),
            table,
            max_delay,
            reward=payoff == "reward",
        )
        problem = tarry.problems.replay(table, max_delay=max_delay)
        for mode in ("compiled", "interpreted"):
            run = tarry.play(policy, problem, payoff=payoff, horizon=horizon, seed=seed, mode=mode)
            assert run.arms.tolist() == expected
        met["worlds"] += 1
        met["switched"] += bool(arms > 1 and len(set(expected[-2 * arms :])) > 1)

    check()
    assert met["worlds"] >= 100
    assert met["switched"] >= 20, met
