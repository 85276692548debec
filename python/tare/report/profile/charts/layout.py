"""Places of the paths' rectangles in an icicle.

Own shares of covariance add up to 100%, so they can be widths; but some are negative. Those that are positive stand
right of zero, those that are negative left of it, in an icicle of their own: right less left is 100%. A path that has
both below it is on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tare.report.profile.document import Node
from tare.report.profile.tree import is_one_call, title


@dataclass(frozen=True, slots=True)
class Place:
    """Shares of Var(T): `low` to `high`, both of one sign."""

    node: Node
    low: float
    high: float
    positive: bool


def places(nodes: Sequence[Node], least: float, levels: int) -> list[Place]:
    """None narrower than `least`, which leaves its place empty, and none below so many levels."""
    found: list[Place] = []
    for sign in (1.0, -1.0):
        widths = _widths(nodes, sign)
        found += _placed(nodes, widths, 0, 0.0, least, levels, sign) if nodes else ()
    return _once(nodes, found) if is_one_call(nodes) else found


def _once(nodes: Sequence[Node], found: Sequence[Place]) -> list[Place]:
    """Without the transaction, whose one call stands for it, a level higher."""
    names = {nodes[0].children[0]: title(nodes[0], nodes[nodes[0].children[0]])}
    shown = [one for one in found if one.node.path]
    return [
        replace(
            one,
            node=one.node.model_copy(
                update={"depth": one.node.depth - 1, "name": names.get(one.node.path, one.node.name)}
            ),
        )
        for one in shown
    ]


def _widths(nodes: Sequence[Node], sign: float) -> list[float]:
    """Return by node the sum of own shares of one sign, its own and of all below it."""
    found = [max(0.0, sign * _own(one)) for one in nodes]
    for node in reversed(nodes):
        if node.parent is not None:
            found[node.parent] += found[node.path]
    return found


def _placed(
    nodes: Sequence[Node],
    widths: Sequence[float],
    path: int,
    begin: float,
    least: float,
    levels: int,
    sign: float,
) -> Iterator[Place]:
    """`begin`: how far from zero. The widest child is next to it, the own share at the far end."""
    width = widths[path]
    if width <= 0 or width < least or not levels:
        return
    near, far = sign * begin, sign * (begin + width)
    yield Place(nodes[path], min(near, far), max(near, far), sign > 0)
    for child in sorted(nodes[path].children, key=lambda one: (-widths[one], one)):
        yield from _placed(nodes, widths, child, begin, least, levels - 1, sign)
        begin += widths[child]


def _own(node: Node) -> float:
    return node.own_covariance.value if node.own_covariance else 0.0
