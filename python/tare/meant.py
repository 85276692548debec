"""Suggestions for mistyped names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def meant(name: str, known: Iterable[str], otherwise: str) -> str:
    """Next step after an unknown name: the most similar known one, else `otherwise`."""
    close = get_close_matches(name.lower(), list(known), n=1)
    return f"did you mean {close[0]}?" if close else otherwise
