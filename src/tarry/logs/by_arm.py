"""Answers by the name of an arm, which say what names there are."""

from typing import TypeVar

from tarry.errors import UnknownArmError

Value = TypeVar("Value")


class ByArm(dict[str, Value]):
    """A value for each arm; a name that is not there is refused in a sentence."""

    def __missing__(self, name: object) -> Value:
        """The refusal, which is a KeyError."""
        raise UnknownArmError.among(name, self)
