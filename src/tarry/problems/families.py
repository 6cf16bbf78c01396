"""Families of random problems: the two of the paper, and four that look like real systems.

Every family is a function (arms, max_delay, ..., seed) with sensible defaults. The parameters of an
arm are a pure function of the seed and the arm's number: a problem with more arms begins with the
same arms, and the same call gives the same problem on every machine and with every NumPy version.

In the realistic families the parameters have a unit, and `max_delay` is where delays are cut off,
such as a timeout: it does not change the distributions below it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tarry.arrays import FloatArray
from tarry.checks import check_positive, check_whole
from tarry.errors import InputError
from tarry.problems.delays import check_max_delay, check_numbers
from tarry.problems.law import Law
from tarry.problems.problem import Problem
from tarry.problems.shapes import (
    log_normal_mixture_law,
    shifted_gamma_law,
    truncated_normal_law,
    weibull_law,
    weibull_scale,
)
from tarry.problems.world import uniforms


class Draw(NamedTuple):
    """The checked arguments of a family, and the random parameters of its arms."""

    family: str
    arms: int
    max_delay: int
    seed: int
    stream: int  # apart for each family, so that their arms are not related

    @classmethod
    def checked(cls, family: str, arms: Any, max_delay: Any, seed: Any, stream: int) -> "Draw":
        """Refuse what is not allowed."""
        count = check_whole("number of arms", arms, 1)
        return cls(family, count, check_max_delay(max_delay), check_whole("seed", seed, 0), stream)

    def uniform(self, parameter: int, low: float, high: float) -> FloatArray:
        """One number per arm, uniform in (low, high)."""
        share = uniforms(self.seed, 16 * self.stream + parameter, self.arms)
        return low + (high - low) * share

    def log_uniform(self, parameter: int, low: float, high: float) -> FloatArray:
        """One number per arm whose logarithm is uniform: as many in 1..10 as in 10..100."""
        return np.exp(self.uniform(parameter, np.log(low), np.log(high)))

    def problem(self, laws: Iterable[Law], *settings: str) -> Problem:
        """The problem with these laws, labelled with the call that made it."""
        given = ", ".join([f"arms={self.arms}", f"max_delay={self.max_delay}", *settings])
        return Problem(
            tuple(laws),
            self.max_delay,
            label=f"{self.family}({given}, seed={self.seed})",
            family=f"{self.family}({given})",
        )


def truncated_normal(
    arms: int = 30, max_delay: int = 5000, mean_scale: float = 0.2, seed: int = 0
) -> Problem:
    """The paper's first family: normal delays conditioned on [0, D], rounded half to even.

    The mean of each arm is drawn from an exponential distribution with mean `mean_scale` * D, its
    standard deviation uniformly from [0, D], both before the conditioning. The paper does not tell
    the scale; with 0.2 most arms have a short delay and few a long one, as it asks.
    """
    draw = Draw.checked("truncated_normal", arms, max_delay, seed, stream=0)
    scale = check_positive("mean_scale", mean_scale)
    means = -np.log(draw.uniform(0, 0, 1)) * scale * draw.max_delay
    deviations = draw.uniform(1, 0, draw.max_delay)
    laws = [
        truncated_normal_law(mean, deviation, draw.max_delay)
        for mean, deviation in pairs(means, deviations)
    ]
    return draw.problem(laws, f"mean_scale={scale:g}")


def bernoulli(
    arms: int | None = None,
    max_delay: int = 5000,
    seed: int = 0,
    *,
    probabilities: Sequence[float] | None = None,
) -> Problem:
    """The paper's second family: the delay of arm i is 0 with probability p(i), otherwise D.

    Args:
        arms: number of arms, by default 30, or as many as `probabilities`.
        max_delay: D.
        seed: of the p(i), which are uniform in [0, 1].
        probabilities: the p(i) themselves instead.
    """
    if probabilities is None:
        draw = Draw.checked("bernoulli", 30 if arms is None else arms, max_delay, seed, stream=1)
        zeros = draw.uniform(0, 0, 1)
        return draw.problem(two_point_laws(zeros, draw.max_delay))
    zeros = check_numbers(probabilities, "The probabilities")
    count = int(zeros.size) if arms is None else check_whole("number of arms", arms, 1)
    if zeros.shape != (count,):
        raise InputError(f"{count} arms were given {zeros.size} probabilities; each needs one.")
    most = check_max_delay(max_delay)
    label = f"bernoulli(arms={count}, max_delay={most}, probabilities=...)"
    return Problem(two_point_laws(zeros, most), most, label=label)


def two_point_laws(zeros: FloatArray, most: int) -> tuple[Law, ...]:
    """For each p the law of 0 with probability p and D otherwise."""
    bad = ~((zeros >= 0) & (zeros <= 1))
    if bad.any():
        value = zeros[bad].tolist()[0]
        raise InputError(f"A probability is {value!r}; each must be a number from 0 to 1.")
    return tuple(Law([0, most], [zero, 1 - zero]) for zero in zeros.tolist())


def cdn(arms: int = 10, max_delay: int = 2000, seed: int = 0) -> Problem:
    """Round trips to the edges of a content network, in milliseconds, with a timeout of 2 s.

    A fixed path of 5 to 120 ms (log-uniform over the arms) plus queueing that is gamma distributed
    with shape 0.8 to 3 and mean 2 to 80 ms (log-uniform).
    """
    draw = Draw.checked("cdn", arms, max_delay, seed, stream=2)
    paths = draw.log_uniform(0, 5, 120)
    shapes = draw.uniform(1, 0.8, 3)
    queueing = draw.log_uniform(2, 2, 80)
    return draw.problem(
        shifted_gamma_law(path, shape, mean / shape, draw.max_delay)
        for path, shape, mean in pairs(paths, shapes, queueing)
    )


def serverless(arms: int = 8, max_delay: int = 10_000, seed: int = 0) -> Problem:
    """Calls of a function at serverless providers, in milliseconds, with a timeout of 10 s.

    A warm call is log-normal with median 20 to 400 ms (log-uniform over the arms) and sigma 0.2 to
    0.6. With probability 0.5 to 8 % the call meets a cold start instead: log-normal with median 600
    to 4000 ms (log-uniform) and sigma 0.4.
    """
    draw = Draw.checked("serverless", arms, max_delay, seed, stream=3)
    warm = draw.log_uniform(0, 20, 400)
    sigmas = draw.uniform(1, 0.2, 0.6)
    chances = draw.log_uniform(2, 0.005, 0.08)
    cold = draw.log_uniform(3, 600, 4000)
    return draw.problem(
        log_normal_mixture_law([(1 - p, quick, sigma), (p, slow, 0.4)], draw.max_delay)
        for p, quick, sigma, slow in pairs(chances, warm, sigmas, cold)
    )


def dwell(arms: int = 12, max_delay: int = 600, seed: int = 0) -> Problem:
    """How long people stay with a piece of content, in seconds, closed after 10 minutes.

    Weibull with shape 0.5 to 0.9 (below 1: who has stayed longer is less likely to leave soon) and
    mean 20 to 90 s, both uniform over the arms. The mean is that before the cut at `max_delay`,
    which takes away little at 600 s.
    """
    draw = Draw.checked("dwell", arms, max_delay, seed, stream=4)
    shapes = draw.uniform(0, 0.5, 0.9)
    means = draw.uniform(1, 20, 90)
    return draw.problem(
        weibull_law(shape, weibull_scale(mean, shape), draw.max_delay)
        for shape, mean in pairs(shapes, means)
    )


def survival(arms: int = 4, max_delay: int = 1095, seed: int = 0) -> Problem:
    """Times to progression under the treatments of a trial, in days, with 3 years of follow-up.

    Weibull with shape 0.8 to 1.6 and median 120 to 720 days, both uniform over the arms.
    """
    draw = Draw.checked("survival", arms, max_delay, seed, stream=5)
    shapes = draw.uniform(0, 0.8, 1.6)
    medians = draw.uniform(1, 120, 720)
    return draw.problem(
        weibull_law(shape, median / np.log(2) ** (1 / shape), draw.max_delay)
        for shape, median in pairs(shapes, medians)
    )


def pairs(*columns: FloatArray) -> Iterable[tuple[float, ...]]:
    """The rows of some columns, as plain numbers."""
    return zip(*(column.tolist() for column in columns), strict=True)


FAMILIES: dict[str, Callable[..., Problem]] = {
    family.__name__: family
    for family in (truncated_normal, bernoulli, cdn, serverless, dwell, survival)
}
