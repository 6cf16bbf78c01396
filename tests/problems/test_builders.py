"""Problems from fixed delays, distributions, probabilities and measurements."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tarry.errors import InputError
from tarry.problems import (
    Law,
    deterministic,
    discretise,
    from_distributions,
    from_pmf,
    from_samples,
    replay,
)


def test_deterministic_arms_always_take_the_same_time() -> None:
    """Every play of an arm has its fixed delay, and the means are exact."""
    problem = deterministic([50, 4000, 0], max_delay=4000)
    assert problem.means.tolist() == [0.0125, 1, 0]
    assert problem.delays(9, np.arange(1, 50)[:, None], range(3)).tolist() == [[50, 4000, 0]] * 49


def test_lists_take_names_and_dicts_bring_them() -> None:
    """An arm is named by its key or by the list of names, in order."""
    by_key = deterministic({"fra": 1, "ams": 2}, 4)
    assert by_key.names == ("fra", "ams")
    assert by_key == deterministic(np.array([1, 2]), 4, names=["fra", "ams"])
    assert deterministic([1, 2], 4).names == ("0", "1")


def test_distributions_are_discretised_one_by_one() -> None:
    """Each arm has the law of its distribution, and so the exact mean."""
    frozen = [stats.weibull_min(0.8, scale=40), stats.poisson(12)]
    problem = from_distributions(frozen, max_delay=600)
    assert problem.laws == tuple(discretise(arm, 600) for arm in frozen)
    assert problem.mean_delays[1] == pytest.approx(12)
    assert problem.label == "from_distributions"


def test_pmfs_are_taken_as_they_are() -> None:
    """Pairs of values and probabilities, in any order of values, or laws."""
    problem = from_pmf([([7, 2], (0.25, 0.75)), Law([3], [1])], max_delay=7)
    assert problem.laws == (Law([2, 7], [0.75, 0.25]), Law([3], [1]))


@given(st.lists(st.lists(st.integers(0, 20), min_size=1), min_size=1, max_size=4))
def test_samples_give_their_own_law(samples: list[list[int]]) -> None:
    """Means and survival functions are those of the measurements."""
    problem = from_samples(samples, max_delay=20)
    for law, sample in zip(problem.laws, samples, strict=True):
        assert law.mean == pytest.approx(np.mean(sample), rel=1e-14, abs=1e-300)
        assert law.survival(7) == pytest.approx(np.mean(np.array(sample) >= 7), abs=1e-14)


def test_samples_with_a_unit_are_rounded_half_to_even() -> None:
    """Seconds become milliseconds; exact halves go to the even neighbour."""
    problem = from_samples({"a": [0.0015, 0.0025, 0.0035]}, max_delay=10, unit=0.001)
    assert problem.laws[0] == Law([2, 2, 4], [1 / 3] * 3)
    assert from_samples([[1.5, 2.5]], 10, unit=1).laws[0] == Law([2], [1])


def test_whole_floats_are_samples_too() -> None:
    """Measurements stored as floats are fine if they are whole."""
    assert from_samples([[1.0, 2.0]], 4) == from_samples([[1, 2]], 4)


def test_delays_above_the_longest_are_refused_or_clipped() -> None:
    """above="clip" counts them as D, with and without a unit; the default refuses them."""
    with pytest.raises(
        InputError, match=r"delay is 700; delays must be whole numbers from 0 to 600.*above='clip'"
    ):
        from_samples({"a": [5, 700]}, max_delay=600)
    clipped = from_samples({"a": [5, 700], "b": [600]}, max_delay=600, above="clip")
    assert clipped.laws[0] == Law([5, 600], [0.5, 0.5])
    seconds = from_samples([[0.2, 9.0]], max_delay=1000, unit=0.001, above="clip")
    assert seconds.laws[0] == Law([200, 1000], [0.5, 0.5])
    with pytest.raises(InputError, match="above is 'cut'; it must be 'refuse' or 'clip'"):
        from_samples([[1]], max_delay=5, above="cut")  # type: ignore[arg-type]  # the point


@pytest.mark.parametrize("library", [pd, pl])
def test_data_frames_name_their_arms(library: Any) -> None:
    """A column is an arm; empty cells are left out of samples, a replayed table has none."""
    frame = library.DataFrame({"fra": [3.0, 5.0, None], "ams": [1.0, 1.0, 4.0]})
    made = from_samples(frame, max_delay=10)
    assert made.names == ("fra", "ams")
    assert made.mean_delays.tolist() == [4, 2]
    table = library.DataFrame({"fra": [3, 5], "ams": [1, 4]})
    assert replay(table, max_delay=10).names == ("fra", "ams")


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (([0, 10], [0.9]), "Arm '0': the law has 2 values and 1 probabilities; it must have one"),
        (([], []), "Arm '0': the law has 0 values and 0 probabilities; it must have one"),
        (([[0, 1]], [[0.5, 0.5]]), "Arm '0': the values are [[0, 1]]; they must be a list."),
        ((["x"], [1]), "Arm '0': the values are ['x']; they must be numbers."),
        (([0, 1], [0.5, 0.6]), "Arm '0': the probabilities sum to 1.1; they must sum to 1"),
        (5, "Arm '0': the law is 5; it must be a pair (values, probabilities)."),
    ],
)
def test_laws_are_refused_in_their_own_words(law: Any, words: str) -> None:
    """What is wrong is said of values and probabilities, not of arrays and shapes."""
    with pytest.raises(InputError) as caught:
        from_pmf([law], max_delay=10)
    assert words in str(caught.value)


def test_law_may_be_a_dict() -> None:
    """{value: probability} is a law, too."""
    assert from_pmf([{0: 0.75, 8: 0.25}], max_delay=10).mean_delays.tolist() == [2]
