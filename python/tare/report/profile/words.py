"""Shares, times and names of a profile as a reader sees them."""

from __future__ import annotations

from tare.report.kit.names import middle
from tare.report.numbers import MINUS, fixed, significant, thousands
from tare.report.profile.document import Figure
from tare.report.words import NOTHING

__all__ = [
    "NOTHING",
    "calls",
    "in_brackets",
    "interval",
    "middle",
    "ns",
    "percent",
    "plus_minus",
    "share",
    "thousands",
]


def percent(value: float | None, places: int | None = None) -> str:
    """Write a share: 62%, 4.1%, 0.03%; without `places` two significant digits, and none below 0.01%."""
    if value is None:
        return NOTHING
    points = 100 * value
    size = abs(points)
    if size < _LEAST:
        places = 0
    elif places is None:
        places = 0 if size >= 9.95 else 1 if size >= 0.995 else 2
    return f"{fixed(points, places)}%"


_LOPSIDED = 0.1  # of half an interval, from its middle to its value

_LEAST = 0.005
"""Per cent: what is below it is 0%, and two figures this near are one."""


def share(of: Figure | None) -> str:
    """No more digits than the interval carries: 62%."""
    return NOTHING if of is None else percent(of.value, _places(of))


def interval(of: Figure | None) -> str:
    """51–71%, or −8% to 2%."""
    if of is None:
        return ""
    low, high = percent(of.low, _places(of)), percent(of.high, _places(of))
    return f"{low} to {high}" if MINUS in low + high else f"{low.removesuffix('%')}–{high}"


def in_brackets(of: Figure | None) -> str:
    """The interval as it stands behind a value: (51–71%)."""
    return "" if of is None else f"({interval(of)})"


def with_interval(of: Figure | None) -> str:
    """62% (51–71%)."""
    return NOTHING if of is None else f"{share(of)} ({interval(of)})"


def plus_minus(of: Figure) -> str:
    """1.8 ± 0.3%, which no line end divides; where the interval is not nearly symmetric, as `with_interval`."""
    places = _places(of)
    half = (of.high - of.low) / 2
    if abs((of.high + of.low) / 2 - of.value) > _LOPSIDED * half:
        return with_interval(of)
    return f"{percent(of.value, places).removesuffix('%')}\u00a0±\u00a0{percent(half, places)}"


def _places(of: Figure) -> int | None:
    """None: the interval is next to nothing, and says nothing of digits."""
    half = 100 * (of.high - of.low) / 2
    if half < _LEAST:
        return None
    return 0 if half >= 0.95 else 1 if half >= 0.095 else 2


def ns(value: float | None) -> str:
    """A time, three significant digits in the unit that fits: 840 ns, 12.3 µs, 2.04 ms, 1.5 s."""
    if value is None:
        return NOTHING
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if abs(value) >= factor:
            return f"{significant(value / factor)} {unit}"
    return f"{fixed(value, 0)} ns"


def calls(value: float) -> str:
    """Per transaction."""
    return thousands(round(value)) if value >= 1000 else significant(value)
