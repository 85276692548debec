"""The variance tree cut to what a reader can take in: what is small is put together, and said to be.

At every level equation 1 adds up: a path's variance is that of its body, of its children, and of their covariances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tare.report.profile.document import Node, Pair, ProfileReport

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
class Branch:
    """A path with what is shown below it, by variance, the largest first."""

    node: Node
    branches: tuple[Branch, ...]
    rest: Rest | None
    together: (
        float  # twice the covariances between its children, and between them and its body; share of Var(T)
    )
    pair: Pair | None  # the largest of them
    title: str  # its name; of a transaction that is one call of a function, with the function's

    def __iter__(self) -> Iterator[Branch]:
        yield self
        for one in self.branches:
            yield from one


def cut(report: ProfileReport, most: int) -> Branch | None:
    """At most so many paths, at least the root; None for a profile without any."""
    if not report.nodes:
        return None
    tree = Tree(report.nodes, report.pairs)
    least = LEAST
    while tree.shown(least) > most:
        least *= 1.25
    root = tree.branch(0, least)
    return _once(root) if is_one_call(report.nodes) and root.branches else root


def is_one_call(nodes: Sequence[Node]) -> bool:
    """Whether a transaction is a call of one function, and nothing else: both are shown as one."""
    return bool(nodes) and len(nodes[0].children) == 1 and not _own(nodes[0]) and not nodes[0].own_variance


def title(transaction: Node, call: Node) -> str:
    """A transaction that is one call, with its function."""
    return transaction.name if call.name == transaction.name else f"{transaction.name} ({call.name})"


def _once(root: Branch) -> Branch:
    [only] = root.branches
    return replace(
        only, node=only.node.model_copy(update={"parent": None}), title=title(root.node, only.node)
    )


class Tree:
    """`nodes` in such an order that parents come before their children, as findings have them."""

    def __init__(self, nodes: Sequence[Node], pairs: Sequence[Pair]) -> None:
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
        self._pair: dict[int, Pair] = {}
        for pair in pairs:
            if pair.covariance is not None and abs(pair.covariance) > self._held(pair.parent):
                self._pair[pair.parent] = pair

    def shown(self, least: float) -> int:
        """How many paths would be; the root always is."""
        return 1 + sum(
            weight >= least and node.depth <= DEEPEST
            for node, weight in zip(self._nodes[1:], self._weight[1:], strict=True)
        )

    def branch(self, path: int, least: float) -> Branch:
        node = self._nodes[path]
        kept = [one for one in node.children if self._weight[one] >= least and node.depth < DEEPEST]
        left = [one for one in node.children if one not in kept]
        kept.sort(key=lambda one: (-_variance(self._nodes[one]), one))
        return Branch(
            node,
            tuple(self.branch(one, least) for one in kept),
            self._rest(left),
            self._together(node),
            self._pair.get(path),
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

    def _held(self, parent: int) -> float:
        found = self._pair.get(parent)
        return 0.0 if found is None or found.covariance is None else abs(found.covariance)


def _variance(node: Node) -> float:
    return node.variance.value if node.variance else 0.0


def _own(node: Node) -> float:
    return node.own_covariance.value if node.own_covariance else 0.0


def _weight(node: Node) -> float:
    return max(_variance(node), abs(_own(node)))
