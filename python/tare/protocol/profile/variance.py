"""The variance tree's figures: equation 1 with every covariance, exact up to one last rounding.

With p and q the parts of a node (its body, and each child's inclusive time), Var(inclusive) = Σ Var(p) + 2 Σ Cov(p, q),
small and negative covariances too. Within types, every mean is that of the transaction's type: what is then analysed
is Var(T) without the part that lies between types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tare.protocol.profile.exact import Sums, Whole, limbs
from tare.protocol.profile.measured import Floats, Ints
from tare.protocol.profile.times import Times


@dataclass(frozen=True, eq=False)
class Variances:
    """By node, in ns²; divisor n - (number of groups)."""

    total: float  # Var(T)
    inclusive: Floats
    own: Floats
    own_with_total: Floats  # Cov(own, T): adds up to `total`
    inclusive_with_total: Floats
    families: dict[int, Floats]  # of a node with children: covariances of its parts, the body first
    residue: Floats  # of equation 1, relative to Var(inclusive); for a constant, to Var(T)


@dataclass(eq=False)
class _Group:
    """Sums over the transactions of one group."""

    count: int
    total: int  # ΣT
    total_square: int
    own: Whole  # Σ own, by node
    inclusive: Whole
    own_squares: Whole
    inclusive_squares: Whole
    own_total: Whole  # Σ own·T
    inclusive_total: Whole
    families: dict[int, Whole]

    def apart(self, products: Any, left: Any, right: Any) -> Any:
        """n · Σ (x - mean x)(y - mean y), whole."""
        return self.count * products - left * right


def variances(times: Times, groups: Sequence[Ints]) -> Variances:
    """`groups`: the transactions of each, at least one more of them than there are groups."""
    summed = [_sums(times, rows) for rows in groups]
    freedom = sum(one.count for one in summed) - len(groups)

    def over(parts: Iterable[Whole]) -> Floats:
        """Return sums with one rounding a group: Python divides ints exactly."""
        each = [np.asarray(part / one.count, np.float64) for part, one in zip(parts, summed, strict=True)]
        return np.asarray(np.sum(each, axis=0) / freedom)

    total = float(over(one.apart(one.total_square, one.total, one.total) for one in summed))
    families = {
        node: [_family(one, node, children) for one in summed]
        for node, children in enumerate(times.tree.children)
        if children
    }
    return Variances(
        total=total,
        inclusive=over(one.apart(one.inclusive_squares, one.inclusive, one.inclusive) for one in summed),
        own=over(one.apart(one.own_squares, one.own, one.own) for one in summed),
        own_with_total=over(one.apart(one.own_total, one.own, one.total) for one in summed),
        inclusive_with_total=over(one.apart(one.inclusive_total, one.inclusive, one.total) for one in summed),
        families={node: over(parts) for node, parts in families.items()},
        residue=_residues(summed, families, len(times.tree), total * freedom),
    )


def _family(one: _Group, node: int, children: tuple[int, ...]) -> Whole:
    sums = np.concatenate([one.own[[node]], one.inclusive[list(children)]])
    return np.asarray(one.apart(one.families[node], sums[:, None], sums[None, :]))


def _residues(
    summed: Sequence[_Group], families: Mapping[int, Sequence[Whole]], nodes: int, total: float
) -> Floats:
    """The difference of both sides is taken in whole numbers, so that it is the data's and not the arithmetic's."""
    found = np.zeros(nodes)
    for node in range(nodes):
        difference = variance = 0.0
        for group, one in enumerate(summed):
            left = one.apart(one.inclusive_squares[node], one.inclusive[node], one.inclusive[node])
            right = (
                families[node][group].sum()
                if node in families
                else one.apart(one.own_squares[node], one.own[node], one.own[node])
            )
            difference += (left - right) / one.count
            variance += left / one.count
        found[node] = abs(difference) / (variance or total or 1.0)
    return found


def _sums(times: Times, rows: Ints) -> _Group:
    tree = times.tree
    durations = times.measured.duration_ns
    own, inclusive = Sums(), Sums()
    own_total, inclusive_total, total = Sums(), Sums(), Sums()
    families = {node: Sums() for node, children in enumerate(tree.children) if children}
    sums = np.zeros((2, len(tree)), dtype=np.int64)
    for chunk in times.chunks(rows):
        sums += [one.astype(np.int64).sum(axis=0) for one in (chunk.own, chunk.inclusive)]
        owns, inclusives = limbs(chunk.own), limbs(chunk.inclusive)
        of_total = limbs(durations[chunk.rows, None].astype(np.float64))
        own.along(owns, owns)
        inclusive.along(inclusives, inclusives)
        total.along(of_total, of_total)
        own_total.gram(of_total, owns)
        inclusive_total.gram(of_total, inclusives)
        for node, family in families.items():
            children = list(tree.children[node])
            parts = _joined(owns, inclusives, node, children)
            family.gram(parts, parts)
    return _Group(
        count=len(rows),
        total=int(durations[rows].sum()),
        total_square=int(total.total[0]),
        own=sums[0].astype(object),
        inclusive=sums[1].astype(object),
        own_squares=own.total,
        inclusive_squares=inclusive.total,
        own_total=own_total.total[0],
        inclusive_total=inclusive_total.total[0],
        families={node: family.total for node, family in families.items()},
    )


def _joined(owns: list[Floats], inclusives: list[Floats], node: int, children: list[int]) -> list[Floats]:
    """Limbs of a node's parts: the body's column, then the children's."""

    def columns(of: list[Floats], place: int, chosen: list[int]) -> Floats:
        return of[place][:, chosen] if place < len(of) else np.zeros((len(of[0]), len(chosen)))

    return [
        np.concatenate([columns(owns, place, [node]), columns(inclusives, place, children)], axis=1)
        for place in range(max(len(owns), len(inclusives)))
    ]
