"""PostgreSQL's plan nodes."""

from __future__ import annotations

from tare.dbms.base import PlanNode
from tare.report.wisconsin.access.base import (
    Access,
    Found,
    Grouping,
    Join,
    Way,
    attribute_in,
    nodes,
    through,
)
from tare.workload.wisconsin.kinds import Organisation
from tare.workload.wisconsin.query import WisconsinQuery


def read(root: PlanNode, query: WisconsinQuery) -> Found:
    every = list(nodes(root))
    return Found(
        tuple(access for node in every if (access := _access(node, query)) is not None),
        tuple(join for node in every if (join := _join(node)) is not None),
        next((grouping for node in every if (grouping := _grouping(node)) is not None), None),
    )


def _access(node: PlanNode, query: WisconsinQuery) -> Access | None:
    relation = node.detail.get("Relation Name", "")
    match node.operator:
        case "Seq Scan":
            parallel = "parallel" if node.detail.get("Parallel Aware") == "true" else ""
            return Access(relation, Way.SCAN, by=parallel)
        case "Index Scan":
            return _through(relation, node, query)
        case "Index Only Scan":
            return Access(relation, Way.INDEX_ONLY, _attribute(node))
        case "Bitmap Heap Scan":
            below = next((one for one in nodes(node) if one.operator == "Bitmap Index Scan"), node)
            return _through(relation, below, query, "bitmap")
    return None


def _through(relation: str, node: PlanNode, query: WisconsinQuery, by: str = "") -> Access:
    attribute = _attribute(node)
    way = Way.HASH if query.organisation is Organisation.HASH else through(attribute)
    return Access(relation, way, attribute, by)


def _attribute(node: PlanNode) -> str | None:
    return attribute_in(node.detail.get("Index Name", "")) or attribute_in(node.detail.get("Index Cond", ""))


def _join(node: PlanNode) -> Join | None:
    match node.operator:
        case "Hash Join":
            return Join.HASH
        case "Merge Join":
            return Join.MERGE
        case "Nested Loop":
            inner = [one for child in node.children[1:] for one in nodes(child)]
            by_index = any(one.operator in ("Index Scan", "Index Only Scan") for one in inner)
            return Join.INDEX if by_index else Join.NESTED
    return None


def _grouping(node: PlanNode) -> Grouping | None:
    if node.operator == "Unique" or (
        node.operator in ("Aggregate", "Group") and node.detail.get("Strategy", "Sorted") == "Sorted"
    ):
        below = [one.operator for one in nodes(node)]
        return Grouping.SORT if {"Sort", "Incremental Sort"} & {*below} else Grouping.INDEX_ORDER
    if node.operator == "Aggregate" and node.detail.get("Strategy") in ("Hashed", "Mixed"):
        return Grouping.HASH
    return None
