"""Worlds with contexts in comparisons, from Python and from plain tables."""

import pytest

import tarry
from tarry.errors import InputError
from tarry.experiments.from_text import experiment_from, problem_from
from tarry.problems import Contextual

PART = {"family": "bernoulli", "arms": 2, "max_delay": 20}
SEGMENTS = {
    "family": "segments",
    "weights": [3, 1],
    "segments": {"phone": PART, "desktop": PART},
}


def test_families_with_contexts_are_compared_by_name() -> None:
    """A table that names such a family gives runs whose regret is against each context's best."""
    table = {
        "policies": ["Uniform"],
        "payoff": "cost",
        "problem": {"family": "log_linear", "arms": 2, "features": 1, "max_delay": 20},
        "runs": 1,
        "horizon": 200,
    }
    case = experiment_from(table).cases[0]
    problem = case.draw(0)
    assert isinstance(problem, Contextual)
    assert "log_linear(" in case.name


def test_segments_from_a_table() -> None:
    """Each segment has a problem of its own, drawn anew for each run where it has no seed."""
    source = problem_from(SEGMENTS)
    assert callable(source)
    one, other = source(0), source(1)
    assert isinstance(one, Contextual)
    assert one.weights.tolist() == [0.75, 0.25]
    assert one != other
    assert len(set(one.context_laws)) == 4
    fixed = {name: {**PART, "seed": seed} for seed, name in enumerate(("phone", "desktop"))}
    always = problem_from({**SEGMENTS, "segments": fixed})
    assert isinstance(always, Contextual)
    assert always == tarry.problems.segments(
        {n: tarry.problems.bernoulli(2, 20, i) for i, n in enumerate(fixed)}, [3, 1]
    )


def test_bad_segments_are_refused() -> None:
    """In one sentence."""
    with pytest.raises(InputError, match="give weights and segments"):
        problem_from({"family": "segments"})
