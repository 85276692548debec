"""No more digits than the uncertainty carries; a unit with every number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.report.numbers import bytes_text, decimals, fixed, ms_text, percent, scale_for


@pytest.mark.parametrize(
    ("unit", "value", "shown_unit"),
    [("ms", 0.2, "µs"), ("ms", 9000, "ms"), ("ms", 20_000, "s"), ("ms", 0, "ms"), ("bytes", 700 << 20, "MiB"),
     ("instructions", 250e6, "M"), ("instructions", 12, ""), ("bytes", 0, "B")],
)  # fmt: skip
def test_the_unit_fits_the_size(unit: str, value: float, shown_unit: str) -> None:
    assert scale_for(unit, [value]).unit == shown_unit


def test_small_shares_keep_two_digits() -> None:
    assert [percent(x) for x in (0.00023, 0.017, 0.49, 0, -0.031)] == ["0.023%", "1.7%", "49%", "0%", "−3.1%"]


def test_times_and_sizes_without_an_interval() -> None:
    assert [ms_text(x) for x in (0.1, 11.52, 12_345)] == ["100 µs", "11.5 ms", "12.3 s"]
    assert [bytes_text(x) for x in (100, 5 << 20, 700 << 20)] == ["100 B", "5.0 MiB", "700 MiB"]


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e6))
def test_what_is_shown_is_within_the_uncertainty(value: float, uncertainty: float) -> None:
    places = decimals(value, uncertainty)
    text = fixed(value, places).replace("\u202f", "").replace("−", "-")
    assert abs(float(text) - value) <= max(uncertainty, 1e-6)


def test_there_is_no_minus_zero() -> None:
    assert fixed(-0.0004, 2) == "0.00"
    assert fixed(-1234.5, 0) == "−1\u202f234"
