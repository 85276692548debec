"""Factors and their scores (§3.2, equations 2 and 3).

A factor is a function, a function's body, or a pair of the parts of one node that vary together; waiting between
intervals is one too. V(φᵢ) is the variance of one node (call path), or, of a pair, its term of equation 1's second sum,
2 Cov: so the shares of a node's parts and pairs add up to the node's.

- A function that has much of the variance (APART) on several paths is a factor on each of these, as the paper's
  os_event_wait is on [A] and [B] (Table 1): what a wait is for is known from the callers. Its other paths together are
  one more factor, of which the nodes are summed as they stand: what lies between two of them is a pair's.
- A score is specificity × share. The order is equation 3's, over all paths of a function: the largest of its factors
  stands where all of them together would, each other one where its own score puts it.
- A body scores by its function's height: whatever of the function was not recorded is in its body, however deep.
  A function that has no recorded child in any path has no body of its own: it is its body; and one whose body has
  nearly all of its variance (SAME) is listed once, as the function.
- Waiting has height 0: there is nothing beneath it.
- specificity = (height of the call graph - height)². Callers' variance is mostly above that of what they call, which is
  why the score weighs by it. Heights are those of the static call graph, raised by calls that were seen: a function
  that calls others by pointer would else be the lowest of all.
- A negative pair has a negative score: it makes transactions steadier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tare.protocol.profile.found import Factor
from tare.protocol.profile.measured import Floats, Measured
from tare.protocol.profile.resample import Part, Resampled
from tare.protocol.profile.tree import Tree
from tare.protocol.profile.variance import Variances

MOST_PAIRS = 50
"""Pairs of functions that become factors, by |share|."""

SAME = 0.05
"""Share of a function's variance: its body is not told apart from it where they differ by less."""

APART = 0.01
"""Share of Var(T): a path that has as much is told apart from its function's other paths."""

Key = tuple[int | None, bool]
"""A function, and whether its body alone is meant; None: waiting."""


@dataclass(frozen=True, slots=True)
class Single:
    """The nodes of a factor that is no pair."""

    key: Key
    nodes: tuple[int, ...]
    beneath: tuple[str, ...] = ()  # as `Factor.beneath`
    others: bool = False


@dataclass(eq=False)
class Grouped:
    """The nodes of each factor, and the pairs of nodes of each pair."""

    singles: list[Single] = field(default_factory=list)
    pairs: dict[tuple[Key, Key], list[tuple[Part, Part]]] = field(default_factory=dict)

    @property
    def chosen_pairs(self) -> list[tuple[Part, Part]]:
        return [instance for instances in self.pairs.values() for instance in instances]


def grouped(tree: Tree, found: Variances, most_pairs: int = MOST_PAIRS) -> Grouped:
    """Every function and body; of the pairs those with the largest sums."""
    groups = Grouped()
    nodes: dict[int | None, list[int]] = {}
    for node in range(1, len(tree)):
        nodes.setdefault(tree.function[node], []).append(node)
    for function, every in nodes.items():
        for one in _contexts(function, every, tree, found):
            groups.singles.append(one)
            if function is not None and any(tree.children[node] for node in every):
                groups.singles.append(replace(one, key=(function, True)))
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


def _contexts(function: int | None, nodes: Sequence[int], tree: Tree, found: Variances) -> list[Single]:
    """A function as one factor, or as one on each path that has much of the variance and one for the others."""
    much = [node for node in nodes if found.inclusive[node] >= APART * found.total]
    rest = tuple(node for node in nodes if node not in much)
    alone = len(much) <= 1 and found.inclusive[list(rest)].sum() < APART * found.total
    if len(nodes) == 1 or not much or alone:
        return [Single((function, False), tuple(nodes))]
    named = [
        Single((function, False), (node,), beneath)
        for node, beneath in zip(much, told_apart(much, nodes, tree), strict=True)
    ]
    return [*named, Single((function, False), rest, others=True)] if rest else named


