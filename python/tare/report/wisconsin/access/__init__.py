"""Access paths out of a plan tree: one reader for each DBMS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tare.dbms.base import PlanNode
from tare.report.wisconsin.access import duckdb, mariadb, postgresql, sqlite
from tare.report.wisconsin.access.base import Access, Found, Grouping, Join, Way, node_of
from tare.workload.wisconsin.query import WisconsinQuery

__all__ = ["Access", "Found", "Grouping", "Join", "Way", "found_in"]

_READERS: Mapping[str, Callable[[PlanNode, WisconsinQuery], Found]] = {
    "postgresql": postgresql.read,
    "mariadb": mariadb.read,
    "sqlite": sqlite.read,
    "duckdb": duckdb.read,
}


def found_in(dbms: str, plan: Mapping[str, Any] | None, query: WisconsinQuery) -> Found | None:
    """`plan` as the lab holds it, of this query.

    None: no plan, or a DBMS that Tare has no reader for."""
    reader = _READERS.get(dbms)
    return None if plan is None or reader is None else reader(node_of(plan), query)
