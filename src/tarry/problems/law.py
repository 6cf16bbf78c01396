"""The delay law of one arm: whole numbers with probabilities, and nothing estimated."""

from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt

from tarry.arrays import FloatArray, IntArray
from tarry.errors import InputError
from tarry.problems.delays import LARGEST_DELAY, check_delays, check_numbers

SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Law:
    """The law of an integer delay d: P(d = values[j]) = probabilities[j].

    Args:
        values: whole numbers >= 0, in any order, repetitions allowed.
        probabilities: as many numbers >= 0 that sum to 1 within 1e-9; they are then made to
            sum to 1 as closely as floating point allows.

    Afterwards `values` is sorted and without repetitions, every probability is positive, and both
    arrays are read-only. Laws with the same content are equal and have the same hash.

    >>> law = Law([0, 5000], [0.25, 0.75])
    >>> law.mean, float(law.survival(1))
    (3750.0, 0.75)
    """

    values: IntArray
    probabilities: FloatArray

    def __init__(self, values: npt.ArrayLike, probabilities: npt.ArrayLike) -> None:
        delays, shares = normalised(values, probabilities)
        delays.setflags(write=False)
        shares.setflags(write=False)
        object.__setattr__(self, "values", delays)
        object.__setattr__(self, "probabilities", shares)

    @cached_property
    def mean(self) -> float:
        """E[d], the mean delay, d(i) in the paper; not divided by D."""
        return fsum((self.values * self.probabilities).tolist())

    @cached_property
    def variance(self) -> float:
        """E[(d - mean)^2]."""
        return fsum((self.probabilities * (self.values - self.mean) ** 2).tolist())

    @cached_property
    def _tails(self) -> FloatArray:
        """P(d >= values[j]) for every j, then 0."""
        tails = np.zeros(len(self.values) + 1)
        tails[:-1] = np.minimum(np.cumsum(self.probabilities[::-1])[::-1], 1.0)
        tails[0] = 1.0
        return tails

    def survival(self, x: Any) -> Any:
        """P(d >= x) for a number or an array: a play is still missing at age x iff d >= x."""
        ages = check_numbers(x, "The ages")
        if np.isnan(ages).any():
            raise InputError("An age is NaN; ages must be numbers.")
        return self._tails[np.searchsorted(self.values, ages, "left")]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Law):
            return NotImplemented
        return np.array_equal(self.values, other.values) and np.array_equal(
            self.probabilities, other.probabilities
        )

    def __hash__(self) -> int:
        return hash((self.values.tobytes(), self.probabilities.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Law, (self.values, self.probabilities)

    def __repr__(self) -> str:
        count = len(self.values)
        if count > 4:
            low, high = self.values[0], self.values[-1]
            return f"<Law of {count} delays from {low} to {high}, mean {self.mean:.6g}>"
        return f"Law({self.values.tolist()}, {self.probabilities.tolist()})"


def normalised(values: Any, probabilities: Any) -> tuple[IntArray, FloatArray]:
    """Sorted distinct values and their positive probabilities; repetitions are added up."""
    delays = check_delays(values, LARGEST_DELAY)
    shares = check_numbers(probabilities, "The probabilities").astype(np.float64)
    if delays.ndim != 1 or delays.shape != shares.shape:
        raise InputError(
            f"Delays of shape {delays.shape} were given probabilities of shape {shares.shape}; "
            "both must be lists of one length."
        )
    total = check_probabilities(shares)
    if len(delays) > 1 and not (delays[1:] > delays[:-1]).all():
        delays, inverse = np.unique(delays, return_inverse=True)
        shares = np.bincount(inverse, weights=shares)
        total = fsum(shares.tolist())
    positive = shares > 0
    delays, shares = delays[positive], shares[positive]
    # One division leaves the sum within 2**-53 of 1, so a second pass changes nothing.
    if abs(total - 1) > 2.0**-52:
        shares = shares / total
    return delays, shares


def check_probabilities(shares: FloatArray) -> float:
    """The sum; negative numbers, NaN, and a sum that is not 1 are refused (that of none is 0)."""
    bad = ~(shares >= 0)
    if bad.any():
        raise InputError(
            f"A probability is {shares[bad][0].item()!r}; each must be a number from 0 to 1."
        )
    total = fsum(shares.tolist()) if np.isfinite(shares).all() else np.inf
    if not abs(total - 1) <= SUM_TOLERANCE:
        raise InputError(
            f"The probabilities sum to {total!r}; they must sum to 1 within {SUM_TOLERANCE}."
        )
    return total
