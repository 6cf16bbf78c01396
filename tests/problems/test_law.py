"""Laws: sorted, positive, summing to 1, with exact moments."""

import copy
import pickle
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarry.errors import InputError
from tarry.problems import Law

PAIRS = st.lists(
    st.tuples(st.integers(0, 2**31 - 2), st.floats(0, 1)), min_size=1, max_size=30
).filter(lambda pairs: sum(share for _, share in pairs) > 1e-6)


def make(pairs: list[tuple[int, float]]) -> Law:
    """The law in proportion to the given weights."""
    values, weights = zip(*pairs, strict=True)
    return Law(values, np.array(weights) / np.sum(weights))


@given(PAIRS)
def test_law_is_in_order(pairs: list[tuple[int, float]]) -> None:
    """Values are sorted and distinct, probabilities positive with sum 1."""
    law = make(pairs)
    assert (np.diff(law.values) > 0).all()
    assert (law.probabilities > 0).all()
    total = sum((Fraction(share) for share in law.probabilities.tolist()), Fraction(0))
    assert abs(total - 1) <= Fraction(1, 2**51)


@given(PAIRS)
def test_moments_are_exact(pairs: list[tuple[int, float]]) -> None:
    """Mean and variance equal those of exact arithmetic on the same probabilities."""
    law = make(pairs)
    terms = list(zip(law.values.tolist(), map(Fraction, law.probabilities.tolist()), strict=True))
    mean = sum(value * share for value, share in terms)
    variance = sum((value - mean) ** 2 * share for value, share in terms)
    assert law.mean == pytest.approx(float(mean), rel=1e-15)
    assert law.variance == pytest.approx(float(variance), rel=1e-12, abs=1e-12 * float(mean) ** 2)


@given(PAIRS, st.lists(st.integers(-5, 2**31), min_size=1))
def test_survival_is_the_probability_of_at_least_x(
    pairs: list[tuple[int, float]], ages: list[int]
) -> None:
    """P(d >= x) for arrays and single ages, at the values and next to them."""
    law = make(pairs)
    ages += [age for value in law.values.tolist() for age in (value, value + 1)]
    expected = [law.probabilities[law.values >= age].sum() for age in ages]
    assert law.survival(ages) == pytest.approx(np.array(expected), abs=1e-12)
    assert law.survival(ages[0]) == law.survival(ages)[0]
    assert law.survival(0) == 1
    assert law.survival(2**31) == 0


def test_survival_takes_fractional_ages() -> None:
    """Between two values the survival function is flat, and it counts the value itself."""
    law = Law([2, 5], [0.25, 0.75])
    assert law.survival([1.5, 2, 2.5, 5, 5.5, np.inf]).tolist() == [1, 1, 0.75, 0.75, 0, 0]


def test_survival_refuses_nan() -> None:
    """An age that is no number has no survival probability."""
    with pytest.raises(InputError, match="An age is NaN"):
        Law([1], [1]).survival([1.0, np.nan])


@given(PAIRS)
def test_law_of_a_law_is_the_same_law(pairs: list[tuple[int, float]]) -> None:
    """Making a law again, pickling and copying change no bit: equal, with equal hashes."""
    law = make(pairs)
    copies = [
        Law(law.values, law.probabilities),
        pickle.loads(pickle.dumps(law)),  # noqa: S301 - our own bytes
        copy.deepcopy(law),
    ]
    for other in copies:
        assert other == law
        assert hash(other) == hash(law)
        assert not other.values.flags.writeable


def test_repetitions_are_added_and_zeros_dropped() -> None:
    """A value given twice has the sum of its probabilities; one with probability 0 is not kept."""
    law = Law([7, 3, 7, 1], [0.25, 0.5, 0.25, 0])
    assert law == Law([3, 7], [0.5, 0.5])
    assert law != Law([3, 7], [0.25, 0.75])
    assert law != "law"


def test_sum_is_forgiven_within_a_billionth() -> None:
    """A sum off by less than 1e-9 is made 1."""
    law = Law([0, 1, 2], [0.3333333333, 0.3333333333, 0.3333333333])
    assert law.probabilities.tolist() == [1 / 3] * 3


def test_law_cannot_be_changed() -> None:
    """Neither the fields nor the arrays of a law can be written to, nor those given to it."""
    values = np.array([1, 2])
    law = Law(values, [0.5, 0.5])
    with pytest.raises(FrozenInstanceError):
        law.values = values  # type: ignore[misc]  # that is the point
    with pytest.raises(ValueError, match="read-only"):
        law.values[0] = 5
    values[0] = 0
    assert law.values.tolist() == [1, 2]


def test_law_prints_itself() -> None:
    """A short law shows everything, a long one its extent."""
    assert repr(Law([0, 8], [0.5, 0.5])) == "Law([0, 8], [0.5, 0.5])"
    assert repr(Law(range(10), [0.1] * 10)) == "<Law of 10 delays from 0 to 9, mean 4.5>"
