"""The contexts of an agent's plays: as facts, and as numbers in the table of plays.

A context is kept as it was given, as a line of JSON with the start of its play. The numbers that a
rule sees follow from it and from the agent's features.

Who asks may give the request a key of its own, to ask again without playing twice. It is kept in
the same fact, before the context, so that it is there if and only if the play is:

    #key
    {"size":3.1}
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tarry.arrays import IntArray
from tarry.checks import shortened
from tarry.errors import ConflictError, InputError
from tarry.live.features import Features
from tarry.live.refusals import no_features
from tarry.plays import Plays

LONGEST_KEY = 200
MARK = "#"


class Requests:
    """The contexts of the plays that are remembered, and of the one that is decided on."""

    def __init__(self, features: Features | None) -> None:
        self.features = features
        self.texts: dict[int, str] = {}  # by number of the play; "" is not kept
        self.keys: dict[str, int] = {}  # numbers of plays by their keys, the earliest first
        self.text = ""  # of the play that is decided on
        self.key = ""
        self.numbers: list[float] = []

    def expect(self, name: str, numbers: list[float] | None = None) -> None:
        """The next play has this context and key; its numbers, if somebody has made them."""
        self.key, text = parted(name)
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
        if self.key:
            self.keys[self.key] = number
            self.key = ""

    def known(self, name: str) -> int:
        """The number of the play that has the key of this request; 0 if there is none."""
        key, text = parted(name)
        number = self.keys.get(key, 0)
        if number and not _same(self.texts.get(number, ""), text):
            raise ConflictError(
                f"The key {key!r} was used before, with another context; use a key for one request."
            )
        return number

    def forget(self, oldest: int) -> None:
        """Let go of the contexts of plays before this one."""
        for number in list(self.texts):
            if number >= oldest:
                break
            del self.texts[number]
        while self.keys and self.keys[key := next(iter(self.keys))] < oldest:
            del self.keys[key]

    def take_keys(self, keys: str, numbers: Iterable[int]) -> None:
        """Bring back the keys that a snapshot has."""
        self.keys = dict(zip(keys.splitlines(), numbers, strict=True))

    def column(self, first: int, end: int) -> IntArray:
        """The texts of plays `first` to `end` - 1."""
        found = np.empty(max(end - first, 0), object)
        found[:] = [self.texts.get(number, "") for number in range(first, end)]
        return found

    def listed(self, first: int, end: int) -> list[str]:
        """`column` for a store: an empty list where no play has a context."""
        return [self.texts.get(number, "") for number in range(first, end)] if self.texts else []


def taken_in(
    features: Features | None, context: Any, odd: Counter[str], key: str | None = None
) -> tuple[str, list[float]]:
    """A request as text for the store and as numbers for the rule; what it lacks is counted."""
    if features is None:
        if context is not None:
            raise no_features(context)
        return with_key("", key), []
    told = features.checked(context)
    numbers, missing, unknown = features.numbers(told)
    odd["features_missing"] += missing
    odd["features_unknown"] += unknown
    text = json.dumps(told, separators=(",", ":")) if told else ""
    return with_key(text, key), numbers


def numbers_of(features: Features | None, context: Any) -> list[float]:
    """The numbers of a context that nobody asks for."""
    if features is None:
        raise no_features(context)
    return features.numbers(features.checked(context))[0]


def with_key(text: str, key: Any) -> str:
    """What the start of a play is kept with: its context, and its key if it has one."""
    if key is None:
        return text
    check_key(key)
    return f"{MARK}{key}\n{text}"


def check_key(key: Any) -> None:
    """Refuse what cannot name a request."""
    good = isinstance(key, str) and 0 < len(key) <= LONGEST_KEY
    if not good or not key.isascii() or not key.isprintable():
        raise InputError(
            f"The key is {shortened(key)}; give 1 to {LONGEST_KEY} printable ASCII characters."
        )


def parted(name: str) -> tuple[str, str]:
    """The key and the context of what the start of a play is kept with."""
    if not name.startswith(MARK):
        return "", name
    key, _, text = name[len(MARK) :].partition("\n")
    return key, text


def by_feature(features: Features | None, texts: Sequence[str]) -> dict[str, list[Any]]:
    """The values of some contexts, a list for each feature; None where one was not given."""
    if features is None:
        return {}
    contexts = [json.loads(text) if text else {} for text in texts]
    return {name: [context.get(name) for context in contexts] for name in features.kinds}


def _same(one: str, other: str) -> bool:
    """Whether two texts are of the same context, in whatever order its values were given."""
    return one == other or json.loads(one or "{}") == json.loads(other or "{}")
