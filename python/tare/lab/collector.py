"""Python's cyclic garbage collector, asked to look more seldom while expressions are built and compiled."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_SELDOM = (50_000, 20, 50)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """An analysis makes trees of a million small objects, and hardly one is garbage before the end: to look
    through them as often as usual takes a fifth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