def told_apart(chosen: Sequence[int], nodes: Sequence[int], tree: Tree) -> list[tuple[str, ...]]:
    """Callers by which each of these nodes is told from all of `nodes`, which are of one function: the nearest, and,
    where others are called from that too, the nearest from where the way is another; if need be, all on the way."""
    ways = {node: tuple(tree.names[above] for above in tree.ancestors(node)) for node in nodes}
    long: list[tuple[str, ...]] = []
    for node in chosen:
        others = [way for other, way in ways.items() if other != node]
        own = ways[node]
        most = next((n for n in range(1, len(own)) if all(own[:n] != way[:n] for way in others)), len(own))
        long.append(own[:most])
    short = [way[:1] if len(way) == 1 else (way[0], way[-1]) for way in long]
    return [way if short.count(brief) > 1 else brief for way, brief in zip(long, short, strict=True)]


def _instances(tree: Tree, found: Variances) -> list[tuple[tuple[Part, Part], float]]:
    """Pairs of the parts of every node, but the transaction's own body, which is no function."""
    every = []
    for node, covariances in found.families.items():
        parts: list[Part] = [(node, True), *((child, False) for child in tree.children[node])]
        for i, left in enumerate(parts):
            if left == (0, True):
                continue
            for j in range(i + 1, len(parts)):
                every.append(((left, parts[j]), float(covariances[i, j])))
    return every


def _key(tree: Tree, part: Part) -> Key:
    node, body = part
    return tree.function[node], body


@dataclass(frozen=True, eq=False)
class Figures:
    """Figures from which factors are computed."""

    measured: Measured
    tree: Tree
    found: Variances
    resampled: Resampled
    inclusive_mean: Floats
    own_mean: Floats
    heights: Mapping[Key, int]
    call_graph_height: int


def factors(groups: Grouped, of: Figures) -> tuple[Factor, ...]:
    """In the order of equation 3's score, highest first."""
    every = _without_bodies([_single(one, of) for one in groups.singles])
    first = 0
    for keys, instances in groups.pairs.items():
        every.append(_pair(keys, instances, first, of))
        first += len(instances)
    rank = _ranks(every)
    return tuple(sorted(every, key=lambda one: (-rank[id(one)], -one.share.value, one.names, one.beneath)))


def _ranks(every: Sequence[Factor]) -> dict[int, float]:
    """Scores; of the largest factor of several of a function (or of several of its body), the score of all."""
    together: dict[tuple[str, tuple[int, ...]], list[Factor]] = {}
    for one in every:
        if one.kind != "pair":
            together.setdefault((one.kind, one.functions), []).append(one)
    found = {id(one): one.score for one in every}
    for parts in together.values():
        found[id(max(parts, key=lambda one: one.score))] = sum(one.score for one in parts)
    return found


def _without_bodies(every: Sequence[Factor]) -> list[Factor]:
    """Without bodies of which the function's factor says as much."""
    shares = {_place(one): one.share.value for one in every if one.kind == "function"}
    return [
        one
        for one in every
        if one.kind != "body" or abs(shares[_place(one)] - one.share.value) > SAME * shares[_place(one)]
    ]


def _place(of: Factor) -> tuple[tuple[int, ...], tuple[str, ...], bool]:
    return of.functions, of.beneath, of.others


def _single(one: Single, of: Figures) -> Factor:
    key = function, body = one.key
    chosen = list(one.nodes)
    values, replicates = (
        (of.found.own, of.resampled.own) if body else (of.found.inclusive, of.resampled.inclusive)
    )
    share = of.resampled.share(values[chosen].sum(), of.found.total, replicates[:, chosen].sum(axis=1))
    own = of.resampled.share(
        of.found.own_with_total[chosen].sum(),
        of.found.total,
        of.resampled.own_with_total[:, chosen].sum(axis=1),
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
        beneath=one.beneath,
        others=one.others,
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
    """Return the covariance of two parts of a node."""
    parent = left[0] if left[1] else of.tree.parent[left[0]]
    children = of.tree.children[parent]
    places = [0 if body else 1 + children.index(node) for node, body in (left, right)]
    return float(of.found.families[parent][places[0], places[1]])


def specificity_of(height: int, call_graph_height: int) -> float:
    """Equation 2."""
    return float(max(0, call_graph_height - height) ** 2)


def heights(tree: Tree, measured: Measured) -> tuple[dict[Key, int], int]:
    """Return the height of every factor, and of the call graph: the one that is known, at least one above its highest
    function."""
    found: dict[Key, int] = {(None, False): 0}
    for function, height in zip(tree.function, tree.heights(measured), strict=True):
        if function is not None and height is not None:
            found[function, False] = found[function, True] = height
    return found, max(measured.call_graph_height, 1 + max(found.values(), default=0))
