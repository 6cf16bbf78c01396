"""The peak play density of an arm, for bounds that count how many plays are still out.

L3 of the paper takes an arm to be played once per sweep. Live, play times are irregular, and what
takes the place of the sweep is the least s such that, for each k, the last k plays of the arm took
at least (k - 1) s. With t_1 > t_2 > ... the times of the arm's plays in the last D,

    spacing = floor( min_k (t_1 - t_k) / (k - 1) )

This is the supporting line with c = 1, measured from the latest play instead of from now, which
can only make it smaller and the bound safer. For regular sweeps it is the size of the sweep.
"""

from collections import deque

SLACK = 4  # plays up to D / SLACK too old may count as well, which is safe and saves time


class Pace:
    """Play times of one arm as the upper hull of the points (number of the play, time)."""

    def __init__(self, max_delay: int) -> None:
        self.max_delay = max_delay
        self.count = 0
        self.times: deque[int] = deque()
        self.hull: list[tuple[int, int]] = []

    def add(self, time: int) -> int:
        """A play at `time`; returns the spacing, at least 1."""
        self.count += 1
        self.times.append(time)
        if self.hull and self.hull[0][1] < time - self.max_delay - self.max_delay // SLACK:
            self._rebuild(time)
        else:
            self._push(self.count, time)
        if len(self.hull) == 1:
            return self.max_delay
        (number, earlier), (latest, now) = self.hull[-2:]
        return max((now - earlier) // (latest - number), 1)

    def _push(self, number: int, time: int) -> None:
        hull = self.hull
        while len(hull) > 1:
            (a, at_a), (b, at_b) = hull[-2:]
            if (at_b - at_a) * (number - b) >= (time - at_b) * (b - a):
                break
            hull.pop()
        hull.append((number, time))

    def _rebuild(self, now: int) -> None:
        """Start again from the plays of the last D."""
        while self.times[0] <= now - self.max_delay:
            self.times.popleft()
        self.hull = []
        for number, time in enumerate(self.times, self.count - len(self.times) + 1):
            self._push(number, time)
