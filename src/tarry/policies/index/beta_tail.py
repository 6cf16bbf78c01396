"""Tails and upper quantiles of the Beta law in plain arithmetic, the same compiled or not.

SciPy has them, but compiled rules cannot call it. Shapes are at least 1.
"""

import math

from tarry.policies.coins import kl_upper

SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)  # of Stirling
SMALL = 1e-300  # in place of 0 in a continued fraction
MOST_TERMS = 20_000
EXACT = 1e-15


def log_gamma(x: float) -> float:
    """The logarithm of Gamma(x) for x >= 1: Stirling's series from 10 on, Gamma's rule below."""
    product = 1.0
    while x < 10.0:
        product *= x
        x += 1.0
    rest = 0.0
    for term in range(5):
        rest += SERIES[term] / x ** (2 * term + 1)
    return (x - 0.5) * math.log(x) - x + 0.9189385332046727 + rest - math.log(product)


def log_beta(a: float, b: float) -> float:
    """The logarithm of B(a, b), which the density x^(a - 1) (1 - x)^(b - 1) is divided by."""
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b)


def fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete Beta function (NIST DLMF 8.17.22), by Lentz.

    It settles quickly for x below (a + 1) / (a + b + 2).
    """
    upper = 1.0
    lower = 1.0 - (a + b) * x / (a + 1.0)
    lower = 1.0 / (lower if abs(lower) > SMALL else SMALL)
    value = lower
    for m in range(1, MOST_TERMS):
        twice = a + 2.0 * m
        even = m * (b - m) * x / ((twice - 1.0) * twice)
        lower = 1.0 + even * lower
        upper = 1.0 + even / upper
        lower = 1.0 / (lower if abs(lower) > SMALL else SMALL)
        upper = upper if abs(upper) > SMALL else SMALL
        value *= upper * lower
        odd = -(a + m) * (a + b + m) * x / (twice * (twice + 1.0))
        lower = 1.0 + odd * lower
        upper = 1.0 + odd / upper
        lower = 1.0 / (lower if abs(lower) > SMALL else SMALL)
        upper = upper if abs(upper) > SMALL else SMALL
        change = upper * lower
        value *= change
        if abs(change - 1.0) < EXACT:
            break
    return value


def beta_tail(a: float, b: float, x: float, scale: float) -> float:
    """P(X > x) of the Beta law with shapes `a` and `b`; `scale` is log B(a, b)."""
    front = math.exp(a * math.log(x) + b * math.log(1.0 - x) - scale)
    if x < (a + 1.0) / (a + b + 2.0):
        return 1.0 - front * fraction(a, b, x) / a
    return front * fraction(b, a, 1.0 - x) / b


def beta_upper(a: float, b: float, level: float) -> float:
    """The x with P(X > x) = exp(-level), for a positive `level`.

    Newton's method on the logarithm of the tail, which is concave: from the right, where Chernoff's
    bound P(X > x) <= exp(-(a + b) kl(mean, x)) begins, it never passes the solution.
    """
    x = kl_upper(a / (a + b), level / (a + b))
    scale = log_beta(a, b)
    for _ in range(30):
        tail = beta_tail(a, b, x, scale)
        density = math.exp((a - 1.0) * math.log(x) + (b - 1.0) * math.log(1.0 - x) - scale)
        step = (math.log(tail) + level) * tail / density
        x += step
        if abs(step) < 1e-13 * x:
            break
    return x
