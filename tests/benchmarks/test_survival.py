"""The measurements of the survival policies: what is compared differs in what is said."""

import numpy as np
import pytest
from benchmarks.survival.shapes import SHAPES, ShapedThompson

import tarry


@pytest.mark.parametrize("reward", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_other_draws_have_the_usual_settings(shape: str, reward: bool) -> None:
    """A row of "How is a mean drawn?" has the prior and the redraws of the first row."""
    setting = tarry.Setting(arms=5, max_delay=1000, horizon=0, reward=reward)
    usual = tarry.SurvivalThompson().start(setting)
    other = ShapedThompson(shape).start(setting)  # type: ignore[arg-type]  # one of its words
    assert other.redraws == usual.redraws
    for ours, theirs in zip(usual.evidence, other.evidence, strict=True):
        assert np.array_equal(np.asarray(ours), np.asarray(theirs))
