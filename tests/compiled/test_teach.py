"""What compiled code knows of NamedTuples, of their methods, and of the functions they call."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from tarry.arrays import FloatArray
from tarry.compiled.machine import compiled
from tarry.compiled.teach import COUNTED, admit
from tests.compiled import helpers


class Measured(NamedTuple):
    """Has a method that measures."""

    values: FloatArray

    def length(self, scale: float) -> float:
        """A method; `Marked` has a field of this name."""
        return scale * len(self.values)

    def at(self, place: int) -> float:
        """Reads where it is told to."""
        return self.values[place]

    def through_modules(self) -> float:
        """Helpers by way of a module, and of a module inside it."""
        return helpers.double(self.values[0]) + helpers.deeper.halve(self.values[1])

    def through_a_comprehension(self) -> float:
        """A helper that is named in code inside the code."""
        return sum([helpers.same(value) for value in self.values])

    def through_itself(self, number: int) -> int:
        """A helper that calls itself, inside one that raises."""
        return helpers.refuse(helpers.factorial(number))


class Weighed(NamedTuple):
    """Has a method of the same name that takes something else."""

    weight: float

    def length(self, first: float, second: float = 1.0) -> float:
        """As `Measured` has it, but of two numbers, of which one may be left out."""
        return self.weight * (first - second)


class Marked(NamedTuple):
    """Has a field with the name of a method of another class."""

    length: FloatArray


MEASURED = Measured(np.array([3.0, 10.0]))
admit(Measured)
admit(Weighed)
admit(Marked)


def run(function: Any, *arguments: Any) -> Any:
    """What the compiled function returns."""
    return compiled(function, cached=False, **COUNTED)(*arguments)


def test_a_field_goes_before_a_method_of_another_class() -> None:
    """Of two tuples, one with a field and one with a method of one name, each has its own."""

    def both(measured: Any, marked: Any) -> float:
        return measured.length(10.0) + marked.length[0]

    assert run(both, MEASURED, Marked(np.array([0.5]))) == 20.5


def test_methods_of_one_name_have_the_parameters_of_their_class() -> None:
    """What a method takes does not depend on what another class, known before, calls so."""

    def both(measured: Any, weighed: Any) -> float:
        swapped = weighed.length(second=2.0, first=3.0)
        return measured.length(scale=10.0) + weighed.length(3.0) + swapped

    assert run(both, MEASURED, Weighed(0.25)) == 20.75


def test_hasattr_tells_the_truth() -> None:
    """Compiled code learns which methods and fields a tuple has, and leaves out what it has not."""

    def known(value: Any) -> int:
        found = 0
        if hasattr(value, "length"):
            found += 1
        if hasattr(value, "at"):
            found += int(value.at(0))
        if hasattr(value, "values"):
            found += 100 * len(value.values)
        return found

    assert run(known, MEASURED) == 204
    assert run(known, Marked(np.zeros(1))) == 1


def test_a_value_may_depend_on_hasattr() -> None:
    """What a tuple may have is read where it is there, and replaced where it is not."""

    def first(value: Any) -> float:
        return value.values[0] if hasattr(value, "values") else -1.0

    assert [run(first, MEASURED), run(first, Marked(np.zeros(1)))] == [3.0, -1.0]


def test_what_hasattr_says_may_be_kept() -> None:
    """It is a truth like any other: it can be passed on, and combined."""

    def known(value: Any) -> int:
        lengths, others = hasattr(value, "length"), hasattr(value, "none")
        both = lengths and not others
        return 10 * lengths + 5 * others + (1 if both else 0)

    assert run(known, MEASURED) == run(known, Marked(np.zeros(1))) == 11


def test_helpers_are_found_through_modules() -> None:
    """A plain function may be reached as module.function, and deeper."""

    def ask(measured: Any) -> float:
        return measured.through_modules() + measured.through_a_comprehension()

    assert run(ask, MEASURED) == 6.0 + 5.0 + 13.0


def test_helpers_may_call_themselves_and_raise() -> None:
    """A recursive helper is called by its address; what is raised keeps its values."""

    def ask(measured: Any, number: int) -> int:
        return measured.through_itself(number)

    assert run(ask, MEASURED, 2) == 2
    with pytest.raises(ValueError, match="too large") as error:
        run(ask, MEASURED, 5)
    assert error.value.args == ("too large", 120)


@pytest.mark.parametrize("place", [2, -3, 10**9])
def test_users_methods_check_their_indices(place: int) -> None:
    """An index outside 0..length - 1, or before -length, is an `IndexError` in a user's code."""

    def ask(measured: Any, place: int) -> float:
        return measured.at(place)

    assert run(ask, MEASURED, -2) == 3.0
    with pytest.raises(IndexError):
        run(ask, MEASURED, place)
