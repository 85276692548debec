"""Two profiles beside each other: what became of the variance, function by function.

Shares say little here: where one source is gone, all the others' grow. So functions are compared by what they have in
Var(T) in ns², Cov(own, T), whose changes add up to the change of Var(T). Own times depend on what else was watched: a
function watched in one profile only is in its caller's own time in the other, and is said to be so.

Intervals are of two independent block bootstraps. Functions are the same if their names are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tare.protocol.profile.analyse import varying
from tare.protocol.profile.found import Estimate
from tare.protocol.profile.measured import Floats, Measured
from tare.protocol.profile.resample import REPLICATES, Resampled, percentiles, resample
from tare.protocol.profile.reservations import FEWEST
from tare.protocol.profile.times import Times
from tare.protocol.profile.tree import Tree, tree_of
from tare.protocol.profile.validity import MOST_LEFT_OUT, left_out_share
from tare.protocol.profile.variance import Variances, variances

Two = tuple[float, float]
"""Before and after."""


@dataclass(frozen=True, slots=True)
class Change:
    """A function, or the transaction itself, or waiting."""

    name: str
    inferred: bool
    watched: tuple[bool, bool]  # False: its time is in its caller's own, and here it is 0
    calls: Two  # per transaction
    own_mean_ns: Two
    own_mean_change: Estimate  # ns, after less before
    own_covariance: Two  # Cov(own, T), ns²
    change: Estimate  # of it, ns²; over all functions these add up to the change of Var(T)
    share: Two  # of the own Var(T)

    @property
    def established(self) -> bool:
        """The interval leaves out 0."""
        return not self.change.low <= 0 <= self.change.high


@dataclass(frozen=True, slots=True)
class Difference:
    transactions: tuple[int, int]
    mean_ns: Two
    mean_change: Estimate  # ns
    variance_ns2: Two
    variance_ratio: Estimate  # after / before
    sd_ns: Two
    p99_ns: Two
    p99_change: Estimate  # ns
    functions: tuple[Change, ...]  # by size of the change, largest first
    warnings: tuple[str, ...]
    server_time: bool = False  # T is without waiting for the client, in both


@dataclass(frozen=True, eq=False)
class _Side:
    measured: Measured
    tree: Tree
    times: Times
    found: Variances
    resampled: Resampled
    p99: Floats  # by replicate
    calls: Floats  # by node
    own_mean: Floats

    @classmethod
    def of(cls, measured: Measured, replicates: int, seed: int) -> _Side:
        varying(measured, 1)
        tree = tree_of(measured)
        times = Times(measured, tree)
        resampled = resample(times, replicates=replicates, seed=seed)
        return cls(
            measured,
            tree,
            times,
            variances(times, [np.arange(measured.transactions)]),
            resampled,
            resampled.quantile(measured.duration_ns, 0.99),
            times.means(measured.calls)[0],
            times.own_mean,
        )

    def nodes(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for node, name in enumerate(self.tree.names):
            found.setdefault(name, []).append(node)
        return found

    @property
    def p99_ns(self) -> float:
        return float(np.quantile(self.measured.duration_ns, 0.99))


def difference(
    before: Measured, after: Measured, *, replicates: int = REPLICATES, seed: int = 0
) -> Difference:
    """Raises TooFewTransactions where either has no variance."""
    a, b = _Side.of(before, replicates, seed), _Side.of(after, replicates, seed + 1)
    blocks = min(a.resampled.blocks, b.resampled.blocks)

    def change(values: Two, left: Floats, right: Floats) -> Estimate:
        return percentiles(np.array([values[1] - values[0]]), (right - left)[:, None], blocks)[0]

    means: Two = (float(before.duration_ns.mean()), float(after.duration_ns.mean()))
    p99: Two = (a.p99_ns, b.p99_ns)
    total: Two = (a.found.total, b.found.total)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = b.resampled.total / a.resampled.total
    functions = [_change(name, a, b, blocks) for name in dict.fromkeys((*a.nodes(), *b.nodes()))]
    return Difference(
        transactions=(before.transactions, after.transactions),
        mean_ns=means,
        mean_change=change(means, a.resampled.mean, b.resampled.mean),
        variance_ns2=total,
        variance_ratio=percentiles(np.array([total[1] / total[0]]), ratios[:, None], blocks)[0],
        sd_ns=(total[0] ** 0.5, total[1] ** 0.5),
        p99_ns=p99,
        p99_change=change(p99, a.p99, b.p99),
        functions=tuple(sorted(functions, key=lambda one: (-abs(one.change.value), one.name))),
        warnings=tuple(_warnings(before, after, functions)),
        server_time=before.server_time and after.server_time,
    )


def _change(name: str, a: _Side, b: _Side, blocks: int) -> Change:
    sides = [(side, side.nodes().get(name, [])) for side in (a, b)]

    def two(of: Sequence[Floats]) -> Two:
        first, second = (float(values[nodes].sum()) for values, (_, nodes) in zip(of, sides, strict=True))
        return first, second

    def replicates(of: Sequence[Floats]) -> Floats:
        left, right = (values[:, nodes].sum(axis=1) for values, (_, nodes) in zip(of, sides, strict=True))
        return np.asarray((right - left)[:, None])

    covariance = two([a.found.own_with_total, b.found.own_with_total])
    means = two([a.own_mean, b.own_mean])
    return Change(
        name=name,
        inferred=any(_inferred(side, nodes) for side, nodes in sides),
        watched=(bool(sides[0][1]), bool(sides[1][1])),
        calls=two([a.calls, b.calls]),
        own_mean_ns=means,
        own_mean_change=percentiles(
            np.array([means[1] - means[0]]),
            replicates([a.resampled.own_mean, b.resampled.own_mean]),
            blocks,
        )[0],
        own_covariance=covariance,
        change=percentiles(
            np.array([covariance[1] - covariance[0]]),
            replicates([a.resampled.own_with_total, b.resampled.own_with_total]),
            blocks,
        )[0],
        share=(covariance[0] / a.found.total, covariance[1] / b.found.total),
    )


def _inferred(side: _Side, nodes: Sequence[int]) -> bool:
    return any(side.measured.inferred(side.tree.function[node]) for node in nodes)


def _warnings(before: Measured, after: Measured, functions: Sequence[Change]) -> list[str]:
    found = []
    for which, one in (("before", before), ("after", after)):
        share = left_out_share(one.transactions, one.invalid)
        if share > MOST_LEFT_OUT:
            found.append(f"the profile {which} is not valid: {share:.1%} of its transactions do not count")
        if one.transactions < FEWEST:
            found.append(f"the profile {which} has {one.transactions:,} transactions; {FEWEST} are needed")
    sets: Mapping[str, set[str]] = {
        which: _watched(one) for which, one in (("before", before), ("after", after))
    }
    for which, other in (("before", "after"), ("after", "before")):
        if alone := sorted(sets[which] - sets[other]):
            named = ", ".join(alone[:5]) + (f" and {len(alone) - 5} others" if len(alone) > 5 else "")
            found.append(
                f"watched {which} only: {named}; in the other profile their time is their callers' own: "
                "compare profiles that watch the same functions"
            )
    return found


def _watched(measured: Measured) -> set[str]:
    numbers = {one for window in measured.windows for one in window.functions}
    return {measured.functions[one].name for one in numbers if one in measured.functions}
