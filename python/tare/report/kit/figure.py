"""A number as every report shows it: its digits follow its interval, and its unit fits its size."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from tare.report.kit.blocks import Cell, Tone
from tare.report.numbers import Scale, decimals, fixed, places_for, scale_for
from tare.report.words import NOTHING

MOST_DECIMALS = 3  # except for what is smaller: a microsecond where milliseconds are shown
LEAST_PERCENT = 0.005  # what is below it is 0%

UNITS = (
    "ns", "µs", "ms", "s", "min", "h", "d", "B", "KiB", "MiB", "GiB", "k", "M", "G", "Hz", "CPU", "CPUs",
)  # fmt: skip
_APART = re.compile(rf"(?<=\d) (?=(?:{'|'.join(UNITS)})(?:/s|²)?(?![\w-]))")
_INTERVAL = re.compile(r"(?<=\[)([^][\s]+,) (?=[^][\s]+\])")
JOINED = "\u00a0"


def joined_units(text: str) -> str:
    """The text with each number and its unit, and the ends of an interval, held together by a no-break space."""
    return _INTERVAL.sub(rf"\1{JOINED}", _APART.sub(JOINED, text))


@runtime_checkable
class Interval(Protocol):
    """A figure of a document."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its 95% interval. `n`: readings behind it; `spread`: sets the digits where there is no interval;
    `digits`: significant digits that the instrument resolves. `unit`: "share" is shown in per cent."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    unit: str = ""
    spread: float | None = None
    digits: int = 6

    @classmethod
    def read(cls, found: Interval | float | None, unit: str) -> Figure:
        """From a document."""
        if isinstance(found, Interval):
            return cls(found.value, found.low, found.high, unit=unit)
        return cls(found, unit=unit)

    @property
    def scale(self) -> Scale:
        return scale_for(self.unit, [one for one in (self.value, self.low, self.high) if one is not None])

    def cell(self, scale: Scale | None = None, *, bare: bool = False, tone: Tone = Tone.PLAIN) -> Cell:
        """In this scale, else in the one that fits. `bare`: without the unit, which then stands in a heading."""
        if self.value is None:
            return Cell(NOTHING, tone=tone)
        scale = scale or self.scale
        value = self.value / scale.factor
        places = self._places(value, scale.factor)
        interval = ""
        if self.low is not None and self.high is not None:
            low, high = (
                fixed(bound, min(places, max(0, places_for(bound, self.digits))))
                for bound in (self.low / scale.factor, self.high / scale.factor)
            )
            interval = f"[{low}, {high}]"
        if scale.unit == "%":
            return Cell(f"{fixed(value, places)}%", "", interval, tone=tone)
        return Cell(fixed(value, places), "" if bare else scale.unit, interval, tone=tone)

    def _places(self, value: float, factor: float) -> int:
        """Decimals for two significant digits of the interval's half, within what the instrument resolves."""
        if self.unit == "processes" and value == int(value):
            return 0
        known = self.low is not None and self.high is not None
        half = (self.high - self.low) / 2 if known else self.spread or 0.0  # type: ignore[operator]
        if self.unit == "share":
            return _share_places(value, half / factor)
        if not known and not half:
            return places_for(value, min(3, self.digits))
        largest = max(abs(one) for one in (self.value, self.low, self.high) if one is not None) / factor
        most = max(MOST_DECIMALS, places_for(largest, 3))
        places = min(decimals(value, half / factor or None), most, places_for(largest, self.digits))
        return max(places, min(MOST_DECIMALS, places_for(value, 1)))

    @property
    def text(self) -> str:
        """In running text: "11.2 ms [10.9, 11.5]"."""
        return self.cell().text


def _share_places(percent: float, half: float) -> int:
    """Decimals for one significant digit of the interval's half, or two of the value; two decimals at most."""
    if half >= LEAST_PERCENT:
        return min(2, max(0, -math.floor(math.log10(half))))
    return min(2, places_for(percent, 2)) if abs(percent) >= LEAST_PERCENT else 0
