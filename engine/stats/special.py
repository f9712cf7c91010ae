"""Special functions of the statistics: incomplete beta, Student t, beta and normal quantiles.

Pure and thread-safe. The incomplete beta is the continued fraction of Press et al., Numerical
Recipes, 6.4, evaluated by Lentz's method; everything here agrees with scipy to 1e-10.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

_TINY = 1e-300
_EPS = 1e-16
_MAX_TERMS = 200_000
_STIRLING_FROM = 10.0
_NORMAL = NormalDist()


def normal_quantile(share: float) -> float:
    """The z below which `share` of a standard normal lies. `share` is strictly inside 0..1."""
    return _NORMAL.inv_cdf(share)


def normal_cdf(z: float) -> float:
    """The share of a standard normal below `z`."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def _stirling_rest(x: float) -> float:
    """lgamma(x) minus its leading Stirling terms; 1e-16 from x = 10 on."""
    y = 1.0 / (x * x)
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - y * 691 / 360360))))) / x


def log_beta(a: float, b: float) -> float:
    """Logarithm of the beta function, without the cancellation of three large lgammas."""
    large, small = (a, b) if a >= b else (b, a)
    if large < _STIRLING_FROM:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    both = large + small
    ratio = -(large - 0.5) * math.log1p(small / large) - small * math.log(both) + small
    return math.lgamma(small) + ratio + _stirling_rest(large) - _stirling_rest(both)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta; converges fast for x < (a+1)/(a+b+2)."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    result = d
    for m in range(1, _MAX_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = 1.0
        for term in (even, odd):
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > _TINY else _TINY)
            c = 1.0 + term / c
            c = c if abs(c) > _TINY else _TINY
            step = c * d
            result *= step
        if abs(step - 1.0) <= _EPS * 10:
            break
    return result


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b) for a, b > 0; x outside 0..1 is clipped."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    return _incomplete_beta(a, b, x, 1.0 - x)


def _incomplete_beta(a: float, b: float, x: float, y: float) -> float:
    """As `incomplete_beta`, with y = 1 - x given exactly, for x within rounding of 1."""
    front = math.exp(a * math.log(x) + b * math.log(y) - log_beta(a, b))
    if x < (a + 1.0) / (a + b + 2.0):
        return min(1.0, front * _fraction(a, b, x) / a)
    return max(0.0, 1.0 - front * _fraction(b, a, y) / b)


def t_two_sided(t: float, df: float) -> float:
    """The two-sided p value of Student's t with `df` > 0 degrees of freedom, fractions allowed."""
    if t == 0.0:
        return 1.0
    square = t * t
    if math.isinf(square):
        return 0.0
    x, y = df / (df + square), square / (df + square)
    if x <= 0.0:
        return 0.0
    return 1.0 if y <= 0.0 else _incomplete_beta(df / 2.0, 0.5, x, y)


def _root(below: Callable[[float], bool], low: float, high: float) -> float:
    """Halves [low, high] until it cannot be halved; `below(x)` says that the root is above x."""
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return middle
        if below(middle):
            low = middle
        else:
            high = middle


@lru_cache(maxsize=1024)
def t_quantile(confidence: float, df: float) -> float:
    """The t that leaves 1 - `confidence` outside -t..t. Infinite where no double can hold it."""
    outside = 1.0 - confidence
    high = 1.0
    while t_two_sided(high, df) > outside:
        high *= 2.0
        if high > 1e150:
            return math.inf
    return _root(lambda t: t_two_sided(t, df) > outside, 0.0, high)


@lru_cache(maxsize=4096)
def beta_quantile(share: float, a: float, b: float) -> float:
    """The x at which the regularised incomplete beta I_x(a, b) reaches `share`."""
    return _root(lambda x: incomplete_beta(a, b, x) < share, 0.0, 1.0)
