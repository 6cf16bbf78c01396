"""The measurements of the survival policies: what is compared differs in what is said."""

import numpy as np
import pytest
from benchmarks.survival.shapes import SHAPES, ShapedThompson

import tarry
from tarry.problems.problem import Payoff


@pytest.mark.parametrize("payoff", ["cost", "reward"])
def test_with_usual_parts_it_is_the_policy(payoff: Payoff) -> None:
    """The first row of every question plays the arms that SurvivalThompson plays."""
    problem = tarry.problems.bernoulli(arms=4, max_delay=40, seed=3)
    ours, theirs = (
        tarry.play(policy, problem, payoff=payoff, horizon=300, seed=5, mode="interpreted")
        for policy in (tarry.SurvivalThompson(), ShapedThompson())
    )
    assert np.array_equal(ours.arms, theirs.arms)


@pytest.mark.parametrize("shape", SHAPES[1:])
def test_other_draws_are_other_draws(shape: str) -> None:
    """Each other kind of draw finds the best arm, and takes another way to it."""
    problem = tarry.problems.from_pmf(
        [([1, 9, 30], [0.5, 0.3, 0.2]), ([2, 20, 40], [0.2, 0.3, 0.5])], max_delay=400
    )
    usual, other = (
        tarry.play(policy, problem, payoff="cost", horizon=2000, seed=1, mode="interpreted")
        for policy in (ShapedThompson(), ShapedThompson(shape))  # type: ignore[arg-type]  # a word
    )
    assert not np.array_equal(usual.arms, other.arms)
    assert (other.arms[-500:] == 0).mean() > 0.9
