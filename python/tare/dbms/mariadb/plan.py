"""EXPLAIN FORMAT=JSON (MariaDB's and MySQL's) → plan tree.

Both write objects within objects: an object or a list of objects under a name is a child
operator of that name, everything else is detail, unless it is a cost or an estimate.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tare.dbms.base import PlanNode
from tare.dbms.statement import without_literals

_COSTS = frozenset(
    {
        "cost", "rows", "loops", "filtered", "cost_info", "query_cost", "buffer_size", "r_buffer_size",
        "rows_examined_per_scan", "rows_produced_per_join", "data_read_per_join", "query_plan", "query",
        "estimated_rows", "estimated_total_cost", "estimated_first_row_cost", "json_schema_version",
        "possible_keys", "used_columns", "message_cost", "rows_estimation",
    }
)  # fmt: skip

# MariaDB does not escape what its constants hold as JSON asks: a value is all that stands
# between `"key": "` and a quote at the end of a line.
_VALUE = re.compile(r'^(\s*"\w+": )"(.*?)"(,?)$', re.MULTILINE | re.DOTALL)

_NAMES = frozenset({"table_name", "access_type", "key", "ref", "used_key_parts", "join_type", "mrr_type"})


def parsed(text: str) -> PlanNode:
    explained = json.loads(_VALUE.sub(_escaped, text))
    children = _children(explained)
    return children[0] if len(children) == 1 else PlanNode("query", children=tuple(children))


def _escaped(value: re.Match[str]) -> str:
    """A quote within a constant becomes SQL's doubled one; so its end can still be found."""
    return value.group(1) + json.dumps(value.group(2).replace("\\'", "''")) + value.group(3)


def _node(operator: str, values: Mapping[str, Any]) -> PlanNode:
    detail = {
        key: _shown(key, value) for key, value in values.items() if key not in _COSTS and not _is_child(value)
    }
    return PlanNode(operator, detail, tuple(_children(values)))


def _children(values: Mapping[str, Any]) -> list[PlanNode]:
    found: list[PlanNode] = []
    for key, value in values.items():
        if key in _COSTS or not _is_child(value):
            continue
        parts = value if isinstance(value, list) else [value]
        if isinstance(value, list):
            found.append(PlanNode(key, children=tuple(_step(key, part) for part in parts)))
        else:
            found.append(_node(key, value))
    return found


def _step(key: str, part: Mapping[str, Any]) -> PlanNode:
    """An element of a list; most hold one operator, which then stands for itself."""
    if len(part) == 1 and _is_child(next(iter(part.values()))):
        return _children(part)[0]
    return _node(f"{key} element", part)


def _is_child(value: object) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and all(isinstance(part, Mapping) for part in value)
    )


def _shown(key: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(_shown(key, part) for part in value)
    return str(value) if key in _NAMES or not isinstance(value, str) else without_literals(value)
