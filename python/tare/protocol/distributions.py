"""The normal distribution and Student's t, in numbers: what Tare needs of a statistics library that takes 140 MB.

Student's distribution function is an incomplete beta function, here as its continued fraction, which Lentz's method
evaluates from the front (Abramowitz & Stegun 26.5.8, 26.7.1).
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_SMALLEST = 1e-300
_TERMS = 100_000
"""More than any case takes: some √freedom, and 1000 at most are seen for a million degrees of freedom."""


def normal_cdf(z: float) -> float:
    return math.erfc(-z / math.sqrt(2)) / 2


def normal_quantile(p: float) -> float:
    """Raise ValueError unless 0 < p < 1."""
    return NormalDist().inv_cdf(p)


def student_cdf(freedom: float, t: float) -> float:
    """Probability that Student's t with `freedom` degrees of freedom, any number above 0, is at most `t`."""
    tail = _tail(freedom, abs(t))
    return tail if t < 0 else 1 - tail


@lru_cache(maxsize=4096)
def student_quantile(freedom: float, p: float) -> float:
    """Raise ValueError unless 0 < p < 1."""
    if not 0 < p < 1:
        raise ValueError(f"a quantile at {p} is infinite")
    if p > 0.5:
        return -student_quantile(freedom, 1 - p)
    if p == 0.5:
        return 0.0
    # The root of log tail(t) - log p, which falls everywhere: Newton's steps, halved where they leave the bracket.
    low, high = 0.0, 1.0
    while _tail(freedom, high) > p:
        low, high = high, 2 * high
    t = (low + high) / 2
    for _ in range(200):
        tail = _tail(freedom, t)
        low, high = (t, high) if tail > p else (low, t)
        t, before = t + math.log(tail / p) * tail / _density(freedom, t), t
        if not low <= t <= high:
            t = (low + high) / 2
        if abs(t - before) <= 1e-15 * t:
            break
    return -t


def _density(freedom: float, t: float) -> float:
    return math.exp(
        _log_gamma_ratio(freedom / 2)
        - math.log(freedom * math.pi) / 2
        - (freedom + 1) / 2 * math.log1p(t * t / freedom)
    )


def _tail(freedom: float, t: float) -> float:
    """P(T > t) for t ≥ 0."""
    square = t * t
    if math.isinf(freedom) or square == 0:
        return normal_cdf(-t)
    if math.isinf(square):
        return 0.0
    inside, outside = freedom / (freedom + square), square / (freedom + square)
    if outside == 0:  # t is too small beside its freedom
        return 0.5
    a = freedom / 2
    # x^a (1-x)^½ / B(a, ½)
    log_front = (
        _log_gamma_ratio(a) - math.log(math.pi) / 2 - a * math.log1p(square / freedom) + math.log(outside) / 2
    )
    front = math.exp(log_front)
    if inside < (a + 1) / (a + 2.5):
        return front * _fraction(a, 0.5, inside) / a / 2
    return 0.5 - front * _fraction(0.5, a, outside)


def _log_gamma_ratio(a: float) -> float:
    """log Γ(a + ½) / Γ(a), by its series where the difference of two logarithms would lose digits."""
    if a < 50:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    return math.log(a) / 2 + math.log1p(
        -1 / (8 * a) + 1 / (128 * a**2) + 5 / (1024 * a**3) - 21 / (32768 * a**4) - 399 / (262144 * a**5)
    )


def _fraction(a: float, b: float, x: float) -> float:
    """Continued fraction of the incomplete beta function I_x(a, b)."""
    c, d = 1.0, 1 / _apart(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _apart(1 + term * d)
            c = _apart(1 + term / c)
            step = c * d
            value *= step
        if abs(step - 1) < 1e-16:
            break
    return value


def _apart(value: float) -> float:
    """The value, kept apart from 0."""
    return value if abs(value) > _SMALLEST else _SMALLEST
