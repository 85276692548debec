"""Numbers, lists and names in running text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tare.report.safe import short

NOTHING = "–"
"""In the place of what is not there."""

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip


def two_digits(share: float) -> str:
    """A percentage to two significant digits, as TTPv2 §9 asks: 0.023%, 1.7%, 49%, 100%."""
    size = share * 100
    if size == 0:
        return "0%"
    rounded = float(f"{size:.2g}")
    if 0 < size < 100 and rounded >= 100:
        return "more than 99%"
    return f"{rounded:.{max(0, 1 - math.floor(math.log10(abs(rounded))))}f}%"


def one_decimal(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.1f}"


def number(n: int) -> str:
    """In words up to twelve."""
    return _SMALL[n] if 0 <= n < len(_SMALL) else f"{n:,}"


def counted(n: int, one: str, many: str | None = None) -> str:
    return f"{number(n)} {one if n == 1 else many or one + 's'}"


def joined(parts: Sequence[str]) -> str:
    """a, b and c"""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""


def sentence(text: str) -> str:
    """With a capital and a full stop, whatever it came with."""
    text = " ".join(text.split()).rstrip(".;")
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def gigabytes(size: int | float) -> str:
    return f"{size / 2**30:.1f}".removesuffix(".0") + " GiB"


_DBMSES = {
    "postgresql": "PostgreSQL",
    "mariadb": "MariaDB",
    "mysql": "MySQL",
    "sqlite": "SQLite",
    "duckdb": "DuckDB",
}


def dbms_name(dbms: str) -> str:
    """Return the DBMS's name as its makers write it."""
    return _DBMSES.get(dbms, dbms)


_PROTOCOLS = {"ttp1": "TTPv1", "ttp2": "TTPv2", "exact": "exact protocol"}


def protocol_name(protocol: str) -> str:
    """Name of a protocol where there is little room: in tables and captions."""
    return _PROTOCOLS.get(protocol, protocol)


def fact(value: Any, name: str) -> str:
    """Return the value of a fact about a machine or a run, by whose name its unit is known."""
    if value is None:
        return NOTHING
    return gigabytes(value) if name.endswith("_bytes") else short(value)
