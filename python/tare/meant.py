"""The name that a mistyped one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def meant(name: str, known: Iterable[str], otherwise: str) -> str:
    """The next step after a name that is not among the known ones: the one it is like, or else `otherwise`."""
    close = get_close_matches(name.lower(), list(known), n=1)
    return f"did you mean {close[0]}?" if close else otherwise
