"""EXPLAIN (FORMAT JSON, COSTS OFF) → plan tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tare.dbms.base import PlanNode
from tare.dbms.statement import without_literals

# Every key of a node is kept but its children: with COSTS OFF what is left names the plan, and
# keys of later versions are kept too. Values of these keys are names, not expressions.
_NAMES = frozenset({"Relation Name", "Index Name", "Schema", "Alias", "CTE Name", "Function Name"})

# "Disabled" (18) marks a node that enable_* settings forbid: a cost, not a shape.
_DROPPED = frozenset({"Plans", "Node Type", "Disabled"})


UTILITY = PlanNode("Utility Statement")


def tree(plan: Mapping[str, Any]) -> PlanNode:
    detail = {key: _shown(key, value) for key, value in plan.items() if key not in _DROPPED}
    return PlanNode(
        operator=str(plan["Node Type"]),
        detail=detail,
        children=tuple(tree(child) for child in plan.get("Plans", ())),
    )


def root(explained: Sequence[Any]) -> PlanNode:
    """The first statement's tree (a rewrite rule can add others below it). Utility commands have none."""
    trees = [
        tree(entry["Plan"]) if isinstance(entry, Mapping) and "Plan" in entry else UTILITY
        for entry in explained
    ]
    if len(trees) == 1:
        return trees[0]
    return PlanNode("Rewritten Statement", children=tuple(trees))


def changes_data(node: PlanNode) -> bool:
    """INSERT, UPDATE, DELETE, MERGE (also inside WITH), and row locks, which write to the table."""
    return node.operator in ("ModifyTable", "LockRows") or any(changes_data(child) for child in node.children)


def workers_planned(node: PlanNode) -> int:
    own = int(node.detail.get("Workers Planned", "0"))
    return own + sum(workers_planned(child) for child in node.children)


def _shown(key: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        return ", ".join(_shown(key, part) for part in value)
    return str(value) if key in _NAMES else without_literals(str(value))
