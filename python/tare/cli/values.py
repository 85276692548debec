"""Values as options spell them: durations, percentages and NAME=VALUE."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tare.errors import UsageError

_UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_DURATION = re.compile(rf"(\d+(?:\.\d+)?|\.\d+)({'|'.join(sorted(_UNITS, key=len, reverse=True))})")
_MOST_PERCENT = 1000.0


def duration(text: str, option: str) -> float:
    """Return the seconds that "500ms" or "2m" names. Raises UsageError."""
    found = _DURATION.fullmatch(text.strip().lower())
    if found is None and text.strip() == "0":
        return 0.0
    if found is None:
        raise UsageError(f"{option} {text}: no duration", "write a number and its unit: 500ms, 60s, 2m or 1h")
    return float(found.group(1)) * _UNITS[found.group(2)]


def long_enough(text: str, option: str) -> float:
    """Return the seconds of a duration above 0. Raises UsageError."""
    seconds = duration(text, option)
    if seconds <= 0:
        raise UsageError(
            f"{option} {text}: nothing happens in no time", "give a duration above 0, such as 60s"
        )
    return seconds


def between(least: str, most: str, text: str, option: str) -> float:
    """Return the seconds of a duration within two others. Raises UsageError."""
    seconds = duration(text, option)
    if not duration(least, option) <= seconds <= duration(most, option):
        raise UsageError(f"{option} {text} is out of bounds", f"give a duration from {least} to {most}")
    return seconds


def percentage(text: str, option: str) -> float:
    """Return the share that "5%" names, 0.05. Raises UsageError for what is no percentage above 0."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)%", text.replace(" ", ""))
    if found is None or not 0 < float(found[1]) <= _MOST_PERCENT:
        raise UsageError(
            f"{option} {text}: not a percentage from above 0 to {_MOST_PERCENT:g}", f"write e.g. {option} 5%"
        )
    return float(found[1]) / 100


def pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """Return values by name. Raises UsageError for what is no pair, and for a name that is given twice."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise UsageError(f"{option} {text} is no NAME=VALUE", f"write e.g. {option} work_mem=64MB")
        if name in found:
            raise UsageError(f"{option} {name} is given twice", "leave one of the two out")
        found[name] = value
    return found
