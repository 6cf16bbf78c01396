"""IncrementUCB: compiled run = interpreted run = literal transcription, arm by arm."""

from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarry
from tarry.errors import InputError, PayoffError
from tests.policies import literal_index as literal
from tests.policies.test_literal import Transcription, compare, delays
from tests.sizes import examples

pytestmark = pytest.mark.xdist_group("index")  # which is compiled once

CASES: dict[str, tuple[Any, Any, Transcription]] = {
    "cost": (tarry.IncrementUCB(), "cost", literal.increment_ucb),
    "reward": (tarry.IncrementUCB(), "reward", literal.increment_ucb),
    "spread cost": (
        tarry.IncrementUCB(spread=1.5), "cost", partial(literal.increment_ucb, spread=1.5)
    ),
    "eager reward": (
        tarry.IncrementUCB(spread=0), "reward", partial(literal.increment_ucb, spread=0)
    ),
    "unbounded": (tarry.IncrementUCB(unbounded=True), "cost", literal.unbounded_ucb),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_small_worlds(name: str) -> None:
    """On a hundred random small worlds all three agree, and the worlds are not all dull."""
    met: Counter[str] = Counter()

    @settings(max_examples=examples(100))
    @given(
        kind=st.sampled_from(["zero", "longest", "constant", "two-point", "near", "uniform"]),
        arms=st.integers(1, 4),
        max_delay=st.one_of(st.integers(1, 3), st.integers(1, 40)),
        horizon=st.one_of(st.integers(1, 12), st.integers(13, 45)),
        seed=st.integers(0, 2**16),
    )
    def check(kind: str, arms: int, max_delay: int, horizon: int, seed: int) -> None:
        run = compare(CASES[name], delays(kind, arms, max_delay, horizon, seed), max_delay)
        met["worlds"] += 1
        met["settled"] += bool(arms > 1 and len(set(run.arms[-3 * arms :].tolist())) < arms)

    check()
    assert met["worlds"] >= 100
    assert met["settled"] >= 5, met


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", ["constant", "uniform"])
def test_longer_worlds(name: str, kind: str) -> None:
    """Worlds long enough for bounds to be kept from step to step, and for long pieces."""
    compare(CASES[name], delays(kind, arms=2, max_delay=90, horizon=260, seed=3), 90)


def test_bad_settings_are_refused() -> None:
    """A spread is a number from 0 on; without D there is no bound for reward."""
    with pytest.raises(InputError, match="spread is -1; it must be a number from 0 on"):
        tarry.IncrementUCB(spread=-1)
    problem = tarry.problems.deterministic([1, 2], max_delay=2)
    with pytest.raises(PayoffError) as caught:
        tarry.play(tarry.IncrementUCB(unbounded=True), problem, payoff="reward", horizon=9)
    assert str(caught.value) == (
        "IncrementUCB(unbounded=True) serves cost only, not reward; "
        "IncrementUCB is the one for reward."
    )


def test_unbounded_uses_nothing_of_max_delay() -> None:
    """The same delays under a cap ten thousand times as high: the same arms."""
    table = np.random.default_rng(4).integers(0, 60, (400, 3))
    policy: Any = tarry.IncrementUCB(unbounded=True)
    arms = [
        tarry.play(
            policy, tarry.problems.replay(table, max_delay=cap), payoff="cost", horizon=400
        ).arms.tolist()
        for cap in (400, 4_000_000)
    ]
    assert arms[0] == arms[1]
