"""Durations on the command line: `250ms`, `10s`, `2m`, `1h`, or plain seconds."""

from __future__ import annotations

import re
from collections.abc import Callable

from tare.errors import UsageError

MOST_S = 1e6
"""Eleven days: the longest time-out that every DBMS accepts."""

_UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_DURATION = re.compile(rf"(\d+(?:\.\d+)?|\.\d+)\s*({'|'.join(sorted(_UNITS, key=len, reverse=True))})?")


def seconds(text: str, option: str, *, least: float = 0.0) -> float:
    """Parse a duration. Raises UsageError, also for one below `least` seconds or above `MOST_S`."""
    parsed = _DURATION.fullmatch(text.strip().lower())
    if parsed is None:
        raise UsageError(
            f"{option} {text}: not a duration",
            "write a number and a unit: 250ms, 10s, 2m, 1h; or seconds: 10",
        )
    value = float(parsed.group(1)) * _UNITS[parsed.group(2) or "s"]
    if value < least:
        raise UsageError(f"{option} {text}: too short", f"give at least {shown(least)}")
    if value > MOST_S:
        raise UsageError(f"{option} {text}: too long", f"give at most {shown(MOST_S)}")
    return value


def parser(option: str, least: float) -> Callable[[object], float]:
    """The parser of one option. It also receives the option's default, which is in seconds already."""

    def parse(value: object) -> float:
        return float(value) if isinstance(value, int | float) else seconds(str(value), option, least=least)

    return parse


def shown(value: float) -> str:
    """A duration as a user may write it: 1ms, 10s."""
    return f"{value * 1e3:g}ms" if 0 < value < 1 else f"{value:.10g}s"
