"""Shares and times as a reader sees them."""

from __future__ import annotations

import pytest

from tare.report.profile import words
from tare.report.profile.document import Figure


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
    [
        (0.623, 0.512, 0.709, "62% (51–71%)"),
        (0.0182, 0.0151, 0.0213, "1.8% (1.5–2.1%)"),
        (-0.031, -0.08, 0.02, "−3% (−8% to 2%)"),
        (0.00012, 0.0001, 0.00014, "0.01% (0.01–0.01%)"),
        (1.0, 1.0, 1.0, "100% (100–100%)"),
        (0.00001, -0.00004, 0.00003, "0% (0–0%)"),
    ],
)
def test_a_share_has_the_digits_that_its_interval_carries(
    value: float, low: float, high: float, said: str
) -> None:
    assert words.with_interval(Figure(value=value, low=low, high=high)) == said


def test_an_overhead_is_said_with_its_half_width_where_its_interval_is_even() -> None:
    assert words.plus_minus(Figure(value=0.68, low=-0.22, high=2.62)) == "68% (−22% to 262%)"
    assert words.plus_minus(Figure(value=0.018, low=0.015, high=0.021)) == "1.8\u00a0±\u00a00.3%"
    assert words.plus_minus(Figure(value=-0.002, low=-0.01, high=0.006)) == "−0.2\u00a0±\u00a00.8%"


@pytest.mark.parametrize(
    ("ns", "said"),
    [
        (0, "0 ns"),
        (840.4, "840 ns"),
        (999.4, "999 ns"),
        (12_345, "12.3 µs"),
        (2.04e6, "2.04 ms"),
        (1.5e9, "1.50 s"),
    ],
)
def test_a_time_is_in_the_unit_that_fits(ns: float, said: str) -> None:
    assert words.ns(ns) == said
