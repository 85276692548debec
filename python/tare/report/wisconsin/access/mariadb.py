"""MariaDB's plan objects. InnoDB keeps a table in its primary key's order, so that key is the clustered index."""

from __future__ import annotations

from collections.abc import Iterator

from tare.dbms.base import PlanNode
from tare.report.wisconsin.access.base import (
    END,
    Access,
    Found,
    Grouping,
    Join,
    Way,
    attribute_in,
    nodes,
    through,
)
from tare.workload.wisconsin.query import WisconsinQuery

_FROM_INDEX_ENDS = "Select tables optimized away"


def read(root: PlanNode, query: WisconsinQuery) -> Found:
    every = list(nodes(root))
    return Found(
        tuple(access for node in every if (access := _access(node)) is not None),
        tuple(_joins(every)),
        _grouping([node.operator for node in every]),
    )


def _access(node: PlanNode) -> Access | None:
    detail = node.detail
    if node.operator != "table":
        return None
    if detail.get("message") == _FROM_INDEX_ENDS:
        return Access("", Way.INDEX_ONLY, by=END)
    relation, kind = detail.get("table_name", ""), detail.get("access_type")
    if kind is None or relation.startswith("<"):
        return None  # what is inserted into, or a derived table
    if kind == "ALL":
        return Access(relation, Way.SCAN)
    key = detail.get("key", "")
    attribute = attribute_in(detail.get("used_key_parts", "")) or attribute_in(key)
    way = Way.CLUSTERED if key == "PRIMARY" else through(attribute)
    if detail.get("using_index") == "true" and key != "PRIMARY":
        way = Way.INDEX_ONLY
    return Access(relation, way, attribute, "all of it" if kind == "index" else "")


def _joins(every: list[PlanNode]) -> Iterator[Join]:
    for loop in (node for node in every if node.operator == "nested_loop"):
        for inner in loop.children[1:]:
            kind = inner.detail.get("join_type", "")
            if "H" in kind:  # BNLH, BKAH: the join buffer is hashed
                yield Join.HASH
            elif inner.operator == "block-nl-join":
                yield Join.NESTED
            else:
                by_index = any(node.detail.get("access_type", "ALL") != "ALL" for node in nodes(inner))
                yield Join.INDEX if by_index else Join.NESTED


def _grouping(operators: list[str]) -> Grouping | None:
    if "temporary_table" in operators:
        return Grouping.TEMPORARY
    return Grouping.SORT if {"filesort", "duplicate_removal"} & {*operators} else None
