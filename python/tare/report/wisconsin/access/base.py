"""How a query comes at its tuples, joins them and removes duplicates: what a plan tells, in the benchmark's words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tare.dbms.base import PlanNode
from tare.workload.wisconsin.relations import KEY


class Way(StrEnum):
    """To a relation's tuples."""

    SCAN = "heap scan"
    CLUSTERED = "clustered index"
    NONCLUSTERED = "non-clustered index"
    HASH = "hash index"
    INDEX_ONLY = "index only"  # the tuples themselves are not read
    BUILT = "index built for the query"
    STATISTICS = "the column's statistics"  # the relation and its indexes are not read
    UNTOLD = "scan or index"  # chosen only when the statement runs: the plan does not tell

    @classmethod
    def indexes(cls) -> tuple[Way, ...]:
        return (cls.CLUSTERED, cls.NONCLUSTERED, cls.HASH, cls.INDEX_ONLY, cls.BUILT)


END = "its end alone"  # of an index: the least value is the first

UNTOLD = "the plan does not tell"


class Join(StrEnum):
    HASH = "hash join"
    MERGE = "merge join"
    INDEX = "nested loop over an index"
    NESTED = "nested loop over every pair"
    OTHER = "another kind of join"


class Grouping(StrEnum):
    """Grouping of equal tuples: to keep one of each, or to aggregate them."""

    SORT = "sort"
    HASH = "hash table"
    BTREE = "temporary B-tree"
    TEMPORARY = "temporary table with a key"
    INDEX_ORDER = "an index's order"


@dataclass(frozen=True, slots=True)
class Access:
    """To one relation, which is named as the plan names it."""

    relation: str
    way: Way
    attribute: str | None = None  # of the index
    by: str = ""  # more on the way: "bitmap"

    @property
    def text(self) -> str:
        of = f" on {self.attribute}" if self.attribute else ""
        return f"{self.way}{of}{f' ({self.by})' if self.by else ''}"


@dataclass(frozen=True, slots=True)
class Found:
    accesses: tuple[Access, ...] = ()
    joins: tuple[Join, ...] = ()
    grouping: Grouping | None = None

    @property
    def text(self) -> str:
        """For a cell of a table; empty where the plan holds none of it."""
        parts = list(dict.fromkeys(one.text for one in self.accesses))
        parts += _counted(self.joins)
        parts += [f"groups by {self.grouping}"] if self.grouping else []
        return "; ".join(parts)

    @property
    def may_use_index(self) -> bool:
        by_index = Join.INDEX in self.joins or self.grouping is Grouping.INDEX_ORDER
        return by_index or self.uses(*Way.indexes(), Way.UNTOLD)

    def uses(self, *ways: Way) -> bool:
        return any(one.way in ways for one in self.accesses)


def _counted(joins: tuple[Join, ...]) -> list[str]:
    return [
        f"{joins.count(one)} × {one}" if joins.count(one) > 1 else str(one) for one in dict.fromkeys(joins)
    ]


def through(attribute: str | None) -> Way:
    """Return which of the benchmark's indexes it is, by what it is on: only that on unique2 is clustered."""
    return Way.CLUSTERED if attribute is not None and attribute.lower() == KEY else Way.NONCLUSTERED


_ATTRIBUTE = re.compile(r"(unique[12]|onepercent|hundred)", re.IGNORECASE)


def attribute_in(text: str) -> str | None:
    """The indexed attribute that an index's name or condition speaks of."""
    found = _ATTRIBUTE.search(text)
    return found.group(1).lower().replace("onepercent", "onePercent") if found else None


def node_of(tree: Mapping[str, Any]) -> PlanNode:
    """The plan as a lab holds it."""
    return PlanNode(
        str(tree["operator"]),
        {str(key): str(value) for key, value in tree.get("detail", {}).items()},
        tuple(node_of(child) for child in tree.get("children", ())),
    )


def nodes(root: PlanNode) -> Iterator[PlanNode]:
    """From the root downwards, the first child first."""
    yield root
    for child in root.children:
        yield from nodes(child)
