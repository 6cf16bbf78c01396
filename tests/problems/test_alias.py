"""Alias cells hold exactly the law they are made from."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarry.arrays import FloatArray, IntArray
from tarry.problems import Law
from tarry.problems.alias import alias_cells, integer_weights

FULL = 2**52


def law_of_cells(cells: IntArray) -> dict[int, Fraction]:
    """The law that a uniform cell and a 52-bit coin realise, in exact arithmetic."""
    law: dict[int, Fraction] = {}
    for threshold, pair in cells.tolist():
        for value, weight in ((pair & 0xFFFFFFFF, threshold), (pair >> 32, FULL - threshold)):
            law[value] = law.get(value, Fraction(0)) + Fraction(weight, FULL * len(cells))
    return law


def check_cells(values: IntArray, probabilities: FloatArray) -> None:
    """The cells realise the rounded law exactly, and the rounding is within 2**-51."""
    cells = alias_cells(values, probabilities)
    assert cells[:, 0].min() >= 0
    assert cells[:, 0].max() <= FULL
    realised = law_of_cells(cells)
    weights, bits = integer_weights(probabilities)
    total = len(values) << bits
    for value, weight, wanted in zip(
        values.tolist(), weights.tolist(), probabilities.tolist(), strict=True
    ):
        share = realised.pop(value, Fraction(0))
        assert share == Fraction(weight, total)
        assert abs(share - Fraction(wanted)) <= Fraction(1, 2**51)
    assert not any(realised.values())


WEIGHTS = st.lists(
    st.one_of(st.floats(1e-300, 1), st.sampled_from([1e-18, 1.0, 2.0**-52])),
    min_size=1,
    max_size=40,
)


@given(WEIGHTS, st.integers(0, 1000))
def test_cells_realise_the_law(weights: list[float], gap: int) -> None:
    """Any law, also with probabilities of very different size, is kept to 2**-51."""
    shares = np.array(weights) / np.sum(weights)
    law = Law(np.arange(len(weights)) * (gap + 1), shares)
    check_cells(law.values, law.probabilities)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 1000, 2048, 2049, 5000])
def test_cells_realise_equal_and_skewed_laws_of_any_size(size: int) -> None:
    """Sizes around powers of two, where the precision of the weights changes, are right too."""
    ramp = np.arange(1.0, size + 1)
    for weights in (np.ones(size), ramp, ramp[::-1], 1 / ramp**3):
        law = Law(np.arange(size), weights / weights.sum())
        check_cells(law.values, law.probabilities)


def test_equal_probabilities_need_no_alias() -> None:
    """With 2**k equally likely values every cell is full and returns its own value."""
    cells = alias_cells(np.arange(8), np.full(8, 0.125))
    assert (cells[:, 0] == FULL).all()
