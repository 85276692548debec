"""Places of the ten variants of a query in its relation.

They must be one query to every DBMS, with one plan. So a range at the relation's edge stays there in all: a
DBMS that knows a column's least value drops the bound that excludes nothing, and has another plan for it than for a
range in the middle.
"""

from __future__ import annotations

from tare.workload.wisconsin.naming import VARIANTS

DEFINED_FOR = 10_000
"""The size that the papers give their constants for; at another they move in proportion."""


def low(rows: int, width: int, first: int, turn: int) -> int:
    """The least key of a range of `width` keys: `first` in the first variant, further on in each."""
    start = min(scaled(rows, first), rows - width)
    return start + turn * (rows - width - start) // VARIANTS if start else 0


def key(rows: int, first: int, turn: int) -> int:
    """Return a key: `first` in the first variant, a tenth of the relation further in each."""
    return (scaled(rows, first) + turn * rows // VARIANTS) % rows


def scaled(rows: int, constant: int) -> int:
    return constant * rows // DEFINED_FOR
