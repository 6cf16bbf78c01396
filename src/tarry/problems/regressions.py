"""Families with contexts: parametric models of how the delay of an arm depends on the request.

Contexts are N points, drawn once by the seed; the law of each arm at each of them is then exact.
Effects are per arm: one common to all arms would not change which arm is the best one. Delays are
rounded to a grid of at most 256 values, the whole numbers at first and then steps of a few per
cent, so that a context costs the same memory whatever D is.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.checks import check_memory, check_number, check_whole, shortened
from tarry.errors import InputError
from tarry.problems.contextual import CELL_BYTES, FEWER, Contextual, contextual
from tarry.problems.delays import check_max_delay
from tarry.problems.families import two_point_laws
from tarry.problems.law import Law
from tarry.problems.world import uniforms

GRID = 256
LARGEST_EFFECT = 20.0  # times e at every standard deviation: far beyond any use
FIRST_STREAM = 100  # apart from the families without contexts


class Points(NamedTuple):
    """The checked arguments of a family, and its random parameters."""

    family: str
    arms: int
    features: int
    max_delay: int
    seed: int
    contexts: int
    stream: int

    @classmethod
    def checked(cls, family: str, stream: int, *given: Any) -> "Points":
        """Refuse what is not allowed."""
        arms, features, max_delay, seed, contexts = given
        return cls(
            family,
            check_whole("number of arms", arms, 1),
            check_whole("number of features", features, 1, 1000),
            check_max_delay(max_delay),
            check_whole("seed", seed, 0),
            check_whole("number of contexts", contexts, 1, 10**6),
            stream,
        )

    def uniform(self, parameter: int, *shape: int) -> FloatArray:
        """Numbers uniform in (0, 1)."""
        stream = 16 * (FIRST_STREAM + self.stream) + parameter
        return uniforms(self.seed, stream, int(np.prod(shape))).reshape(shape)

    def normal(self, parameter: int, *shape: int) -> FloatArray:
        """Numbers from the standard normal law."""
        from scipy.special import ndtri

        drawn: FloatArray = ndtri(self.uniform(parameter, *shape))
        return drawn

    def requests(self) -> FloatArray:
        """Features of the contexts: standard normal, (contexts, features)."""
        return self.normal(0, self.contexts, self.features)

    def tilts(self, requests: FloatArray) -> FloatArray:
        """How each context tilts each arm: standard normal over contexts, (contexts, arms).

        tilt(n, k) = x(n) . beta(k), with a direction beta(k) of length 1 that is drawn per arm.
        """
        directions = self.normal(1, self.arms, self.features)
        return requests @ (directions / np.linalg.norm(directions, axis=1, keepdims=True)).T

    def problem(self, requests: FloatArray, laws: list[Law], *settings: str) -> Contextual:
        """The problem with these laws, labelled with the call that made it."""
        sizes = f"arms={self.arms}, features={self.features}, max_delay={self.max_delay}"
        told = ", ".join([sizes, f"contexts={self.contexts}", *settings])
        return contextual(
            laws,
            requests,
            self.max_delay,
            label=f"{self.family}({told}, seed={self.seed})",
            family=f"{self.family}({told})",
        )

    def laws(self, survival: Callable[[FloatArray], FloatArray]) -> list[Law]:
        """Laws on the grid from P(delay > x), an array (contexts, arms, ...) for x (...)."""
        values = grid(self.max_delay)
        size = self.contexts * self.arms
        told = f"The laws of {self.contexts} contexts with {self.arms} arms"
        check_memory(CELL_BYTES * size * len(values), told, FEWER)
        lasts = survival((values[1:] + values[:-1]) / 2.0).reshape(size, -1)
        shares = -np.diff(lasts, prepend=1.0, append=0.0, axis=1)
        return [Law(values, share) for share in np.maximum(shares, 0.0)]


def check_effect(effect: float) -> float:
    """The size of effects, if powers of e can be that large."""
    if check_number("effect", effect, 0.0) > LARGEST_EFFECT:
        raise InputError(f"The effect is {effect:g}; it must be at most {LARGEST_EFFECT:g}.")
    return float(effect)


def grid(most: int) -> IntArray:
    """At most 256 delays from 0 to D: whole numbers first, then as many per order of magnitude."""
    if most < GRID:
        return np.arange(most + 1)
    return np.unique(np.rint(np.geomspace(1, most + 1, GRID)).astype(np.int64) - 1)


def log_linear(
    arms: int = 5,
    features: int = 4,
    max_delay: int = 2000,
    seed: int = 0,
    *,
    shape: Literal["weibull", "log-normal"] = "weibull",
    effect: float = 1.0,
    contexts: int = 1000,
) -> Contextual:
    """Delays whose scale is log-linear in the request: accelerated failure times.

        log scale(n, k) = log(D / 10) + level(k) + effect * x(n) . beta(k)

    with level(k) normal of deviation 0.5, x(n) standard normal and beta(k) a random direction of
    length 1. Weibull delays have shapes uniform in 0.7..1.5, log-normal ones deviations of the
    logarithm uniform in 0.4..1; both per arm. Delays above D count as D.

    Args:
        arms: K.
        features: p.
        max_delay: D.
        seed: of everything that is drawn.
        shape: "weibull" or "log-normal".
        effect: how much a request changes the logarithm; 0 for contexts that are useless.
        contexts: N, how many different requests there are.
    """
    if shape not in ("weibull", "log-normal"):
        raise InputError(f"shape is {shortened(shape)}; it must be 'weibull' or 'log-normal'.")
    size = check_effect(effect)
    draw = Points.checked("log_linear", 0, arms, features, max_delay, seed, contexts)
    requests = draw.requests()
    logs = np.log(draw.max_delay / 10) + 0.5 * draw.normal(2, draw.arms)
    scales = (logs + size * draw.tilts(requests))[:, :, None]
    spread = draw.uniform(3, draw.arms, 1)

    def weibull(x: FloatArray) -> FloatArray:
        return np.exp(-np.exp((0.7 + 0.8 * spread) * (np.log(x) - scales)))

    def log_normal(x: FloatArray) -> FloatArray:
        from scipy.special import ndtr

        lasts: FloatArray = ndtr((scales - np.log(x)) / (0.4 + 0.6 * spread))
        return lasts

    laws = draw.laws(weibull if shape == "weibull" else log_normal)
    return draw.problem(requests, laws, f"shape={shape!r}", f"effect={size:g}")


def linear(
    arms: int = 5, features: int = 4, max_delay: int = 2000, seed: int = 0, *, contexts: int = 1000
) -> Contextual:
    """Mean payoffs that are linear in the request (Zhang, Wang and Luo 2025), delays 0 or D.

        P(d = D) = mu(n, k) = x(n) . theta(k)

    with theta(k) uniform in [0, 1]^p, and x(n) the squares of a random point of the unit sphere:
    they are positive and sum to 1, so that means are in [0, 1].

    Args:
        arms: K.
        features: p.
        max_delay: D.
        seed: of everything that is drawn.
        contexts: N, how many different requests there are.
    """
    draw = Points.checked("linear", 1, arms, features, max_delay, seed, contexts)
    parts = draw.normal(0, draw.contexts, draw.features) ** 2
    requests = parts / parts.sum(axis=1, keepdims=True)
    means = np.clip(requests @ draw.uniform(1, draw.arms, draw.features).T, 0.0, 1.0)
    return draw.problem(requests, list(two_point_laws(1.0 - means.ravel(), draw.max_delay)))


def proportional_hazards(
    arms: int = 5,
    features: int = 4,
    max_delay: int = 2000,
    seed: int = 0,
    *,
    effect: float = 1.0,
    contexts: int = 1000,
) -> Contextual:
    """Hazards that a request multiplies at all ages alike: the model of Cox (1972).

        P(d > x) = S(k, x) ** exp(effect * x(n) . beta(k))

    The survival curve S(k) without contexts is that of a mixture of two log-normals, with medians
    around D / 50 and D / 3, so that it is no Weibull law; a part of 0.5 to 0.9, by arm, is quick.

    Args:
        arms: K.
        features: p.
        max_delay: D.
        seed: of everything that is drawn.
        effect: how much a request changes the logarithm of the hazard.
        contexts: N, how many different requests there are.
    """
    size = check_effect(effect)
    draw = Points.checked("proportional_hazards", 2, arms, features, max_delay, seed, contexts)
    requests = draw.requests()
    powers = np.exp(size * draw.tilts(requests))[:, :, None]
    quick = 0.5 + 0.4 * draw.uniform(2, draw.arms, 1)
    medians = np.log([draw.max_delay / 50, draw.max_delay / 3]) + 0.5 * draw.normal(3, draw.arms, 2)

    def survival(x: FloatArray) -> FloatArray:
        from scipy.special import ndtr

        parts = [ndtr((medians[:, [i]] - np.log(x)) / 0.6) for i in range(2)]
        return (quick * parts[0] + (1.0 - quick) * parts[1]) ** powers

    return draw.problem(requests, draw.laws(survival), f"effect={size:g}")


def no_answer(
    arms: int = 5,
    features: int = 4,
    max_delay: int = 2000,
    seed: int = 0,
    *,
    effect: float = 1.5,
    contexts: int = 1000,
) -> Contextual:
    """Whether there is an answer at all depends on the request; how soon it comes does not.

        P(d = D) = 1 / (1 + exp(1 + level(k) - effect * x(n) . beta(k))),

    with level(k) normal of deviation 0.5; other delays are log-normal with a median around D / 50.

    Args:
        arms: K.
        features: p.
        max_delay: D.
        seed: of everything that is drawn.
        effect: how much a request changes the logarithm of the odds.
        contexts: N, how many different requests there are.
    """
    size = check_effect(effect)
    draw = Points.checked("no_answer", 3, arms, features, max_delay, seed, contexts)
    requests = draw.requests()
    levels = 1.0 + 0.5 * draw.normal(2, draw.arms)
    lost = (1.0 / (1.0 + np.exp(levels - size * draw.tilts(requests))))[:, :, None]
    medians = np.log(draw.max_delay / 50) + 0.5 * draw.normal(3, draw.arms, 1)

    def survival(x: FloatArray) -> FloatArray:
        from scipy.special import ndtr

        return lost + (1.0 - lost) * ndtr((medians - np.log(x)) / 0.5)

    return draw.problem(requests, draw.laws(survival), f"effect={size:g}")


REGRESSIONS: dict[str, Callable[..., Contextual]] = {
    family.__name__: family for family in (log_linear, linear, proportional_hazards, no_answer)
}
