"""What an arm's plays tell about its survival curve, the ones still out included.

A play that is still out is a right-censored observation: nobody knows its delay, but everybody
knows that it exceeds the play's age. The delays 0..D are cut into bins at ages that grow
geometrically, 1 = e_0 < e_1 < ... < e_{B-1} = D:

    bin 0 = {0},   bin b = {e_{b-1}, ..., e_b - 1},   and "reached D" after the last bin

For each arm and bin we count the *events* (an answer came back and its delay fell into the bin,
with the sums of those payoffs x = d/D and of their squares) and the *passes* (a play is known to
have outlived the bin: its age reached e_b). A play gives a pass to every bin its age has crossed
while it is still out, so learning starts long before anything comes back.

The chance to return within bin b, having outlived the bins before it, is the hazard h_b. Its
posterior under a Dirichlet process prior of total mass c is

    h_b ~ Beta(a_b + events_b, r_b + passes_b),     r_b = a_{b+1} + ... + a_{B-1} + a_D

independently for all bins, where a_b is the prior mass in bin b and a_D the mass of "reached D".
Given the bin, the payoff has mean x_b, and it is uncertain by v_b, both from the sums in the bin
(a_b pseudo-answers are spread evenly over the bin). The mean payoff beyond bin b obeys

    R_b = h_b X_b + (1 - h_b) R_{b+1},   R_B = 1

so that its posterior mean and variance follow exactly from one pass backwards over the bins.
"""

from typing import NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray


class SurvivalEvidence(NamedTuple):
    """Events and passes of all arms, arm-major: entry arm * B + b belongs to bin b."""

    max_delay: int
    edges: IntArray  # e_0 .. e_{B-1}
    events: FloatArray
    event_sum: FloatArray  # of the payoffs of the events
    event_squares: FloatArray  # of their squares
    passes: FloatArray
    prior: FloatArray  # a_b
    prior_beyond: FloatArray  # r_b
    prior_sum: FloatArray  # a_b times the centre of the bin
    prior_squares: FloatArray  # a_b times the mean square of a payoff spread evenly over the bin
    tail_mean: FloatArray  # E[R_b] for b = 0..B where nothing is known of bin b and beyond
    tail_square: FloatArray  # E[R_b^2], likewise
    reached: IntArray  # per arm: bins with an event or a pass lie below this one
    stale: IntArray  # per arm: whether evidence came in since `mean` was computed
    mean: FloatArray  # per arm: posterior mean of the mean payoff
    variance: FloatArray  # per arm: its posterior variance
    answers: FloatArray  # per arm: events and plays that reached D

    def bin_of(self, delay: int) -> int:
        """The bin of a delay below D: the number of edges that are not above it."""
        low = 0
        high = len(self.edges)
        while low < high:
            middle = (low + high) // 2
            if self.edges[middle] <= delay:
                low = middle + 1
            else:
                high = middle
        return low

    def book_event(self, arm: int, delay: int) -> None:
        """An answer came back. One with delay D has outlived all bins and is booked as that."""
        if delay >= self.max_delay:
            return
        place = self.bin_of(delay)
        self.reached[arm] = max(self.reached[arm], place + 1)
        place += arm * len(self.edges)
        payoff = delay / self.max_delay
        self.events[place] += 1.0
        self.event_sum[place] += payoff
        self.event_squares[place] += payoff * payoff
        self.answers[arm] += 1.0
        self.stale[arm] = 1

    def book_pass(self, arm: int, edge: int) -> None:
        """A play still out is as old as edge number `edge`: it has outlived that bin."""
        self.passes[arm * len(self.edges) + edge] += 1.0
        if edge == len(self.edges) - 1:
            self.answers[arm] += 1.0
        self.reached[arm] = max(self.reached[arm], edge + 1)
        self.stale[arm] = 1

    def refresh(self, arm: int) -> None:
        """Bring `mean` and `variance` of the arm up to date, unless they are.

        With A = a_b + events_b, P = r_b + passes_b, n = A + P and s1, s2 the sums of the payoffs
        in the bin and of their squares (the prior's share included):

            E[h] = A/n,  E[h X] = s1/n,  E[h^2 X^2] = (s1^2 + s2) / (n (n+1)),  and so on
        """
        if self.stale[arm] == 0:
            return
        self.stale[arm] = 0
        b = self.reached[arm]
        mean = self.tail_mean[b]
        square = self.tail_square[b]
        place = arm * len(self.edges) + b
        while b > 0:
            b -= 1
            place -= 1
            outlived = self.prior_beyond[b] + self.passes[place]
            first = self.prior_sum[b] + self.event_sum[place]
            second = self.prior_squares[b] + self.event_squares[place]
            total = self.prior[b] + self.events[place] + outlived
            scale = 1.0 / (total * (total + 1.0))
            square = scale * (
                second
                + first * (first + 2.0 * outlived * mean)
                + outlived * (outlived + 1.0) * square
            )
            mean = scale * (total + 1.0) * (first + outlived * mean)
        self.mean[arm] = mean
        self.variance[arm] = max(square - mean * mean, 0.0)

    def draw_exactly(self, arm: int, rng: np.random.Generator) -> float:
        """One draw of the arm's mean payoff from the posterior, hazard by hazard."""
        alive = 1.0
        payoff = 0.0
        place = arm * len(self.edges)
        for b in range(len(self.edges)):
            ended = self.prior[b] + self.events[place]
            hazard = rng.beta(ended, self.prior_beyond[b] + self.passes[place])
            payoff += alive * hazard * (self.prior_sum[b] + self.event_sum[place]) / ended
            alive *= 1.0 - hazard
            place += 1
        return payoff + alive


