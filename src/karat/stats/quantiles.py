"""Quantiles and tail probabilities of the normal, Student's t and the binomial, without SciPy.

Importing SciPy's distributions costs more than scoring most files does. All of this is small:
the incomplete beta function by its continued fraction, and a safeguarded Newton step on top.
"""

from __future__ import annotations

import math
from statistics import NormalDist

_NORMAL = NormalDist()
_LARGE = 1e9
"""Degrees of freedom from which Student's t is the normal to better than 1e-8."""


def normal_quantile(p: float) -> float:
    """The p-quantile of the standard normal."""
    return _NORMAL.inv_cdf(p)


def normal_p(z: float) -> float:
    """The two-sided tail probability of |z| under the standard normal."""
    return math.erfc(abs(z) / math.sqrt(2.0))


def t_p(t: float, df: float) -> float:
    """The two-sided tail probability of |t| under Student's t."""
    if df > _LARGE:
        return normal_p(t)
    square = t * t / df
    if math.isinf(square):
        return 0.0
    return _beta_tail(df / 2, square)


def t_quantile(p: float, df: float) -> float:
    """The p-quantile of Student's t with df degrees of freedom, df > 0."""
    if p == 0.5:
        return 0.0
    if p < 0.5:
        return -t_quantile(1 - p, df)
    if df > _LARGE:
        return normal_quantile(p)
    if df == 1:
        return math.tan(math.pi * (p - 0.5))
    tail = 2 * (1 - p)
    low, high = 0.0, math.inf
    t = _expansion(normal_quantile(p), df)
    for _ in range(200):
        excess = t_p(t, df) - tail
        low, high = (t, high) if excess > 0 else (low, t)
        step = t + excess / (2 * _t_density(t, df))
        if abs(step - t) <= 1e-8 * t:
            return step  # the next step would be the square of this one
        if not low < step < high:
            step = 2 * t if math.isinf(high) else (low + high) / 2
        t = step
    return t


def _expansion(z: float, df: float) -> float:
    """Student's quantile from the normal's, near enough to start from: Fisher's expansion."""
    first = z * (z * z + 1) / 4
    second = z * (z * z * (5 * z * z + 16) + 3) / 96
    return z + (first + second / df) / df


def binomial_half_p(hits: int, n: int) -> float:
    """The exact two-sided p of `hits` out of n fair coins: McNemar's test. 1 where n is 0."""
    fewer = min(hits, n - hits)
    if 2 * fewer >= n - 1:
        return 1.0
    return min(1.0, 2 * beta_cdf(0.5, n - fewer, fewer + 1))


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(_log_front(a, b, math.log(x), math.log1p(-x)))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _beta_tail(a: float, square: float) -> float:
    """I_x(a, 1/2) at x = 1 / (1 + square), without losing x close to 1."""
    x, y = 1 / (1 + square), square / (1 + square)
    if y == 0:
        return 1.0
    front = math.exp(_log_front(a, 0.5, -math.log1p(square), math.log(y)))
    if x < (a + 1) / (a + 2.5):
        return front * _fraction(x, a, 0.5) / a
    return 1 - front * _fraction(y, 0.5, a) / 0.5


def _log_front(a: float, b: float, log_x: float, log_y: float) -> float:
    """log of x^a y^b / B(a, b)."""
    return a * log_x + b * log_y - _log_beta(a, b)


def _log_beta(a: float, b: float) -> float:
    """log B(a, b); where one is large, lgamma alone would cancel away the digits."""
    small, large = min(a, b), max(a, b)
    if large < 40:
        return math.lgamma(small) + math.lgamma(large) - math.lgamma(small + large)
    if small < 40:
        return math.lgamma(small) + _log_gamma_drop(large, small)
    total = small + large
    rest = _stirling(small) + _stirling(large) - _stirling(total)
    spread = small * math.log(small / total) + large * math.log1p(-small / total)
    return rest + spread + 0.5 * math.log(2 * math.pi * total / (small * large))


def _log_gamma_drop(a: float, step: float) -> float:
    """lgamma(a) - lgamma(a + step) for a large and a step that is not."""
    inside = (a - 0.5) * math.log1p(step / a) + step * math.log(a + step) - step
    return _stirling(a) - _stirling(a + step) - inside


def _stirling(x: float) -> float:
    """What Stirling's formula for lgamma(x) leaves out, x >= 40."""
    square = x * x
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / x


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    out = d
    for m in range(1, 100_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + term * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + term / c
            c = c if abs(c) > tiny else tiny
            out *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return out


def _t_density(t: float, df: float) -> float:
    """The density of Student's t."""
    log = -0.5 * math.log(df) - _log_beta(df / 2, 0.5) - (df + 1) / 2 * math.log1p(t * t / df)
    return math.exp(log)
