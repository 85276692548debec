"""CPU quotas of a cluster: refused where the machine cannot keep them, set once the cluster is ready to be measured."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import replace

from tare.cluster import cgroup, record
from tare.cluster.record import Cluster
from tare.errors import UsageError

LEAST_CPUS = 0.05
"""Quota of 1 ms in each period of 20 ms, the least that kernels take."""


def refuse_too_much(
    cpus: float, nodes: int, others: Iterable[Cluster], machine_cpus: int | None = None
) -> None:
    """Raise UsageError unless the quotas of all nodes stay under the machine's CPUs.

    At their sum or above, nodes wait for each other, which no quota shows."""
    available = len(os.sched_getaffinity(0)) if machine_cpus is None else machine_cpus
    taken = sum(other.limits.cpus * len(other.nodes) for other in others if other.limits.cpus)
    left = available - taken
    if nodes * cpus < left - 1e-9:
        return
    fits = largest_quota(nodes, left)
    taken_text = f", of which other clusters take {taken:g}" if taken else ""
    raise UsageError(
        f"{nodes} nodes (the coordinator is one) of {cpus:g} CPUs need {nodes * cpus:g}, and this machine has "
        f"{available}{taken_text}: the sum must stay below",
        f"give --cpus {fits:g}, or fewer shards" if fits else "give fewer shards, or stop other clusters",
    )


def largest_quota(nodes: int, left: float) -> float | None:
    """Return the largest quota in steps of 0.05 CPUs whose sum stays below `left`; None below the least one."""
    steps = math.ceil(round(left / nodes / LEAST_CPUS, 6)) - 1
    return round(steps * LEAST_CPUS, 2) if steps >= 1 else None


def apply(cluster: Cluster, where: cgroup.Layout) -> Cluster:
    """Set the quota of each node, and record how often it was throttled before. Return the new record."""
    groups = {node.name: cgroup.Group(node.cgroup, where) for node in cluster.nodes}
    if cluster.limits.cpus is None:
        return cluster
    before = {name: group.throttling() for name, group in groups.items()}
    for group in groups.values():
        group.set_quota(cluster.limits.cpus)
    applied = replace(
        cluster,
        quota_applied=True,
        throttled_before={name: (one.periods, one.ns) for name, one in before.items()},
    )
    record.write(applied)
    return applied


def lift(cluster: Cluster, where: cgroup.Layout) -> Cluster:
    """Let the nodes use all CPUs, as for a load. Return the new record."""
    for node in cluster.nodes:
        group = cgroup.Group(node.cgroup, where)
        if group.exists():
            group.set_quota(None)
    lifted = replace(cluster, quota_applied=False, throttled_before={})
    record.write(lifted)
    return lifted
