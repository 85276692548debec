"""Factors and their scores (§3.2, equations 2 and 3).

A factor is a function, a function's body, or a pair of the parts of one node that vary together; waiting between
intervals is one too. V(φᵢ) is the variance of one node (call path), or, of a pair, its term of equation 1's second sum,
2 Cov: so the shares of a node's parts and pairs add up to the node's. Nodes of one function are summed as equation 3
says, as they stand: what lies between two of them is a pair's.

- A function beneath itself (f → g → f) is counted once: an inner path's time is in the outer's already. Own time,
  which does not overlap, counts on every path.
- A body scores by its function's height: whatever of the function was not recorded is in its body, however deep.
  A function that has no recorded child in any path has no body of its own: it is its body; and one whose body has
  nearly all of its variance (SAME) is listed once, as the function.
- Waiting has height 0: there is nothing beneath it.
- specificity = (height of the call graph - height)². Callers' variance is mostly above that of what they call, which is
  why the score weighs by it; a function as high as the call graph scores 0, and so does one that is higher still.
- A negative pair has a negative score: it makes transactions steadier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tare.protocol.profile.found import Factor
from tare.protocol.profile.measured import Floats, Measured
from tare.protocol.profile.resample import Part, Resampled
from tare.protocol.profile.tree import Tree
from tare.protocol.profile.variance import Variances

MOST_PAIRS = 50
"""Pairs of functions that become factors, by |share|."""

SAME = 0.05
"""Of a function's variance: its body is not told apart from it where they differ by less."""

Key = tuple[int | None, bool]
"""A function, and whether its body alone is meant; None: waiting."""


@dataclass(eq=False)
class Grouped:
    """The nodes of each factor, and the pairs of nodes of each pair."""

    functions: dict[Key, list[int]] = field(default_factory=dict)
    pairs: dict[tuple[Key, Key], list[tuple[Part, Part]]] = field(default_factory=dict)

    @property
    def chosen_pairs(self) -> list[tuple[Part, Part]]:
        return [instance for instances in self.pairs.values() for instance in instances]


def grouped(tree: Tree, found: Variances, most_pairs: int = MOST_PAIRS) -> Grouped:
    """Every function and body; of the pairs those with the largest sums."""
    groups = Grouped()
    with_body = {tree.function[node] for node, children in enumerate(tree.children) if children}
    for node in range(1, len(tree)):
        if tree.outermost[node]:
            groups.functions.setdefault((tree.function[node], False), []).append(node)
        if tree.function[node] is not None and tree.function[node] in with_body:
            groups.functions.setdefault((tree.function[node], True), []).append(node)
    sums: dict[tuple[Key, Key], float] = {}
    instances: dict[tuple[Key, Key], list[tuple[Part, Part]]] = {}
    for (left, right), covariance in _instances(tree, found):
        if covariance == 0:
            continue
        a, b = sorted((_key(tree, left), _key(tree, right)), key=str)
        sums[a, b] = sums.get((a, b), 0.0) + covariance
        instances.setdefault((a, b), []).append((left, right))
    for pair in sorted(sums, key=lambda pair: -abs(sums[pair]))[:most_pairs]:
        groups.pairs[pair] = instances[pair]
    return groups


def _instances(tree: Tree, found: Variances) -> list[tuple[tuple[Part, Part], float]]:
    """Pairs of the parts of every node, but the transaction's own body, which is no function, and what lies beneath
    itself."""
    every = []
    for node, covariances in found.families.items():
        if not tree.outermost[node]:
            continue
        parts: list[Part] = [(node, True), *((child, False) for child in tree.children[node])]
        for i, left in enumerate(parts):
            if left == (0, True):
                continue
            for j in range(i + 1, len(parts)):
                if tree.outermost[parts[j][0]] and tree.outermost[left[0]]:
                    every.append(((left, parts[j]), float(covariances[i, j])))
    return every


def _key(tree: Tree, part: Part) -> Key:
    node, body = part
    return tree.function[node], body


@dataclass(frozen=True, eq=False)
class Figures:
    """What factors are made of."""

    measured: Measured
    tree: Tree
    found: Variances
    resampled: Resampled
    inclusive_mean: Floats
    own_mean: Floats
    heights: Mapping[Key, int]
    call_graph_height: int


