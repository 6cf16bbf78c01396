"""The delay laws of the families, from special functions alone (scipy.stats is slow to import).

Each is the real distribution rounded half to even and clipped to [0, D], as in
`tarry.problems.discretise`, except where its docstring says otherwise.
"""

from math import gamma, log

import numpy as np

from tarry.arrays import FloatArray
from tarry.problems.discretise import law_of
from tarry.problems.law import Law


def truncated_normal_law(mean: float, deviation: float, most: int) -> Law:
    """A normal distribution conditioned on [0, D], then rounded half to even.

    `mean` and `deviation` are those before the conditioning. The work is done in logarithms, so
    that a mean many deviations outside [0, D] gives the right law too. A deviation so small that
    floating point sees no probability anywhere gives the point of [0, D] nearest to the mean.
    """
    edges = np.concatenate([[0.0], np.arange(most) + 0.5, [float(most)]])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        z = (edges - mean) / deviation
        log_mass = log_normal_mass(z[:-1], z[1:])
        shares = np.exp(log_mass - np.max(log_mass))
    if not np.isfinite(shares).all():
        return Law([round(min(max(mean, 0.0), float(most)))], [1.0])
    return Law(np.arange(most + 1), shares / shares.sum())


def log_normal_mass(low: FloatArray, high: FloatArray) -> FloatArray:
    """log(Phi(high) - Phi(low)), computed in whichever tail is the smaller one."""
    from scipy.special import log_ndtr

    flip = low > 0
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    upper = log_ndtr(high)
    mass = upper + np.log1p(-np.exp(log_ndtr(low) - upper))
    return np.where(np.isneginf(upper), -np.inf, mass)


def shifted_gamma_law(shift: float, shape: float, scale: float, most: int) -> Law:
    """Shift plus Gamma(shape, scale), whose mean is shift + shape * scale."""
    from scipy.special import gammainc, gammaincc

    def reach(x: FloatArray) -> FloatArray:
        return np.maximum(x - shift, 0.0) / scale

    return law_of(lambda x: gammainc(shape, reach(x)), lambda x: gammaincc(shape, reach(x)), most)


def log_normal_mixture_law(parts: list[tuple[float, float, float]], most: int) -> Law:
    """A mixture of log-normals, each given as (probability, median, sigma of the logarithm)."""
    from scipy.special import ndtr

    def cdf(x: FloatArray) -> FloatArray:
        return np.minimum(sum(w * ndtr((np.log(x) - log(m)) / s) for w, m, s in parts), 1.0)

    def sf(x: FloatArray) -> FloatArray:
        return np.minimum(sum(w * ndtr((log(m) - np.log(x)) / s) for w, m, s in parts), 1.0)

    return law_of(cdf, sf, most)


def weibull_law(shape: float, scale: float, most: int) -> Law:
    """P(X > x) = exp(-(x / scale)**shape)."""
    return law_of(
        lambda x: -np.expm1(-((x / scale) ** shape)),
        lambda x: np.exp(-((x / scale) ** shape)),
        most,
    )


def weibull_scale(mean: float, shape: float) -> float:
    """The scale for which a Weibull variable of this shape has this mean."""
    return mean / gamma(1 + 1 / shape)
