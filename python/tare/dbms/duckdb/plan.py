"""EXPLAIN (FORMAT json) → plan tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tare.dbms.statement import without_literals

_COSTS = frozenset({"Estimated Cardinality"})
_NAMES = frozenset({"Table", "Index", "Type", "Join Type", "Function", "Name"})


def tree(plans: Sequence[Mapping[str, Any]]) -> tuple[str, dict[str, str], list[Any]]:
    nodes = [_node(plan) for plan in plans]
    return nodes[0] if len(nodes) == 1 else ("Plans", {}, list(nodes))


def _node(plan: Mapping[str, Any]) -> tuple[str, dict[str, str], list[Any]]:
    detail = {
        key: _shown(key, value) for key, value in plan.get("extra_info", {}).items() if key not in _COSTS
    }
    return str(plan["name"]).strip(), detail, [_node(child) for child in plan.get("children", ())]


def _shown(key: str, value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_shown(key, part) for part in value)
    return str(value) if key in _NAMES else without_literals(str(value))
