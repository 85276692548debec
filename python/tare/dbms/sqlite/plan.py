"""EXPLAIN QUERY PLAN → plan tree. SQLite shows no costs there, and `?` for every constant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tare.dbms.embedded.engine import Explained

# "SEARCH a USING INDEX ix (g=?)": the operator, then what it works on.
_WITH_OBJECT = re.compile(r"^(SCAN|SEARCH|CO-ROUTINE|MATERIALIZE|REUSE SUBQUERY|RECURSIVE STEP) (.+)$")


def explained(rows: Sequence[tuple[Any, ...]]) -> Explained:
    """Rows are (id, parent id, unused, text); parents stand before their children."""
    root: tuple[str, dict[str, str], list[Any]] = ("QUERY PLAN", {}, [])
    nodes = {0: (root, 0)}
    lines = [root[0]]
    for number, parent, _, text in rows:
        above, depth = nodes[parent]
        match = _WITH_OBJECT.match(text)
        node: tuple[str, dict[str, str], list[Any]] = (
            (match.group(1), {"on": match.group(2)}, []) if match else (text, {}, [])
        )
        above[2].append(node)
        nodes[number] = (node, depth + 1)
        lines.append("  " * (depth + 1) + text)
    return Explained(tree=root, text="\n".join(lines))
