"""Sizes and rates as options give them: 512MiB, 100Mbit."""

from __future__ import annotations

import re

from tare.errors import UsageError

_SIZES = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 10**3, "MB": 10**6, "GB": 10**9}
_RATES = {"kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9}
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)")


def size_bytes(text: str, option: str) -> int:
    """Return the bytes of a size. Raises UsageError."""
    return _value(text, option, _SIZES, "512MiB")


def rate_bits(text: str, option: str) -> int:
    """Return the bits per second of a rate. Raises UsageError."""
    return _value(text, option, _RATES, "100Mbit")


def size_text(size: int) -> str:
    """Return a size in the largest binary unit that leaves at least one."""
    unit, factor = next(
        ((unit, _SIZES[unit]) for unit in ("GiB", "MiB", "KiB") if size >= _SIZES[unit]), ("B", 1)
    )
    return f"{size / factor:.4g} {unit}"


def rate_text(rate: int) -> str:
    """Return a rate in the largest unit that leaves at least one."""
    unit, factor = next(
        ((unit, _RATES[unit]) for unit in ("Gbit", "Mbit", "kbit") if rate >= _RATES[unit]), ("bit", 1)
    )
    return f"{rate / factor:.4g} {unit}/s"


def _value(text: str, option: str, units: dict[str, int], example: str) -> int:
    match = _NUMBER.fullmatch(text.strip())
    factor = next((units[unit] for unit in units if match and unit.lower() == match.group(2).lower()), None)
    if match is None or factor is None:
        raise UsageError(
            f'{option} "{text}" is not a number with one of the units {", ".join(units)}',
            f"write e.g. {option} {example}",
        )
    return round(float(match.group(1)) * factor)
