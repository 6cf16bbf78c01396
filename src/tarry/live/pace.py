"""The peak play density of an arm, for bounds that count how many plays are still out.

L3 of the paper takes an arm to be played once per sweep. Live, play times are irregular, and what
takes the place of the sweep is the least s such that, for each k, the last k plays of the arm took
at least (k - 1) s. With t_1 > t_2 > ... the times of the arm's plays in the last D,

    spacing = floor( min_k (t_1 - t_k) / (k - 1) )

This is the supporting line with c = 1, measured from the latest play instead of from now, which
can only make it smaller and the bound safer. For regular sweeps it is the size of the sweep.

The minimum is the slope of the last piece of the upper hull of the points (number of the play,
time). A hull forgets nothing, so several are kept, each begun D / SLACK after the one before; the
oldest is given up as soon as the next one reaches back far enough. A play costs O(1), always.
"""

from itertools import pairwise

SLACK = 4  # plays up to D / SLACK too old may count as well, which is safe and saves time

Hull = list[tuple[int, int]]


class Pace:
    """Play times of one arm."""

    def __init__(self, max_delay: int) -> None:
        self.max_delay = max_delay
        self.count = 0
        self.hulls: list[Hull] = []  # the oldest first
        self.begun: list[int] = []  # when each of them began

    def add(self, time: int) -> int:
        """A play at `time`; returns the spacing, at least 1."""
        self.count += 1
        if not self.begun or time - self.begun[-1] >= self.max_delay / SLACK:
            self.hulls.append([])
            self.begun.append(time)
        while len(self.begun) > 1 and self._superfluous(time):
            del self.begun[0], self.hulls[0]
        for hull in self.hulls:
            push(hull, self.count, time)
        oldest = self.hulls[0]
        if len(oldest) == 1:
            return self.max_delay
        (number, earlier), (latest, now) = oldest[-2:]
        return max((now - earlier) // (latest - number), 1)

    def _superfluous(self, time: int) -> bool:
        """Whether no play of the last D is in the oldest hull alone."""
        enough = self.begun[1] <= time - self.max_delay
        return enough or SLACK * (time - self.begun[0]) >= (SLACK + 1) * self.max_delay

    def numbers(self) -> list[int]:
        """The state as plain numbers."""
        flat = [self.count, len(self.hulls)]
        for begun, hull in zip(self.begun, self.hulls, strict=True):
            flat += [begun, len(hull), *(x for point in hull for x in point)]
        return flat

    def take(self, flat: list[int]) -> None:
        """Go on from numbers that `numbers` gave."""
        left = iter(flat)
        self.count = next(left)
        for _ in range(next(left)):
            self.begun.append(next(left))
            self.hulls.append([(next(left), next(left)) for _ in range(next(left))])
        if any(a > b for a, b in pairwise(self.begun)):
            raise ValueError("hulls out of order")


def push(hull: Hull, number: int, time: int) -> None:
    """Add the latest play to a hull."""
    while len(hull) > 1:
        (a, at_a), (b, at_b) = hull[-2:]
        if (at_b - at_a) * (number - b) >= (time - at_b) * (b - a):
            break
        hull.pop()
    hull.append((number, time))
