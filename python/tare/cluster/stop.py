"""End of a cluster: whatever its record names goes, also after any of its processes or Tare itself was killed."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress

from tare.cluster import cgroup, disk, lock, namespace, record
from tare.cluster.engine import engine
from tare.cluster.record import Cluster
from tare.errors import ServerFailed
from tare.interruption import deferred
from tare.parallel import in_threads

FAST_S = 0.5
"""Time for servers to shut down by themselves. Their data go with them, so what is left is killed."""

HOLDERS_S = 10.0
STOPS_S = 60.0
_PAUSE_S = 0.01


def stop(name: str) -> bool:
    """Stop a cluster and remove all of it: servers, data, disks, namespaces and cgroups. Safe to repeat.

    Return whether there was one. A start or a load of it that runs is killed. Raises ServerFailed if something is in
    use by others; what is left is still recorded, and a further stop continues."""
    try:
        with lock.take(record.folder(name) / "stop", STOPS_S), deferred():
            with lock.take_over(record.lock_file(name), HOLDERS_S):
                cluster = record.read(name)
                if cluster is None:  # killed before anything was recorded, let alone made
                    record.remove(name)
                else:
                    clear(cluster, cgroup.layout())
            return True
    except FileNotFoundError:
        return False
    except BlockingIOError:
        raise ServerFailed(
            f"another command has been stopping cluster {name} for {STOPS_S:g} s", "repeat the command later"
        ) from None


def stop_all() -> list[str]:
    """Stop every cluster of this machine, and return their names."""
    return [name for name in record.names() if stop(name)]


def clear(cluster: Cluster, where: cgroup.Layout) -> None:
    """Remove all that the record names, then the record. Call with the cluster's lock, whose helpers have ended."""
    groups = [cgroup.Group(node.cgroup, where) for node in cluster.nodes]
    _end_servers(cluster, groups)
    helpers = cgroup.Group(cluster.helpers, where)
    for group in (helpers, *groups):
        group.kill()
    in_threads(disk.remove, cluster.nodes, len(cluster.nodes))
    _remove_directory(cluster)
    for name in (*(node.namespace for node in cluster.nodes), cluster.switch):
        namespace.remove(name)
    for group in (helpers, *groups):
        group.remove()
    record.remove(cluster.name)


def _end_servers(cluster: Cluster, groups: list[cgroup.Group]) -> None:
    chosen = engine(cluster.engine)
    running = [pair for pair in zip(cluster.nodes, groups, strict=True) if pair[1].processes()]
    for node, group in running:
        with suppress(ServerFailed):
            group.set_quota(None)  # a throttled server would not end in time
        if chosen.process(node) in group.processes():
            chosen.stop(node)
    until = time.monotonic() + FAST_S
    while any(group.processes() for _, group in running) and time.monotonic() < until:
        time.sleep(_PAUSE_S)


def _remove_directory(cluster: Cluster) -> None:
    """Remove what the cluster made in its directory, and the directory if it made that, too."""
    shutil.rmtree(cluster.directory / record.WORK, ignore_errors=True)
    if not cluster.directory_existed:
        with suppress(OSError):  # it was never made, or holds files of others
            cluster.directory.rmdir()
