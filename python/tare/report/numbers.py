"""Numbers for a reader: no more digits than the uncertainty carries, and never without a unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

THIN = "\u202f"  # narrow no-break space between thousands
MINUS = "\u2212"


@dataclass(frozen=True, slots=True)
class Scale:
    """A unit to show a value in: `factor` of the measure's own unit each."""

    unit: str
    factor: float


_SCALES: dict[str, tuple[Scale, ...]] = {
    "ns": (Scale("ns", 1.0), Scale("µs", 1e3), Scale("ms", 1e6), Scale("s", 1e9)),
    "ms": (Scale("µs", 1e-3), Scale("ms", 1.0), Scale("s", 1e3)),
    "bytes": (Scale("B", 1.0), Scale("KiB", 2.0**10), Scale("MiB", 2.0**20), Scale("GiB", 2.0**30)),
    "instructions": (Scale("", 1.0), Scale("k", 1e3), Scale("M", 1e6), Scale("G", 1e9)),
    "processes": (Scale("", 1.0),),
    "share": (Scale("%", 0.01),),
}


def scale_for(unit: str, values: Sequence[float]) -> Scale:
    """The largest unit in which the greatest value is at least 1 (for times: 10 s before it is seconds)."""
    largest = max((abs(value) for value in values), default=0.0)
    chosen = None
    if unit not in _SCALES:
        return Scale(unit, 1.0)
    for scale in _SCALES[unit]:
        if largest >= scale.factor * (10.0 if scale.unit == "s" else 1.0):
            chosen = scale
    if unit == "ms" and chosen is None:
        return _SCALES[unit][0] if 0 < largest < 1 else _SCALES[unit][1]
    return chosen or _SCALES[unit][0]


def decimals(value: float, uncertainty: float | None) -> int:
    """Decimals that show the uncertainty with two significant digits; without one, four of the value."""
    if uncertainty and math.isfinite(uncertainty):
        return min(6, max(0, 1 - math.floor(math.log10(abs(uncertainty)))))
    if value == 0:
        return 0
    return min(6, max(0, 3 - math.floor(math.log10(abs(value)))))


def places_for(value: float, digits: int) -> int:
    """Decimals for so many significant digits."""
    return 0 if abs(value) < 1e-6 else min(6, max(0, digits - 1 - math.floor(math.log10(abs(value)))))


def significant(value: float, digits: int = 3) -> str:
    """Whole numbers keep all of their digits."""
    return fixed(value, places_for(value, digits))


def thousands(n: int) -> str:
    return fixed(n, 0)


def fixed(value: float, places: int) -> str:
    """With thousands set apart, a true minus sign, and no minus zero."""
    text = f"{value:,.{places}f}".replace(",", THIN)
    if text.startswith("-"):
        return text[1:] if not text.strip("-0." + THIN) else MINUS + text[1:]
    return text


def percent(share: float) -> str:
    """Two significant digits: 0.023%, 1.7%, 49%."""
    size = abs(share) * 100
    if size == 0:
        return "0%"
    places = min(3, max(0, 1 - math.floor(math.log10(size))))
    text = f"{size:.{places}f}%"
    return f"{MINUS}{text}" if share < 0 else text


def ms_text(ms: float) -> str:
    """A time without an interval: three significant digits."""
    scale = scale_for("ms", [ms])
    value = ms / scale.factor
    return f"{significant(value)} {scale.unit}"


def bytes_text(size: float) -> str:
    scale = scale_for("bytes", [size])
    value = size / scale.factor
    return f"{value:.0f} {scale.unit}" if scale.unit == "B" or value >= 100 else f"{value:.1f} {scale.unit}"