def factors(groups: Grouped, of: Figures) -> tuple[Factor, ...]:
    """By score, highest first."""
    every = _told_apart([_single(key, nodes, of) for key, nodes in groups.functions.items()])
    first = 0
    for keys, instances in groups.pairs.items():
        every.append(_pair(keys, instances, first, of))
        first += len(instances)
    return tuple(sorted(every, key=lambda one: (-one.score, -one.share.value, one.names)))


def _told_apart(every: Sequence[Factor]) -> list[Factor]:
    """Without bodies of which the function's factor says as much."""
    shares = {one.functions: one.share.value for one in every if one.kind == "function"}
    return [
        one
        for one in every
        if one.kind != "body" or abs(shares[one.functions] - one.share.value) > SAME * shares[one.functions]
    ]


def _single(key: Key, nodes: Sequence[int], of: Figures) -> Factor:
    function, body = key
    chosen = list(nodes)
    values, replicates = (
        (of.found.own, of.resampled.own) if body else (of.found.inclusive, of.resampled.inclusive)
    )
    share = of.resampled.share(values[chosen].sum(), of.found.total, replicates[:, chosen].sum(axis=1))
    every = [node for node, one in enumerate(of.tree.function) if node and one == function]
    own = of.resampled.share(
        of.found.own_with_total[every].sum(),
        of.found.total,
        of.resampled.own_with_total[:, every].sum(axis=1),
    )
    height = of.heights[key]
    specificity = specificity_of(height, of.call_graph_height)
    return Factor(
        names=(of.tree.names[chosen[0]],),
        kind="waiting" if function is None else "body" if body else "function",
        functions=() if function is None else (function,),
        share=share,
        height=height,
        specificity=specificity,
        score=specificity * share.value,
        own_covariance=own,
        instances=len(chosen),
        mean_ns=float((of.own_mean if body else of.inclusive_mean)[chosen].sum()),
        inferred=of.measured.inferred(function),
    )


def _pair(keys: tuple[Key, Key], instances: Sequence[tuple[Part, Part]], first: int, of: Figures) -> Factor:
    covariance = sum(_covariance(of, left, right) for left, right in instances)
    replicates = of.resampled.pairs[:, first : first + len(instances)].sum(axis=1)
    share = of.resampled.share(2 * covariance, of.found.total, 2 * replicates)
    height = max(of.heights[key] for key in keys)
    specificity = specificity_of(height, of.call_graph_height)
    parts = {part for instance in instances for part in instance}
    names = {_key(of.tree, part): of.tree.names[part[0]] + (" (body)" if part[1] else "") for part in parts}
    return Factor(
        names=tuple(names[key] for key in keys),
        kind="pair",
        functions=tuple(function for function, _ in keys if function is not None),
        share=share,
        height=height,
        specificity=specificity,
        score=specificity * share.value,
        own_covariance=None,
        instances=len(instances),
        mean_ns=float(sum((of.own_mean if body else of.inclusive_mean)[node] for node, body in parts)),
        inferred=any(of.measured.inferred(function) for function, _ in keys),
    )


def _covariance(of: Figures, left: Part, right: Part) -> float:
    """Of two parts of one node."""
    parent = left[0] if left[1] else of.tree.parent[left[0]]
    children = of.tree.children[parent]
    places = [0 if body else 1 + children.index(node) for node, body in (left, right)]
    return float(of.found.families[parent][places[0], places[1]])


def specificity_of(height: int, call_graph_height: int) -> float:
    """Equation 2."""
    return float(max(0, call_graph_height - height) ** 2)


def heights(tree: Tree, measured: Measured) -> tuple[dict[Key, int], int]:
    """Of every factor, and of the call graph: the one that is known, else one above its highest function."""
    found: dict[Key, int] = {(None, False): 0}
    for function, height in zip(tree.function, tree.heights(measured), strict=True):
        if function is not None and height is not None:
            found[function, False] = found[function, True] = height
    return found, measured.call_graph_height or 1 + max(found.values(), default=0)
