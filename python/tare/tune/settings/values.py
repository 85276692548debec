"""Values of settings as users write them, in a server's own units."""

from __future__ import annotations

import re
from fractions import Fraction

from tare.errors import UsageError

_ON = ("on", "true", "yes", "1")
_OFF = ("off", "false", "no", "0")

_BYTES = {"B": 1, "kB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
_TIMES = {
    "us": Fraction(1, 1000),
    "ms": Fraction(1),
    "s": Fraction(1000),
    "min": Fraction(60_000),
    "h": Fraction(3_600_000),
    "d": Fraction(86_400_000),
}
_NUMBER = re.compile(r"\s*([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)\s*")
_SUFFIXES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def same(one: str, other: str) -> bool:
    """Whether two texts, both in the server's unit, are one value."""
    if one.strip().lower() == other.strip().lower():
        return True
    for words in (_ON, _OFF):
        if one.lower() in words and other.lower() in words:
            return True
    try:
        return Fraction(one) == Fraction(other)
    except (ValueError, ZeroDivisionError):
        return False


def in_unit(text: str, unit: str | None) -> str:
    """A number with PostgreSQL's units ("64MB", "10ms") in a setting's unit ("8kB", "ms"), rounded as PostgreSQL does.

    What is no number with a unit stays as it is. Raises UsageError for a unit of another kind."""
    match = _NUMBER.fullmatch(text)
    if match is None or not match[2]:
        return text
    factor, base = _sizes(match[2]), _sizes(unit or "")
    if factor is None or base is None or factor[0] != base[0]:
        raise UsageError(f"{text}: the setting has the unit {unit or 'none'}", "give a number in that unit")
    return str(round(Fraction(match[1]) * factor[1] / base[1]))


def _sizes(unit: str) -> tuple[str, Fraction] | None:
    """Kind of the unit and its size. Units of settings may carry a number: 8kB."""
    match = re.fullmatch(r"(\d*)([A-Za-z]+)", unit)
    if match is None:
        return None
    times = int(match[1] or 1)
    if match[2] in _BYTES:
        return "bytes", Fraction(_BYTES[match[2]] * times)
    if match[2] in _TIMES:
        return "time", _TIMES[match[2]] * times
    return None


def plain_number(text: str) -> str | None:
    """A number with MariaDB's suffixes (80M) as digits; None for what is no number."""
    match = _NUMBER.fullmatch(text)
    if match is None or match[2].lower() not in _SUFFIXES:
        return None
    number = Fraction(match[1]) * _SUFFIXES[match[2].lower()]
    return str(number.numerator) if number.denominator == 1 else match[1]
