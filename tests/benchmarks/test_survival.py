"""The measurements of the survival policies: what is compared differs in what is said."""

import numpy as np
import pytest
from benchmarks.survival.shapes import SHAPES, ShapedThompson

import tarry
from tarry.randomness import new_random


@pytest.mark.parametrize("reward", [False, True])
def test_with_usual_parts_it_is_the_policy(reward: bool) -> None:
    """The first row of every question draws from the law that SurvivalThompson draws from."""
    setting = tarry.Setting(arms=1, max_delay=40, horizon=0, reward=reward)
    rules = [policy.start(setting) for policy in (tarry.SurvivalThompson(), ShapedThompson())]
    found = []
    for rule in rules:
        rng = new_random(3)
        for delay in (0, 3, 3, 17, 40):
            for edge in np.flatnonzero(np.asarray(rule.edges) <= delay):
                rule.evidence.book_pass(0, int(edge))
            rule.evidence.book_event(0, delay)
        found.append(np.array([rule.draw(0, rng) for _ in range(4000)]))
    one, other = found
    error = np.hypot(one.std(), other.std()) / np.sqrt(len(one))
    assert one.mean() == pytest.approx(other.mean(), abs=5 * error)
    assert one.std() == pytest.approx(other.std(), rel=0.1)


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
