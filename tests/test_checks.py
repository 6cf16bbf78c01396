"""Checks of single arguments."""

from typing import Any

import numpy as np
import pytest

from tarry.checks import as_whole, check_payoff, check_positive, check_whole, shortened
from tarry.errors import InputError, PayoffError


@pytest.mark.parametrize(
    ("value", "whole"),
    [(5, 5), (np.int32(5), 5), (np.uint64(2**63), 2**63), (1e6, 10**6), (np.float64(2), 2)],
)
def test_whole_numbers_of_any_type_become_ints(value: Any, whole: int) -> None:
    """Integers of NumPy and floats without a fraction are whole numbers."""
    assert as_whole(value) == whole
    assert type(check_whole("horizon", value, 1)) is int


@pytest.mark.parametrize(
    "value",
    [2.5, float("nan"), float("inf"), "5", None, True, np.True_, [5], np.array([5, 6]), 1j],
)
def test_anything_else_is_not_whole(value: Any) -> None:
    """Fractions, texts, truth values and collections are refused with the value shown."""
    assert as_whole(value) is None
    with pytest.raises(
        InputError, match=r"The horizon is .*; it must be a whole number at least 1"
    ):
        check_whole("horizon", value, 1)


def test_positive_numbers_are_taken() -> None:
    """Any positive finite number is a float, nothing else is."""
    assert check_positive("unit", np.float32(0.5)) == 0.5
    for value in (0, -1, float("nan"), float("inf"), "1", None, True, [1.0]):
        with pytest.raises(InputError, match=r"The unit is .*; it must be a positive number"):
            check_positive("unit", value)


def test_long_values_are_cut() -> None:
    """A message shows at most 60 characters of a value, on one line."""
    assert shortened("a" * 100) == "'" + "a" * 56 + "..."
    assert shortened(np.zeros((2, 2))) == "array([[0., 0.], [0., 0.]])"


def test_limits_belong_to_the_range() -> None:
    """The least and the most are allowed, their neighbours outside are not."""
    assert [check_whole("arm", value, 0, 3) for value in (0, 3)] == [0, 3]
    for value in (-1, 4):
        with pytest.raises(InputError, match=f"The arm is {value}; .* whole number from 0 to 3"):
            check_whole("arm", value, 0, 3)


def test_payoff_says_whether_it_is_reward() -> None:
    """Cost is False, reward is True, and nothing else is a payoff."""
    assert check_payoff("reward") is True
    assert check_payoff("cost") is False
    with pytest.raises(PayoffError, match="The payoff is 'Cost'; it must be 'cost' or 'reward'"):
        check_payoff("Cost")
