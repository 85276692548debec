"""Medians of many groups at once, by counting places: the same numbers on every engine."""

from __future__ import annotations

from typing import Any

import ibis
import ibis.expr.types as ir

from tare.protocol.statistics import CONFIDENCE, median_ranks


def placed(table: ir.Table, group: str, value: str) -> ir.Table:
    """With the value's `<value>_place` in its group, from 1, and the group's `<value>_n`.
    Give no rows in which the value is NULL."""
    upward = ibis.window(group_by=[group], order_by=[value, "qe_id"])
    return table.mutate(
        **{
            f"{value}_place": ibis.row_number().over(upward) + 1,
            f"{value}_n": table[value].count().over(ibis.window(group_by=[group])),
        }
    )


def median(table: ir.Table, value: str) -> Any:
    """The aggregate: the middle one, or the mean of the middle two."""
    place, n = table[f"{value}_place"], table[f"{value}_n"]
    return table[value].mean(where=(place == (n + 1) // 2) | (place == n // 2 + 1))


def bounds(table: ir.Table, value: str, largest: int) -> tuple[Any, Any]:
    """The aggregates: the distribution-free 95% interval of the median; NULL where no two order
    statistics reach it. `largest`: no group has more values."""
    place, n = table[f"{value}_place"], table[f"{value}_n"]
    rank = _rank(n, largest)
    low = table[value].max(where=(rank > 0) & (place == rank))
    high = table[value].max(where=(rank > 0) & (place == n - rank + 1))
    return low, high


def _rank(n: Any, largest: int) -> Any:
    """`median_ranks` as steps: each group size at which the rank goes up adds one."""
    rank: Any = ibis.literal(0)
    before = 0
    for size in range(1, largest + 1):
        found = median_ranks(size, CONFIDENCE)
        now = found[0] if found else 0
        if now > before:  # by one: the rank grows slower than the group
            rank = rank + (n >= size).cast("int64")
        before = now
    return rank
