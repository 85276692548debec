"""Stacks as flame graph tools read them: `transaction;heap_update;ProcSleep 440000`, a line a call path.

A weight is a path's own share of covariance in millionths, so that a flame graph is as wide as the variance, where a
usual one is as wide as time. Some shares are negative, which no flame graph can show: they make a file of their own,
without their sign. The positive ones less the negative ones are a million, but for rounding.
Format: Brendan Gregg's stackcollapse, read by flamegraph.pl, inferno and speedscope.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tare.report.profile.document import Node
from tare.report.safe import printable

MILLION = 1_000_000


def render(nodes: Sequence[Node], *, negative: bool = False) -> str:
    return "".join(f"{stack} {weight}\n" for stack, weight in stacks(nodes, negative=negative))


def stacks(nodes: Sequence[Node], *, negative: bool = False) -> Iterator[tuple[str, int]]:
    """Stack and weight, of paths whose weight is not 0 in whole millionths."""
    sign = -1 if negative else 1
    paths: list[str] = []
    for node in nodes:  # parents come first
        name = _frame(node)
        paths.append(name if node.parent is None else f"{paths[node.parent]};{name}")
        if node.own_covariance is not None:
            weight = round(sign * MILLION * node.own_covariance.value)
            if weight > 0:
                yield paths[-1], weight


def _frame(node: Node) -> str:
    """Without the two signs that the format means something by: semicolons, and line ends."""
    name = " ".join(printable(node.name).split()).replace(";", ":") or "?"
    return f"{name} (inferred)" if node.inferred else name
