"""Ratios, powers and times of the benchmark, as figures and in words."""

from __future__ import annotations

from tare.report.kit.figure import Figure
from tare.report.wisconsin.document import Ratio, Slope, Time


def times(ratio: Ratio) -> str:
    """1.34 [1.30, 1.38] times"""
    return f"{factor(ratio)} times"


def factor(ratio: Ratio) -> str:
    """1.34 [1.30, 1.38]"""
    few = " (too few QEs for an interval)" if ratio.low is None or ratio.high is None else ""
    return f"{ratio_figure(ratio).text}{few}"


def inverse(ratio: Ratio) -> Ratio:
    """How many times as long the other takes."""
    low, high = ratio.low, ratio.high
    return Ratio(
        estimate=1 / ratio.estimate,
        low=None if high is None else 1 / high,
        high=None if low is None else 1 / low,
        n=(ratio.n[1], ratio.n[0]),
        established=ratio.established,
    )


def ratio_figure(ratio: Ratio) -> Figure:
    return Figure(ratio.estimate, ratio.low, ratio.high, digits=4)


def power_figure(slope: Slope) -> Figure:
    return Figure(slope.slope, slope.low, slope.high, digits=3)


def time_figure(time: Time | None) -> Figure:
    return Figure(None) if time is None else Figure(time.ms, time.low_ms, time.high_ms, n=time.n, unit="ms")
