"""Ids of plays: whole numbers that carry the identity of the agent that gave them out.

    id = identity * 2^40 + number

The id of another agent is thus unknown here. An agent that goes on as another one (a forked copy,
or one whose journal is from before there were identities) has several, each from some number on.
"""

import operator
import secrets
from collections.abc import Sequence
from typing import Any

from tarry.live.refusals import unknown_play

SHIFT = 40
MOST = 2**23  # so that an id fits into 63 bits
STEP = 15  # 2^40 leaves 1 modulo 3 and 5: ids taken modulo 2, 3, 5 or 10 go on as the numbers do


def new_identity() -> int:
    """One that hardly any other agent has; every so many plays are as many ids."""
    return STEP * (secrets.randbelow(MOST // STEP - 1) + 1)


def as_id(value: Any) -> int | None:
    """`value` as an id; None if it is no whole number, or a float, which cannot hold every id."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


class Ids:
    """The identities of an agent: (identity, first number) in order."""

    def __init__(self, pieces: Sequence[Sequence[int]]) -> None:
        self.pieces = [(identity, first) for identity, first in pieces]
        self._take_last()

    def begin(self, identity: int, first: int) -> None:
        """From play number `first` on the agent is another one."""
        self.pieces.append((identity, first))
        self._take_last()

    def id_of(self, number: int) -> int:
        """The id of the latest play, or of one since the identity is as it is."""
        return self.base + number

    def known_as(self, number: int) -> int:
        """The id of any play."""
        identity = next(mine for mine, first in reversed(self.pieces) if number >= first)
        return (identity << SHIFT) + number

    def number_of(self, whole: int, asked: int) -> int:
        """The number of the play with this id, if it is one of the `asked` plays of this agent."""
        identity, number = whole >> SHIFT, whole & ((1 << SHIFT) - 1)
        end = asked + 1
        for mine, first in reversed(self.pieces):
            if identity == mine and first <= number < end:
                return number
            end = first
        raise unknown_play(whole, asked)

    def _take_last(self) -> None:
        identity, self.first = self.pieces[-1]  # the first play of the present identity
        self.base = identity << SHIFT  # what its ids have more than the numbers of their plays
