"""Tare's distribution functions against SciPy's."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from tare.protocol.distributions import normal_cdf, normal_quantile, student_cdf, student_quantile

freedoms = st.one_of(st.integers(1, 10**6).map(float), st.floats(0.5, 1e6))
chances = st.one_of(st.floats(1e-12, 1 - 1e-12), st.floats(-12, -0.01).map(lambda power: 10**power))


@given(freedoms, st.floats(-60, 60))
@example(2140.0, 7.3e-161)  # its square over its freedom is 0
def test_the_probability_below_t_is_scipy_s_also_in_the_tail(freedom: float, t: float) -> None:
    assert student_cdf(freedom, t) == pytest.approx(stdtr(freedom, t), rel=1e-9, abs=1e-290)


@given(freedoms, chances)
def test_the_quantile_of_t_is_scipy_s(freedom: float, p: float) -> None:
    assert student_quantile(freedom, p) == pytest.approx(stdtrit(freedom, p), rel=1e-9, abs=1e-12)


@given(freedoms, chances)
def test_the_quantile_s_probability_is_p(freedom: float, p: float) -> None:
    assert student_cdf(freedom, student_quantile(freedom, p)) == pytest.approx(p, rel=1e-9)


@given(st.floats(-37, 8), chances)
def test_the_normal_distribution_is_scipy_s(z: float, p: float) -> None:
    assert normal_cdf(z) == pytest.approx(ndtr(z), rel=1e-11)
    assert normal_quantile(p) == pytest.approx(ndtri(p), rel=1e-9, abs=1e-12)


def test_ends() -> None:
    assert (student_cdf(3, -math.inf), student_cdf(3, 0), student_cdf(3, math.inf)) == (0, 0.5, 1)
    assert student_cdf(math.inf, 1.5) == normal_cdf(1.5)
    for p in (0, 1, -0.1, 1.1):
        with pytest.raises(ValueError):  # noqa: PT011
            student_quantile(3, p)
        with pytest.raises(ValueError):  # noqa: PT011
            normal_quantile(p)


def test_the_one_with_one_degree_of_freedom_is_cauchy_s() -> None:
    for t in (0.1, 1.0, 12.7):
        assert student_cdf(1, t) == pytest.approx(0.5 + math.atan(t) / math.pi, rel=1e-14)
