"""Differences of the longest transactions: their functions' own times against those of the others."""

from __future__ import annotations

import numpy as np

from tare.protocol.profile.found import Tail
from tare.protocol.profile.measured import Floats, Measured
from tare.protocol.profile.resample import Chosen, Resampled
from tare.protocol.profile.times import Times

QUANTILE = 0.99
FEWEST = 5
"""Transactions in the tail; with fewer there is no tail to speak of."""


def tail_of(measured: Measured) -> Chosen | None:
    """Return the transactions above the 99th percentile of T."""
    inside = np.asarray(measured.duration_ns > np.quantile(measured.duration_ns, QUANTILE))
    return inside if inside.sum() >= FEWEST else None


def tails(times: Times, inside: Chosen | None, resampled: Resampled) -> tuple[Tail, ...]:
    """By excess, largest first. Own times of one function's paths are added; they do not overlap."""
    if inside is None or resampled.tail_excess is None:
        return ()
    measured, tree = times.measured, times.tree
    mean, longer = times.means(measured.own_ns, inside.astype(np.int64))
    durations = measured.duration_ns
    apart = float(durations[inside].mean() - durations[~inside].mean())
    nodes: dict[int | str, list[int]] = {}
    for node, function in enumerate(tree.function):
        nodes.setdefault(tree.names[node] if function is None else function, []).append(node)
    groups = list(nodes.values())
    values = np.array([(longer[group] - mean[group]).sum() / apart for group in groups])
    replicates: Floats = np.stack([resampled.tail_excess[:, group].sum(axis=1) for group in groups], axis=1)
    found = [
        Tail(tree.names[group[0]], float(mean[group].sum()), float(longer[group].sum()), excess)
        for group, excess in zip(groups, resampled.intervals(values, replicates), strict=True)
    ]
    return tuple(sorted(found, key=lambda one: (-one.excess.value, one.name)))
