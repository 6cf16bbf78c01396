"""A desk of plays whose ages are reported: no clock moves them.

The driver knows by cursors which plays were told to have reached which age, since by the clock they
do so in the order in which they started. Reported ages have no order. So before a play is booked
here, the cursors are set to what was reported of this one play; time itself brings nothing but that
plays which are over become complete when they are D old.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tarry.live.desk import Desk
from tarry.plays import COMPLETE, FIRST_EDGE, NOBODY, Ages, Plays
from tarry.policies.protocol import outlived

if TYPE_CHECKING:
    from tarry.live.lease import Leases

NEVER = 2**62  # an age that no clock reaches


class LeasedDesk(Desk):
    """As `Desk`, for an agent with a lease."""

    def __init__(self, policy: Any, arms: Sequence[Any], leases: "Leases") -> None:
        super().__init__(policy, arms)
        self._leases = leases

    def use_table(self, plays: Plays) -> None:
        """See `Desk`."""
        super().use_table(plays)
        book, both = self.answer, self.at_once

        def answer(number: int, delay: int, now: int) -> None:
            self._recall(number)
            book(number, delay, now)

        def at_once(number: int, now: int) -> int:
            self.settle(number - 1, now)
            return both(number, now)

        self.answer, self.at_once = answer, at_once

    def settle(self, last: int, now: int) -> None:
        """Plays before the first one that is out become complete when they are D old."""
        whole = self._whole
        whole.reached[COMPLETE] = self.ages.reached[COMPLETE]
        last = min(last, self._leases.before_first_out())
        self.steps.settle(self.heard, self.ledger, self.plays, whole, last, now)
        self.ages.reached[COMPLETE] = whole.reached[COMPLETE]

    def choose(self, number: int, now: int) -> int:
        """See `Desk`."""
        self.settle(number - 1, now)
        return super().choose(number, now)

    def cancel(self, number: int, age: int, booked: int, now: int) -> None:
        """See `Desk`."""
        self._recall(number)
        super().cancel(number, age, booked, now)

    def report(self, number: int, lasted: int, now: int) -> None:
        """Play `number` has lasted so long, more than was reported before, and is still out."""
        first = bisect_right(self._edges, self._leases.age(number))
        end = bisect_right(self._edges, lasted)
        if number >= self.ledger.phase[0]:
            for edge in self._order[first:end]:  # mostly none
                outlived(self.heard, self.plays, number & self._mask, edge, now)

    def unbook(self, number: int) -> None:
        """Play `number` is void: as if it had not been made."""
        row = number & self._mask
        arm, ledger = self.plays.arm[row], self.ledger
        self.plays.arm[row] = NOBODY
        if number >= ledger.phase[0]:
            ledger.plays[arm] -= 1
            ledger.start_sum[arm] -= self.plays.start[row]

    def _use_ages(self, ages: Ages) -> None:
        """Of the cursors, that of complete plays is kept; those of the other ages are for use."""
        self.ages = ages
        edges = [int(ages.edges[edge]) for edge in range(FIRST_EDGE, len(ages.edges))]
        self._edges = sorted(edges)  # those of a user's rule may have any order
        self._order = sorted(range(len(edges)), key=edges.__getitem__)
        self.at_end = _copied(ages, len(ages.edges))
        self._whole = _copied(ages, FIRST_EDGE)
        self.at_ask = _copied(ages, FIRST_EDGE)
        self.at_ask.edges[COMPLETE] = NEVER

    def _recall(self, number: int) -> None:
        """Let the cursors say which ages of this play the rule was told of."""
        reached: Any = self.at_end.reached
        age = self._leases.age(number)
        reached[FIRST_EDGE:] = [number] * len(self._order)
        for edge in self._order[: bisect_right(self._edges, age)]:
            reached[FIRST_EDGE + edge] = number + 1


def _copied(ages: Ages, size: int) -> Ages:
    """The first ages, apart from the others; lists stay lists."""
    return Ages(_head(ages.edges, size), _head(ages.reached, size), ages.most)


def _head(column: Any, size: int) -> Any:
    return column[:size].copy()  # of a list as of an array
