"""Percentages, as options give them."""

from __future__ import annotations

import re

from tare.errors import UsageError

_MOST = 1000.0


def percentage(text: str, option: str) -> float:
    """Return the share that "5%" names, 0.05. Raises UsageError for what is no percentage above 0."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)%", text.replace(" ", ""))
    if found is None or not 0 < float(found[1]) <= _MOST:
        raise UsageError(
            f"{option} {text}: not a percentage from above 0 to {_MOST:g}", f"write e.g. {option} 5%"
        )
    return float(found[1]) / 100
