"""DuckDB's physical plan. Whether a scan goes through an index it decides when the statement runs: with an index
on what is asked for, EXPLAIN says “Sequential Scan” all the same, and the plan cannot tell."""

from __future__ import annotations

from tare.dbms.base import PlanNode
from tare.report.wisconsin.access.base import UNTOLD, Access, Found, Grouping, Join, Way, attribute_in, nodes
from tare.workload.wisconsin.kinds import Organisation
from tare.workload.wisconsin.query import Class, WisconsinQuery

_JOINS = {
    "HASH_JOIN": Join.HASH,
    "PIECEWISE_MERGE_JOIN": Join.MERGE,
    "IE_JOIN": Join.MERGE,
    "NESTED_LOOP_JOIN": Join.NESTED,
    "BLOCKWISE_NL_JOIN": Join.NESTED,
    "CROSS_PRODUCT": Join.NESTED,
}


def read(root: PlanNode, query: WisconsinQuery) -> Found:
    every = list(nodes(root))
    accesses = [access for node in every if (access := _access(node, query)) is not None]
    if query.klass is Class.AGGREGATE and not accesses:  # what is left in the plan is the answer itself
        accesses.append(Access("", Way.STATISTICS))
    return Found(
        tuple(accesses),
        tuple(_JOINS.get(node.operator, Join.OTHER) for node in every if "JOIN" in node.operator),
        Grouping.HASH if any("HASH_GROUP_BY" in node.operator for node in every) else None,
    )


def _access(node: PlanNode, query: WisconsinQuery) -> Access | None:
    if node.operator not in ("SEQ_SCAN", "TABLE_SCAN", "INDEX_SCAN"):
        return None
    relation = node.detail.get("Table", "").rpartition(".")[2]
    if "Index" in node.detail.get("Type", node.operator):
        return Access(relation, Way.NONCLUSTERED, by="an ART index")
    attribute = (
        attribute_in(node.detail.get("Filters", "")) if query.organisation is not Organisation.HEAP else None
    )
    return Access(relation, Way.UNTOLD, attribute, UNTOLD) if attribute else Access(relation, Way.SCAN)
