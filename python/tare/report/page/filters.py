"""Numbers, instants and facts as a page shows them: filters of its template."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tare.report.numbers import fixed, thousands
from tare.report.safe import short
from tare.report.words import NOTHING, gigabytes, two_digits


def of_unit(value: float | None, unit: str) -> str:
    if value is None:
        return NOTHING
    return two_digits(value) if unit == "share" else fixed(value, 0)


def significant(value: float) -> str:
    return f"{value:.4g}"


def day(instant: str) -> str:
    return instant[:10]


def instant(text: str) -> str:
    return text[:16].replace("T", " ")


def fact(value: Any, name: str) -> str:
    if value is None:
        return NOTHING
    return gigabytes(value) if name.endswith("_bytes") else short(value)


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


FILTERS: Mapping[str, Callable[..., Any]] = {
    "thousands": thousands, "of_unit": of_unit, "significant": significant, "day": day, "instant": instant,
    "fact": fact, "capital": capital,
}  # fmt: skip
