"""The variance tree cut to what a reader can take in: what is small is put together, and said to be.

At every level equation 1 adds up: a path's variance is that of its body, of its children, and of their covariances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tare.report.profile.document import Node, ProfileReport

LEAST = 0.01
"""Share of Var(T): a path that has less, and whose descendants have less, is put together with its likes."""

DEEPEST = 60
"""Levels that are shown; what is below is put together too."""


@dataclass(frozen=True, slots=True)
class Rest:
    """Paths below one path that are not shown."""

    paths: int  # with those below them
    largest: float  # share of the variance of the largest
    own: float  # their own shares of covariance, together
    calls: float  # per transaction


@dataclass(frozen=True, slots=True)
class Subtree:
    """A path with what is shown below it, by variance, the largest first."""

    node: Node
    subtrees: tuple[Subtree, ...]
    rest: Rest | None
    together: (
        float  # twice the covariances between its children, and between them and its body; share of Var(T)
    )
    title: str  # its name; of a transaction that is one call of a function, with the function's

    def __iter__(self) -> Iterator[Subtree]:
        yield self
        for one in self.subtrees:
            yield from one


def cut(report: ProfileReport, most: int) -> Subtree:
    """At most so many paths, at least the root. For a profile that has any."""
    weights = Weights(report.nodes)
    least = LEAST
    while weights.shown(least) > most:
        least *= 1.25
    root = weights.subtree(0, least)
    return _once(root) if is_one_call(report.nodes) and root.subtrees else root


def is_one_call(nodes: Sequence[Node]) -> bool:
    """Whether a transaction is a call of one function, and nothing else: both are shown as one."""
    return bool(nodes) and len(nodes[0].children) == 1 and not _own(nodes[0]) and not nodes[0].own_variance


def title(transaction: Node, call: Node) -> str:
    """A transaction that is one call, with its function."""
    return transaction.name if call.name == transaction.name else f"{transaction.name} ({call.name})"


def _once(root: Subtree) -> Subtree:
    [only] = root.subtrees
    return replace(
        only, node=only.node.model_copy(update={"parent": None}), title=title(root.node, only.node)
    )


class Weights:
    """`nodes` in such an order that parents come before their children, as findings have them."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._paths = [1] * len(nodes)  # with those below
        self._weight = [_weight(one) for one in nodes]  # the largest of those below
        self._own = [_own(one) for one in nodes]  # sums of those below
        self._calls = [one.calls for one in nodes]
        for node in reversed(nodes):
            if node.parent is not None:
                self._paths[node.parent] += self._paths[node.path]
                self._weight[node.parent] = max(self._weight[node.parent], self._weight[node.path])
                self._own[node.parent] += self._own[node.path]
                self._calls[node.parent] += self._calls[node.path]

    def shown(self, least: float) -> int:
        """How many paths would be; the root always is."""
        return 1 + sum(
            weight >= least and node.depth <= DEEPEST
            for node, weight in zip(self._nodes[1:], self._weight[1:], strict=True)
        )

    def subtree(self, path: int, least: float) -> Subtree:
        node = self._nodes[path]
        kept = [one for one in node.children if self._weight[one] >= least and node.depth < DEEPEST]
        left = [one for one in node.children if one not in kept]
        kept.sort(key=lambda one: (-_variance(self._nodes[one]), one))
        return Subtree(
            node,
            tuple(self.subtree(one, least) for one in kept),
            self._rest(left),
            self._together(node),
            node.name,
        )

    def _rest(self, left: Sequence[int]) -> Rest | None:
        if not left:
            return None
        return Rest(
            paths=sum(self._paths[one] for one in left),
            largest=max(_variance(self._nodes[one]) for one in left),
            own=sum(self._own[one] for one in left),
            calls=sum(self._calls[one] for one in left),
        )

    def _together(self, node: Node) -> float:
        parts = sum(_variance(self._nodes[one]) for one in node.children)
        return _variance(node) - parts - (node.own_variance or 0.0)


def _variance(node: Node) -> float:
    return node.variance.value if node.variance else 0.0


def _own(node: Node) -> float:
    return node.own_covariance.value if node.own_covariance else 0.0


def _weight(node: Node) -> float:
    return max(_variance(node), abs(_own(node)))
