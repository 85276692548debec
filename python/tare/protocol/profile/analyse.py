"""The analysis of a profile: TProfiler's variance tree and factors (§3.2), and what we set beside them."""

from __future__ import annotations

import numpy as np

from tare.errors import TooFewTransactions
from tare.protocol.profile.factors import MOST_PAIRS, Figures, factors, grouped, heights
from tare.protocol.profile.found import Estimate, Findings, Node, Overhead, Pair
from tare.protocol.profile.measured import Floats, Ints, Measured
from tare.protocol.profile.recursion import folded
from tare.protocol.profile.resample import REPLICATES, Resampled, resample
from tare.protocol.profile.reservations import enough, reservations
from tare.protocol.profile.sites import sites_of
from tare.protocol.profile.tail import tail_of, tails
from tare.protocol.profile.times import Times
from tare.protocol.profile.tree import Tree, tree_of
from tare.protocol.profile.types import Types, between, kinds, types_of
from tare.protocol.profile.variance import Variances, variances


def analyse(
    measured: Measured,
    *,
    type_: str | None = None,
    within: bool = False,
    replicates: int = REPLICATES,
    seed: int = 0,
    most_pairs: int = MOST_PAIRS,
    overhead: Overhead | None = None,
    budget: float | None = None,
) -> Findings:
    """`type_`: transactions of this type only (a name of `Findings.kinds`). `within`: take out what lies between
    types, which is inherent (§2); shares and standard deviations of nodes are then of what is left. T is what
    `measured` says it is: whole durations, or the server's own time (`Measured.without_waiting`).

    Raises TooFewTransactions where there is no variance to explain, or no such type.
    """
    measured = folded(measured)
    types = types_of(_any(measured))
    if type_ is not None:
        measured = _only(measured, types, type_)
        types = types_of(_any(measured))
    varying(measured, len(types) if within else 1)
    return _Analysis(measured, types, within, replicates, seed, most_pairs).findings(overhead, budget)


def _any(measured: Measured) -> Measured:
    if measured.transactions:
        return measured
    spoilt = sum(measured.invalid.values())
    raise TooFewTransactions(
        "the profile holds no valid transaction"
        + (f"; {spoilt:,} were recorded that do not count" if spoilt else ""),
        "see that the server is under load, and that the preset's markers fit it"
        if not spoilt
        else "watch fewer functions, or record longer",
    )


def _only(measured: Measured, types: Types, name: str) -> Measured:
    if name not in types.names:
        raise TooFewTransactions(
            f"no transaction of the profile is of the type {name!r}", f"name one of: {'; '.join(types.names)}"
        )
    return measured.only(types.of == types.names.index(name))


def varying(measured: Measured, groups: int) -> None:
    """Raises TooFewTransactions unless there is a variance, with means of so many groups."""
    _any(measured)
    if measured.transactions <= groups:
        raise TooFewTransactions(
            f"the profile holds {measured.transactions} valid transactions; of so few no variance can be had",
            "record longer",
        )
    if np.ptp(measured.duration_ns) == 0:
        raise TooFewTransactions(
            f"all {measured.transactions:,} transactions took {measured.duration_ns[0]:,} ns: there is no variance "
            "to explain",
            "record longer",
        )


