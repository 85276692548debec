"""Ratios, powers, times and queries in words, and in few letters for axes and heads of tables."""

from __future__ import annotations

import re

from tare.report.numbers import MINUS, decimals, fixed
from tare.report.wisconsin.document import Ratio, Slope, Time
from tare.report.words import NOTHING
from tare.workload.wisconsin.kinds import Organisation
from tare.workload.wisconsin.query import WisconsinQuery

_SCALES = ((1.0, "s", 1e3), (1.0, "ms", 1.0), (0.0, "µs", 1e-3))


def times(ratio: Ratio) -> str:
    """1.34 [1.30, 1.38] times"""
    return f"{factor(ratio)} times"


def factor(ratio: Ratio) -> str:
    """1.34 [1.30, 1.38]"""
    if ratio.low is None or ratio.high is None:
        return f"{_number(ratio.estimate, None)} (too few QEs for an interval)"
    half = (ratio.high - ratio.low) / 2
    low, high = (_number(bound, half) for bound in (ratio.low, ratio.high))
    return f"{_number(ratio.estimate, half)} [{low}, {high}]"


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


def _number(value: float, half: float | None) -> str:
    return fixed(value, decimals(value, half or value / 50))


def power(slope: Slope) -> str:
    """0.98 [0.95, 1.02]"""
    if slope.low is None or slope.high is None:
        return f"{slope.slope:.2f}"
    return f"{slope.slope:.2f} [{slope.low:.2f}, {slope.high:.2f}]".replace("-", MINUS)


def ms(time: Time | None) -> tuple[str, str]:
    """Median and interval in ms, no more digits than the interval carries; "–" where there is none."""
    if time is None or time.ms is None:
        return NOTHING, ""
    low, high = time.low_ms, time.high_ms
    half = (high - low) / 2 if low is not None and high is not None else None
    places = min(3, decimals(time.ms, half or time.ms / 50))
    if half is None or low is None or high is None:
        return fixed(time.ms, places), ""
    return fixed(time.ms, places), f"[{fixed(low, places)}, {fixed(high, places)}]"


def of_ms(value: float) -> str:
    """In a unit of its size, to three digits: "1.93 ms", "18 000 s"."""
    _, unit, factor_ = next(one for one in _SCALES if value / one[2] >= one[0])
    shown = value / factor_
    return f"{fixed(float(f'{shown:.3g}'), max(0, 2 - len(str(int(shown))) + 1))} {unit}"


_ORGANISATIONS = {
    Organisation.HEAP: "heap",
    Organisation.CLUSTERED: "clustered",
    Organisation.NONCLUSTERED: "non-clustered",
    Organisation.HASH: "hash",
}

_OPERATIONS = (
    (re.compile(r"^select_(\d+)pct"), r"\1%"),
    (re.compile(r"^select_1tuple"), "1 tuple"),
    (re.compile(r"^project_(\d+)pct"), r"\1% kept"),
    (re.compile(r"^(min|sum)_100_partitions"), r"\1 by 100"),
    (re.compile(r"_scalar$"), " of key"),
    (re.compile(r"_screen$"), " to screen"),
    (re.compile(r"_nonkey$"), " non-key"),
    (re.compile(r"_"), " "),
)


def organisation(of: Organisation) -> str:
    return _ORGANISATIONS[of]


def operation(name: str) -> str:
    """1%, 1 tuple to screen, joinAselB, min by 100, modify key, …"""
    for pattern, text in _OPERATIONS:
        name = pattern.sub(text, name)
    return name


def label(query: WisconsinQuery) -> str:
    """With its number in 1993: "q5 1%, non-clustered"."""
    number = f"q{query.number} " if query.number is not None else ""
    return f"{number}{operation(query.operation)}, {organisation(query.organisation)}"