def empty_evidence(
    arms: int, max_delay: int, bins: int, mass: float, end: float
) -> SurvivalEvidence:
    """No play yet: `bins` bins, a prior of total `mass`, of which the share `end` lies on D.

    The rest of the mass is spread evenly over the bins: every order of magnitude is as likely.
    """
    edges = np.unique(np.rint(np.geomspace(1, max_delay, bins)).astype(np.int64))
    size = len(edges)
    low = np.concatenate(([0], edges[:-1])) / max_delay
    high = (edges - 1) / max_delay
    prior = np.full(size, mass * (1.0 - end) / size)
    beyond = mass * end + prior * np.arange(size - 1, -1, -1)
    centre = (low + high) / 2
    spread = (high - low) * (high - low + 2 / max_delay) / 12  # of the whole numbers in the bin
    prior_sum = prior * centre
    prior_squares = prior * (centre**2 + spread)
    tail_mean = np.ones(size + 1)
    tail_square = np.ones(size + 1)
    for b in range(size - 1, -1, -1):
        total = prior[b] + beyond[b]
        scale = 1.0 / (total * (total + 1.0))
        tail_square[b] = scale * (
            prior_squares[b]
            + prior_sum[b] * (prior_sum[b] + 2.0 * beyond[b] * tail_mean[b + 1])
            + beyond[b] * (beyond[b] + 1.0) * tail_square[b + 1]
        )
        tail_mean[b] = (prior_sum[b] + beyond[b] * tail_mean[b + 1]) / total
    return SurvivalEvidence(
        max_delay=max_delay,
        edges=edges,
        events=np.zeros(arms * size),
        event_sum=np.zeros(arms * size),
        event_squares=np.zeros(arms * size),
        passes=np.zeros(arms * size),
        prior=prior,
        prior_beyond=beyond,
        prior_sum=prior_sum,
        prior_squares=prior_squares,
        tail_mean=tail_mean,
        tail_square=tail_square,
        reached=np.zeros(arms, np.int64),
        stale=np.zeros(arms, np.int64),
        mean=np.full(arms, tail_mean[0]),
        variance=np.full(arms, tail_square[0] - tail_mean[0] ** 2),
        answers=np.zeros(arms),
    )
