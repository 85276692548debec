"""Loading of a workload into a cluster, without quotas and rates, which apply afterwards."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

from tare.cluster import cgroup, link, lock, quota, record, rights
from tare.cluster.engine import Report, engine
from tare.cluster.helpers import Helpers
from tare.cluster.record import READY, Cluster
from tare.errors import NotEnoughDisk, UsageError
from tare.workload.tpch.data import generator

TPCH = "tpch"
GENERATE_S = 36_000.0
_BYTES_AT_1 = 1_100_000_000
"""Bytes of the files of TPC-H at scale 1."""


def load_tpch(name: str, scale: float, report: Report = lambda step: None) -> Cluster:
    """Load TPC-H into a cluster, then set the quotas of its nodes. Return the new record.

    Raises UsageError for a cluster that is not ready, or has other data; MissingProgram, NotEnoughDisk,
    ServerFailed."""
    rights.check()
    generator()
    cluster = record.known(name)
    where = cgroup.layout()
    try:
        held = lock.take(record.lock_file(name))
    except BlockingIOError:
        raise UsageError(
            f"another command starts, loads or stops cluster {name}", "wait for its end"
        ) from None
    except FileNotFoundError:
        raise UsageError(f"cluster {name} was stopped", "start it again") from None
    with held:
        cluster = record.known(name)
        _refuse(cluster, scale)
        if cluster.workload is not None:
            report(f"TPC-H at scale {scale:g} is loaded already")
            return cluster if cluster.quota_applied else quota.apply(cluster, where)
        cluster = quota.lift(cluster, where)
        helpers = Helpers(cluster, held, where)
        link.set_rate(helpers, None)
        folder = cluster.directory / record.WORK
        shutil.rmtree(folder, ignore_errors=True)
        try:
            report(f"making the rows of TPC-H at scale {scale:g}")
            _generate(folder, scale, helpers)
            engine(cluster.engine).load_tpch(cluster, folder, report)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            link.set_rate(helpers, cluster.limits.rate_bits)
        cluster = replace(cluster, workload=TPCH, scale=scale)
        record.write(cluster)
        return quota.apply(cluster, where)


def _refuse(cluster: Cluster, scale: float) -> None:
    if cluster.step != READY:
        raise UsageError(
            f"the start of cluster {cluster.name} was interrupted",
            f"tare cluster stop --name {cluster.name}, then start it again",
        )
    if cluster.workload is not None and cluster.scale != scale:
        raise UsageError(
            f"cluster {cluster.name} has TPC-H at scale {cluster.scale:g}",
            "stop it and start another one for other data",
        )
    down = [node.name for node in cluster.nodes if not engine(cluster.engine).is_ready(node)]
    if down:
        raise UsageError(
            f"nodes of cluster {cluster.name} do not answer: {', '.join(down)}",
            f"tare cluster status --name {cluster.name} shows their logs",
        )
    _refuse_small_disk(cluster.directory, scale)


def _refuse_small_disk(directory: Path, scale: float) -> None:
    """Raise NotEnoughDisk where the images could not grow: a node would see errors of its disk."""
    free = shutil.disk_usage(directory).free
    needed = round(3 * _BYTES_AT_1 * scale)
    if free < needed:
        raise NotEnoughDisk(
            f"the disk of {directory} has {free >> 20:,} MiB free, and files, tables and indexes of scale {scale:g} "
            f"need about {needed >> 20:,} MiB",
            "free space, or start the cluster with another --dir",
        )


def _generate(folder: Path, scale: float, helpers: Helpers) -> None:
    """Make the rows in a process that ends with the cluster, whatever happens to this one."""
    words = ("data", "tpch", "--to", str(folder), "--scale", f"{scale:g}", "--format", "csv")
    helpers.run(
        [sys.executable, "-m", "tare", *words], what="the rows of TPC-H could not be made", limit_s=GENERATE_S
    )
