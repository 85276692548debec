"""NAME=VALUE, as options give settings."""

from __future__ import annotations

from collections.abc import Sequence

from tare.errors import UsageError


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
