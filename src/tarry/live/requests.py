"""The contexts of an agent's plays: as facts, and as numbers in the table of plays.

A context is kept as it was given, as a line of JSON with the start of its play. The numbers that a
rule sees follow from it and from the agent's features.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from tarry.arrays import IntArray
from tarry.live.features import Features
from tarry.live.refusals import no_features
from tarry.plays import Plays


class Requests:
    """The contexts of the plays that are remembered, and of the one that is decided on."""

    def __init__(self, features: Features | None) -> None:
        self.features = features
        self.texts: dict[int, str] = {}  # by number of the play; "" is not kept
        self.text = ""  # of the play that is decided on
        self.numbers: list[float] = []

    def expect(self, text: str, numbers: list[float] | None = None) -> None:
        """The next play has this context; its numbers, if somebody has made them already."""
        self.text = text
        if self.features is not None:
            made = numbers or self.features.numbers(json.loads(text) if text else {})[0]
            self.numbers = made

    def show(self, plays: Plays, number: int, numbers: list[float] | None = None) -> None:
        """Write the numbers into the row of play `number`."""
        row = number & (len(plays.number) - 1)
        for column, x in enumerate(self.numbers if numbers is None else numbers):
            plays.context[row, column] = x

    def show_again(self, plays: Plays, number: int) -> None:
        """Write the numbers of a play of the past into its row."""
        if self.features is not None:
            text = self.texts.get(number)
            self.show(plays, number, self.features.numbers(json.loads(text) if text else {})[0])

    def keep(self, number: int) -> None:
        """The play was made, and has this number."""
        if self.text:
            self.texts[number] = self.text

    def forget(self, oldest: int) -> None:
        """Let go of the contexts of plays before this one."""
        for number in list(self.texts):
            if number >= oldest:
                break
            del self.texts[number]

    def column(self, first: int, end: int) -> IntArray:
        """The texts of plays `first` to `end` - 1."""
        found = np.empty(max(end - first, 0), object)
        found[:] = [self.texts.get(number, "") for number in range(first, end)]
        return found

    def listed(self, first: int, end: int) -> list[str]:
        """`column` for a store: an empty list where no play has a context."""
        return [self.texts.get(number, "") for number in range(first, end)] if self.texts else []


def taken_in(features: Features | None, context: Any, odd: Counter[str]) -> tuple[str, list[float]]:
    """A context as a line for the store and as numbers for the rule; what it lacks is counted."""
    if features is None:
        raise no_features(context)
    told = features.checked(context)
    numbers, missing, unknown = features.numbers(told)
    odd["features_missing"] += missing
    odd["features_unknown"] += unknown
    return json.dumps(told, separators=(",", ":")) if told else "", numbers


def by_feature(features: Features | None, texts: Sequence[str]) -> dict[str, list[Any]]:
    """The values of some contexts, a list for each feature; None where one was not given."""
    if features is None:
        return {}
    contexts = [json.loads(text) if text else {} for text in texts]
    return {name: [context.get(name) for context in contexts] for name in features.kinds}
