"""A share with its interval as a bar within a table's cell: places in per cent of the cell's width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tare.report.profile.document import Figure


@dataclass(frozen=True, slots=True)
class Bar:
    zero: float
    left: float  # of the bar from zero to the value
    width: float
    low: float  # of the interval
    high: float
    negative: bool


def bars(figures: Sequence[Figure | None]) -> list[Bar | None]:
    """On one scale, which holds zero and every interval."""
    known = [one for one in figures if one is not None]
    low = min((min(0.0, one.low, one.value) for one in known), default=0.0)
    high = max((max(0.0, one.high, one.value) for one in known), default=0.0)
    span = high - low or 1.0

    def at(value: float) -> float:
        return round(100 * (value - low) / span, 2)

    return [
        None
        if one is None
        else Bar(
            zero=at(0.0),
            left=at(min(0.0, one.value)),
            width=round(at(max(0.0, one.value)) - at(min(0.0, one.value)), 2),
            low=at(one.low),
            high=at(one.high),
            negative=one.value < 0,
        )
        for one in figures
    ]
