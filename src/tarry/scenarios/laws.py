"""How long a backend takes: laws of latency, and the ways in which a backend breaks.

A law turns numbers u, uniform between 0 and 1, into seconds (its *quantile*), so that all routers
meet the same luck: request n at backend k has one u, whoever sends it. A law of your own is any
object with `quantile`, for arrays.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from tarry.arrays import FloatArray
from tarry.checks import check_number, check_positive, check_share, shortened
from tarry.errors import InputError

GRID = (np.arange(4000) + 0.5) / 4000  # where the mean of a law is worked out


@runtime_checkable
class LatencyLaw(Protocol):
    """How long answers take, in seconds."""

    def quantile(self, u: FloatArray) -> FloatArray:
        """The latency that a share `u` of all answers stays below, increasing in `u`."""


def check_law(name: str, value: Any) -> None:
    """Refuse what is no law."""
    if not isinstance(value, LatencyLaw) or isinstance(value, type):
        raise InputError(f"The {name} is {shortened(value)}; give a law such as LogNormal(0.05).")


@dataclass(frozen=True)
class Constant:
    """Always `mean` seconds."""

    mean: float

    def __post_init__(self) -> None:
        check_positive("mean", self.mean)

    def quantile(self, u: FloatArray) -> FloatArray:
        """See `LatencyLaw`."""
        return np.full(len(u), self.mean)


@dataclass(frozen=True)
class Exponential:
    """Exponential with this `mean`."""

    mean: float

    def __post_init__(self) -> None:
        check_positive("mean", self.mean)

    def quantile(self, u: FloatArray) -> FloatArray:
        """See `LatencyLaw`."""
        return -self.mean * np.log1p(-u)


@dataclass(frozen=True)
class LogNormal:
    """Log-normal with this `mean`; `spread` is the standard deviation of the logarithm."""

    mean: float
    spread: float = 0.5

    def __post_init__(self) -> None:
        check_positive("mean", self.mean)
        check_number("spread", self.spread, 0.0)

    def quantile(self, u: FloatArray) -> FloatArray:
        """See `LatencyLaw`."""
        from scipy.special import ndtri

        middle = math.log(self.mean) - 0.5 * self.spread**2
        return np.exp(middle + self.spread * ndtri(u))


@dataclass(frozen=True)
class Mixture:
    """A share of the answers takes as long as `seldom` says, all others as `usual` says."""

    usual: LatencyLaw
    seldom: LatencyLaw
    share: float

    def __post_init__(self) -> None:
        check_law("usual law of a mixture", self.usual)
        check_law("seldom law of a mixture", self.seldom)
        check_share("share", self.share)

    def quantile(self, u: FloatArray) -> FloatArray:
        """See `LatencyLaw`; increasing within each of the two parts, which is enough."""
        turn = 1.0 - self.share
        below = u < turn
        return np.where(
            below,
            self.usual.quantile(np.where(below, u / turn, 0.5)),
            self.seldom.quantile(np.where(below, 0.5, (u - turn) / self.share)),
        )


def bimodal(low: float, high: float, share: float = 0.5) -> Mixture:
    """Two narrow humps: around `low` seconds, and for a `share` of the answers around `high`."""
    return Mixture(LogNormal(low, 0.1), LogNormal(high, 0.1), share)


@dataclass(frozen=True)
class Slower:
    """Another law, `times` as slow."""

    law: LatencyLaw
    times: float

    def __post_init__(self) -> None:
        check_law("law that gets slower", self.law)
        check_positive("factor", self.times)

    def quantile(self, u: FloatArray) -> FloatArray:
        """See `LatencyLaw`."""
        return self.times * self.law.quantile(u)


@dataclass(frozen=True)
class Hangs:
    """Nothing is answered any more, requests already sent included."""


@dataclass(frozen=True)
class Fails:
    """Every answer is a failure, and takes as long as the law `after` says."""

    after: LatencyLaw = Constant(0.005)

    def __post_init__(self) -> None:
        check_law("time until a failure", self.after)


State = LatencyLaw | Hangs | Fails


def slower(law: LatencyLaw, times: float) -> LatencyLaw:
    """`law`, `times` as slow: the same kind of law where it has a mean."""
    if isinstance(law, Constant | Exponential | LogNormal):
        return replace(law, mean=law.mean * check_positive("factor", times))
    return Slower(law, times)


def expected_cost(state: State, timeout: float) -> float:
    """The mean cost of a request: its latency, `timeout` if that is longer or if it fails."""
    if isinstance(state, Hangs | Fails):
        return timeout
    return float(np.minimum(state.quantile(GRID), timeout).mean())
