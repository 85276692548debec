"""Circles in a graph of imports."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count


def circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """Strongly connected modules (Tarjan)."""
    number, low, stack, found, next_ = {}, {}, [], [], count()

    def visit(node: str) -> None:
        number[node] = low[node] = next(next_)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            circle = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(circle) > 1:
                found.append(sorted(circle))

    for node in sorted(edges):
        if node not in number:
            visit(node)
    return found
