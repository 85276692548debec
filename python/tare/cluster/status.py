"""State of a cluster: each node with its process, its limits and whether it answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tare.cluster import cgroup, disk, lock, namespace, record, rights
from tare.cluster.engine import engine
from tare.cluster.record import READY, Cluster, Node
from tare.dbms import local


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """State of a node."""

    node: Node
    pid: int | None  # of the server's main process; None: it has ended
    answers: bool
    processes: int
    namespace_inode: int | None
    cpus: float | None  # quota that applies; None: none does
    throttled_periods: int  # since the quota was set
    throttled_s: float
    loop: str | None
    read_ahead_kib: int | None
    roles: Mapping[str, int]  # number of processes of each role


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """State of a cluster. Without a record, its start was killed before anything was made."""

    name: str
    cluster: Cluster | None
    nodes: tuple[NodeStatus, ...]
    is_busy: bool  # a command starts, loads or stops it
    url: str | None

    @property
    def is_ready(self) -> bool:
        return (
            self.cluster is not None and self.cluster.step == READY and all(one.answers for one in self.nodes)
        )


def status(name: str) -> ClusterStatus:
    """Return the state of a cluster. Raises UsageError if there is none of this name, and without the rights."""
    rights.check()
    cluster = record.read(name)
    if cluster is None:
        if name not in record.names():
            record.known(name)
        return ClusterStatus(name, None, (), is_busy=_is_busy(name), url=None)
    where, chosen = cgroup.layout(), engine(cluster.engine)
    nodes = tuple(_node(cluster, node, where) for node in cluster.nodes)
    return ClusterStatus(name, cluster, nodes, _is_busy(name), chosen.url(cluster.coordinator))


def statuses() -> list[ClusterStatus]:
    """Return the states of all clusters. Raises UsageError without the rights to see them."""
    rights.check()
    return [status(name) for name in record.names()]


def _node(cluster: Cluster, node: Node, where: cgroup.Layout) -> NodeStatus:
    chosen, group = engine(cluster.engine), cgroup.Group(node.cgroup, where)
    processes = group.processes()
    pid = chosen.process(node)
    periods, ns = cluster.throttled_before.get(node.name, (0, 0))
    now = group.throttling() if cluster.quota_applied else cgroup.Throttling(periods, ns)
    loops = disk.loops(node.image)
    return NodeStatus(
        node=node,
        pid=pid if pid in processes else None,
        answers=pid in processes and chosen.is_ready(node),
        processes=len(processes),
        namespace_inode=namespace.inode(node.namespace),
        cpus=group.quota(),
        throttled_periods=now.periods - periods,
        throttled_s=(now.ns - ns) / 1e9,
        loop=f"/dev/{loops[0]}" if loops else None,
        read_ahead_kib=disk.read_ahead_kib(node.image),
        roles=Counter(chosen.role(" ".join(local.command_line(pid))) for pid in processes),
    )


def _is_busy(name: str) -> bool:
    return bool(lock.holders(record.lock_file(name)))