class _Analysis:
    def __init__(
        self, measured: Measured, types: Types, within: bool, replicates: int, seed: int, most_pairs: int
    ) -> None:
        self.measured, self.types = measured, types
        self.tree: Tree = tree_of(measured)
        self.times = Times(measured, self.tree)
        self.inside = tail_of(measured)
        self.groups: Ints = types.of if within else np.zeros(measured.transactions, dtype=np.int64)
        rows = [np.flatnonzero(self.groups == one) for one in range(int(self.groups.max()) + 1)]
        self.found: Variances = variances(self.times, rows)
        if self.found.total == 0:
            raise TooFewTransactions(
                "transactions of one type all took the same time: within types there is no variance to explain",
                "look at all types together",
            )
        self.factors = grouped(self.tree, self.found, most_pairs)
        self.resampled: Resampled = resample(
            self.times,
            types if within else None,
            self.factors.chosen_pairs,
            self.inside,
            replicates=replicates,
            seed=seed,
        )
        self.inclusive_mean: Floats = self.times.inclusive_mean
        self.own_mean: Floats = self.times.own_mean

    def findings(self, overhead: Overhead | None, budget: float | None) -> Findings:
        measured, found, resampled = self.measured, self.found, self.resampled
        of_factors, height = heights(self.tree, measured)
        ranked = factors(
            self.factors,
            Figures(
                measured, self.tree, found, resampled, self.inclusive_mean, self.own_mean, of_factors, height
            ),
        )
        durations = measured.duration_ns
        p50, p99 = np.quantile(durations, (0.5, 0.99))
        needed = enough(measured.transactions, ranked[0].share if ranked else None)
        waiting = self.tree.waiting
        return Findings(
            transactions=measured.transactions,
            invalid=dict(measured.invalid),
            records=measured.records,
            lost=measured.lost,
            unwound=measured.unwound,
            unrecorded=measured.unrecorded,
            mean_ns=float(durations.mean()),
            sd_ns=float(durations.std(ddof=1)),
            p50_ns=float(p50),
            p99_ns=float(p99),
            max_ns=float(durations.max()),
            between_types=between(durations.astype(np.float64), self.types),
            on_cpu=self._on_cpu(),
            waiting=0.0 if waiting is None else float(found.own_with_total[waiting] / found.total),
            call_graph_height=height,
            nodes=self._nodes(),
            pairs=self._pairs(),
            factors=ranked,
            tail=tails(self.times, self.inside, resampled),
            kinds=kinds(measured, self.types),
            enough=needed,
            reservations=reservations(measured, needed, overhead, budget),
            overhead=overhead,
            server_time=measured.server_time,
        )

    def _nodes(self) -> tuple[Node, ...]:
        measured, tree, found, total = self.measured, self.tree, self.found, self.found.total
        inclusive = self.resampled.shares(found.inclusive, total, self.resampled.inclusive)
        own = self.resampled.shares(found.own_with_total, total, self.resampled.own_with_total)
        calls = self.times.means(measured.calls)[0]
        calls[0] = 1.0
        sites = sites_of(measured, tree, self.groups, found.inclusive, total, calls)
        high = tree.heights(measured)
        return tuple(
            Node(
                path=node,
                parent=None if node == 0 else tree.parent[node],
                function=tree.function[node],
                name=tree.names[node],
                inferred=measured.inferred(tree.function[node]),
                depth=tree.depth[node],
                height=high[node],
                calls=float(calls[node]),
                mean_ns=float(self.inclusive_mean[node]),
                sd_ns=float(np.sqrt(found.inclusive[node])),
                variance=inclusive[node],
                own_mean_ns=float(self.own_mean[node]),
                own_variance=float(found.own[node] / total),
                own_covariance=own[node],
                covariance=float(found.inclusive_with_total[node] / total),
                residue=float(found.residue[node]),
                sites=sites[node],
                children=tree.children[node],
                recursion=tree.recursion[node],
            )
            for node in range(len(tree))
        )

    def _pairs(self) -> tuple[Pair, ...]:
        every = []
        for node, covariances in self.found.families.items():
            parts = (node, *self.tree.children[node])
            shares = 2 * covariances / self.found.total
            for i, j in zip(*np.triu_indices(len(parts), 1), strict=True):
                if shares[i, j]:
                    every.append(Pair(node, parts[i], parts[j], float(shares[i, j])))
        return tuple(sorted(every, key=lambda one: -abs(one.covariance)))

    def _on_cpu(self) -> Estimate | None:
        """Over those transactions of which CPU time was read."""
        read = self.measured.cpu_ns >= 0
        if self.resampled.cpu is None or read.sum() < 2:
            return None
        cpu = self.measured.cpu_ns[read].astype(np.float64)
        total = self.measured.duration_ns[read].astype(np.float64)
        groups = self.groups[read]
        cpu, total = (_apart(one, groups) for one in (cpu, total))
        square = float(total @ total)
        return self.resampled.interval(float(cpu @ total) / square, self.resampled.cpu) if square else None


def _apart(values: Floats, groups: Ints) -> Floats:
    counts = np.bincount(groups)
    means = np.bincount(groups, weights=values) / np.maximum(counts, 1)
    return np.asarray(values - means[groups])
