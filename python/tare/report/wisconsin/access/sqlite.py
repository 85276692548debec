"""SQLite's query plan. It joins by nested loops alone; without an index it may build one for the query."""

from __future__ import annotations

import re
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
from tare.workload.wisconsin.kinds import Organisation
from tare.workload.wisconsin.query import WisconsinQuery
from tare.workload.wisconsin.relations import KEY

_OBJECT = re.compile(r"^(?P<relation>\S+)(?: AS \S+)?(?: USING (?P<using>.+))?$")


def read(root: PlanNode, query: WisconsinQuery) -> Found:
    every = list(nodes(root))
    accesses = [access for node in every if (access := _access(node, query)) is not None]
    return Found(tuple(accesses), tuple(_joins(accesses)), _grouping(every))


def _access(node: PlanNode, query: WisconsinQuery) -> Access | None:
    if node.operator not in ("SCAN", "SEARCH"):
        return None
    found = _OBJECT.match(node.detail.get("on", ""))
    if found is None:
        return None
    relation, using = found["relation"], found["using"]
    if using is None:
        if (
            node.operator == "SEARCH" and query.organisation is not Organisation.HEAP
        ):  # of a rowid table: its B-tree is the clustered index
            return Access(relation, Way.CLUSTERED, KEY, END)
        return Access(relation, Way.SCAN)
    attribute = attribute_in(using)
    if using.startswith("INTEGER PRIMARY KEY"):
        return Access(relation, Way.CLUSTERED, KEY)
    if using.startswith("AUTOMATIC"):
        return Access(relation, Way.BUILT, attribute)
    if using.startswith("COVERING INDEX"):
        return Access(relation, Way.INDEX_ONLY, attribute)
    return Access(relation, through(attribute), attribute, "all of it" if node.operator == "SCAN" else "")


def _joins(accesses: list[Access]) -> Iterator[Join]:
    for inner in accesses[1:]:
        yield Join.NESTED if inner.way is Way.SCAN else Join.INDEX


def _grouping(every: list[PlanNode]) -> Grouping | None:
    sorts = ("USE TEMP B-TREE FOR DISTINCT", "USE TEMP B-TREE FOR GROUP BY")
    return Grouping.BTREE if any(node.operator.startswith(sorts) for node in every) else None
