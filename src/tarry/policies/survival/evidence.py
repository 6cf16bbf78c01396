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
posterior under a Dirichlet process prior of total mass c, which may be 0, is

    h_b ~ Beta(a_b + events_b, r_b + passes_b),     r_b = a_{b+1} + ... + a_{B-1} + a_D

independently for all bins, where a_b is the prior mass in bin b and a_D the mass of "reached D".
Given the bin, the payoff has mean x_b, and it is uncertain by v_b, both from the sums in the bin
(a_b pseudo-answers are spread over the bin). The mean payoff beyond bin b obeys

    R_b = h_b X_b + (1 - h_b) R_{b+1},   R_B = 1

so that its posterior mean and variance follow exactly from one pass backwards over the bins.
"""

import math
from typing import NamedTuple

import numpy as np

from tarry.arrays import ArmEvidence, ArmState, Constant, Floats, IntArray, Ints
from tarry.policies.bins import bin_of, geometric_edges
from tarry.randomness import Random


class SurvivalEvidence(NamedTuple):
    """Events and passes of all arms, arm-major: entry arm * B + b belongs to bin b."""

    max_delay: int
    edges: Constant[Ints]  # e_0 .. e_{B-1}
    events: ArmEvidence[Floats]
    event_sum: ArmEvidence[Floats]  # of the payoffs of the events
    event_squares: ArmEvidence[Floats]  # of their squares
    passes: ArmEvidence[Floats]
    prior: Constant[Floats]  # a_b
    prior_beyond: Constant[Floats]  # r_b
    floor: Constant[Floats]  # e_{b-1} / D for b = 0..B, the least payoff of who has reached bin b
    prior_sum: Constant[Floats]  # a_b times the centre of the bin
    prior_squares: Constant[Floats]  # a_b times the mean square of a payoff spread over the bin
    reached: ArmEvidence[Ints]  # bins with an event or a pass lie below this one
    stale: ArmState[Ints]  # whether evidence came in since `front` was computed
    front: ArmState[Floats]  # five per arm, see refresh

    def book_event(self, arm: int, delay: int) -> None:
        """An answer came back. One with delay D has outlived all bins and is booked as that."""
        if delay >= self.max_delay:
            return
        place = bin_of(self.edges, delay)
        self.reached[arm] = max(self.reached[arm], place + 1)
        place += arm * len(self.edges)
        payoff = delay / self.max_delay
        self.events[place] += 1.0
        self.event_sum[place] += payoff
        self.event_squares[place] += payoff * payoff
        self.stale[arm] = 1

    def book_pass(self, arm: int, edge: int) -> None:
        """A play still out is as old as edge number `edge`: it has outlived that bin."""
        self.passes[arm * len(self.edges) + edge] += 1.0
        self.reached[arm] = max(self.reached[arm], edge + 1)
        self.stale[arm] = 1

    def unbook_pass(self, arm: int, edge: int) -> None:
        """Take back a pass: the answer had come back before, but was told only afterwards."""
        first = arm * len(self.edges)
        self.passes[first + edge] = max(self.passes[first + edge] - 1.0, 0.0)
        last = self.reached[arm] - 1
        while last >= 0 and self.events[first + last] + self.passes[first + last] <= 0.0:
            last -= 1
        self.reached[arm] = last + 1
        self.stale[arm] = 1

    def fade_counts(self, arm: int, keep: float) -> None:
        """Time goes by: of all that is known of an arm the share `keep` is left."""
        for place in range(arm * len(self.edges), (arm + 1) * len(self.edges)):
            self.events[place] *= keep
            self.event_sum[place] *= keep
            self.event_squares[place] *= keep
            self.passes[place] *= keep
        self.stale[arm] = 1

    def known(self, arm: int) -> float:
        """Plays of the arm that are back or were still out after one unit of time."""
        place = arm * len(self.edges)
        return self.events[place] + self.passes[place]

    def refresh(self, arm: int) -> None:
        """Bring the moments of the arm up to date, unless they are.

        With A = a_b + events_b, P = r_b + passes_b, n = A + P and s1, s2 the sums of the payoffs
        in bin b and of their squares (the prior's share included), R_b in terms of R_{b+1} has

            E[R_b]   = (s1 + P E[R_{b+1}]) / n
            E[R_b^2] = (s2 + s1^2 + 2 s1 P E[R_{b+1}] + P (P+1) E[R_{b+1}^2]) / (n (n+1))

        Carried backwards from a known value r of R_{reached-1}, the first is linear in r and the
        second quadratic; `front` keeps the five coefficients. A bin in which nothing ended, nor
        ends by the prior, changes nothing, not even by rounding: if all plays are out and the tail
        is D, the mean payoff is exactly 1.
        """
        if self.stale[arm] == 0:
            return
        self.stale[arm] = 0
        b = self.reached[arm] - 1
        place = arm * len(self.edges) + b
        mean0 = square0 = square1 = 0.0
        mean1 = square2 = 1.0
        while b > 0:
            b -= 1
            place -= 1
            ended = self.prior[b] + self.events[place]
            if ended == 0.0:
                continue
            beyond = self.prior_beyond[b] + self.passes[place]
            first = self.prior_sum[b] + self.event_sum[place]
            second = self.prior_squares[b] + self.event_squares[place]
            total = ended + beyond
            scale = 1.0 / (total * (total + 1.0))
            cross = 2.0 * first * beyond
            again = beyond * (beyond + 1.0)
            square0 = scale * (second + first * first + cross * mean0 + again * square0)
            square1 = scale * (cross * mean1 + again * square1)
            square2 *= scale * again
            mean0 = scale * (total + 1.0) * (first + beyond * mean0)
            mean1 *= scale * (total + 1.0) * beyond
        place = 5 * arm
        self.front[place] = mean0
        self.front[place + 1] = mean1
        self.front[place + 2] = square0
        self.front[place + 3] = square1
        self.front[place + 4] = square2

    def moments_with_tail(self, arm: int, tail: float) -> tuple[float, float]:
        """Mean and mean square of the mean payoff, if it is `tail` beyond what was reached."""
        self.refresh(arm)
        b = self.reached[arm] - 1
        place = arm * len(self.edges) + b
        beyond = self.prior_beyond[b] + self.passes[place]
        first = self.prior_sum[b] + self.event_sum[place]
        second = self.prior_squares[b] + self.event_squares[place]
        total = self.prior[b] + self.events[place] + beyond
        value = (first + beyond * tail) / total
        square = (
            second + first * (first + 2.0 * beyond * tail) + beyond * (beyond + 1.0) * tail * tail
        ) / (total * (total + 1.0))
        return self.front_mean(arm, value), self.front_square(arm, value, square)

    def front_mean(self, arm: int, value: float) -> float:
        """Mean of the mean payoff, where R_{reached-1} has mean `value`."""
        return self.front[5 * arm] + self.front[5 * arm + 1] * value

    def front_square(self, arm: int, value: float, square: float) -> float:
        """Its mean square, where R_{reached-1} has mean `value` and mean square `square`."""
        place = 5 * arm
        return (
            self.front[place + 2] + self.front[place + 3] * value + self.front[place + 4] * square
        )

    def mean_from(self, arm: int, first: int) -> float:
        """E[R_b]: the mean payoff of plays of `arm` that have passed all bins before `first`."""
        mean = 1.0
        for b in range(len(self.edges) - 1, first - 1, -1):
            place = arm * len(self.edges) + b
            beyond = self.prior_beyond[b] + self.passes[place]
            total = self.prior[b] + self.events[place] + beyond
            mean = (self.prior_sum[b] + self.event_sum[place] + beyond * mean) / total
        return mean

    def draw_mean(self, arm: int, wider: float, rng: Random) -> float:
        """A draw of the mean payoff of an arm with `known` plays, nearly, for a prior of mass 0."""
        mean, square = self.draw_moments(arm, wider, rng)
        return draw_beta(mean, square, rng)

    def draw_moments(self, arm: int, wider: float, rng: Random) -> tuple[float, float]:
        """Mean and mean square of the Beta law that `draw_mean` draws from.

        Beyond the oldest age the payoff is taken to be D. The hazard h of the last bin that any
        play has reached is drawn from its posterior, for there it is far from any simple shape.
        Given this, the mean payoff is drawn from the Beta law with the same mean and variance,
        which may be made `wider` (see `widened`). The answers in that bin differ as well: with s^2
        the variance of the payoffs of its A answers, what comes from there has the variance h^2 s^2
        / (A + 1).
        Once plays have reached D nothing is left open and one draw is enough.
        """
        b = self.reached[arm]
        place = arm * len(self.edges) + b - 1
        events = self.events[place]
        passes = self.passes[place]
        if b == len(self.edges) and passes > 0.0:
            mean, square = self.moments_with_tail(arm, 1.0)
        else:
            self.refresh(arm)
            value = 1.0
            spread = 0.0
            if events > 0.0:
                value = self.event_sum[place] / events
                spread = max(self.event_squares[place] / events - value * value, 0.0)
                spread /= events + 1.0
                if passes > 0.0:
                    hazard = rng.beta(events, passes)
                    value = hazard * value + (1.0 - hazard)
                    spread *= hazard * hazard
            mean = self.front_mean(arm, value)
            square = self.front_square(arm, value, value * value + spread)
        if wider > 0.0:
            square = mean * mean + widened(mean, square - mean * mean, self.known(arm), wider)
        return mean, square


def widened(mean: float, variance: float, known: float, wider: float) -> float:
    """The variance of a draw that is to be a little wider than the posterior.

    With n = `known` plays, m = `mean` and V = `variance` it is

        V' = V (1 + wider V / W) up to W,     W = m (1 - m) / (n + 1)

    W being the variance if all payoffs were 0 or 1. Where they are, nothing changes; where they
    nearly are, the draw is as wide as if they were; where they are close to each other, V is a
    small part of W and nothing changes either.
    """
    widest = mean * (1.0 - mean) / (known + 1.0)
    if variance >= widest or widest <= 0.0:  # rounding may leave a variance below 0
        return variance
    return min(variance * (1.0 + wider * variance / widest), widest)


def draw_beta(mean: float, square: float, rng: Random) -> float:
    """A draw from the Beta law with this mean and mean square."""
    variance = square - mean * mean
    if variance <= 1e-14 * mean * mean or mean >= 1.0:
        return mean
    weight = max(mean * (1.0 - mean) / variance - 1.0, 1e-3)
    return rng.beta(settled(mean * weight), settled((1.0 - mean) * weight))


def settled(shape: float) -> float:
    """The whole number next to `shape` if only rounding is between them.

    Where all delays are 0 or D the shapes are counts of plays. The generator takes another way for
    shapes of at most 1, and which way it takes must not hang on the last bit.
    """
    whole = math.floor(shape + 0.5)
    return whole if abs(shape - whole) < 1e-9 * whole else shape


def empty_evidence(
    arms: int, max_delay: int, bins: int, mass: float = 0.0, end: float = 1.0
) -> SurvivalEvidence:
    """No play yet: `bins` bins or fewer, a prior of total `mass`, the share `end` of it on D.

    The rest of the mass is spread evenly over the bins: every order of magnitude is as likely.
    """
    return evidence_in_bins(arms, max_delay, geometric_edges(max_delay, bins), mass, end)


def evidence_in_bins(
    arms: int, max_delay: int, edges: IntArray, mass: float, end: float
) -> SurvivalEvidence:
    """`empty_evidence` with these ends of bins, increasing up to D."""
    size = len(edges)
    low = np.concatenate(([0], edges[:-1])) / max_delay
    high = (edges - 1) / max_delay
    prior = np.full(size, mass * (1.0 - end) / size)
    beyond = mass * end + prior * np.arange(size - 1, -1, -1)
    centre = (low + high) / 2
    spread = (high - low) * (high - low + 2 / max_delay) / 12  # of the whole numbers in the bin
    prior_sum = prior * centre
    prior_squares = prior * (centre**2 + spread)
    return SurvivalEvidence(
        max_delay=max_delay,
        edges=edges,
        events=np.zeros(arms * size),
        event_sum=np.zeros(arms * size),
        event_squares=np.zeros(arms * size),
        passes=np.zeros(arms * size),
        prior=prior,
        prior_beyond=beyond,
        floor=np.concatenate(([0], edges)) / max_delay,
        prior_sum=prior_sum,
        prior_squares=prior_squares,
        reached=np.zeros(arms, np.int64),
        stale=np.zeros(arms, np.int64),
        front=np.zeros(5 * arms),
    )
