"""`tare cluster`: clusters of a DBMS on one machine, each node with its own network namespace, cgroup and disk."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import cluster_speedup, options
from tare.cli.command import Commands
from tare.cli.values import pairs
from tare.errors import UsageError

if TYPE_CHECKING:
    from tare.cluster.status import ClusterStatus, NodeStatus

NOT_READY = 3
"""Exit code of `status` where a cluster is not ready, as that of `tare server status`."""

app = Commands(help="Start, load, measure and stop clusters of a DBMS on this machine.", no_args_is_help=True)
app.command()(cluster_speedup.speedup)


class EngineName(StrEnum):
    POSTGRESQL = "postgresql"


class Workload(StrEnum):
    TPCH = "tpch"


Name = Annotated[
    str, typer.Option("--name", metavar="NAME", help="Name of the cluster: small letters and digits.")
]


@app.command()
def start(
    engine: Annotated[EngineName, typer.Argument(help="DBMS to start.")],
    shards: Annotated[
        int, typer.Option("--shards", metavar="N", help="Number of shards, beside a coordinator.")
    ],
    name: Name = "main",
    dir_: Annotated[
        Path | None,
        typer.Option("--dir", help="Directory of the disks' files. Default: a new one in TMPDIR."),
    ] = None,
    cpus: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="CPU quota of each node in CPUs, the coordinator included. It applies once data are loaded. "
            "Default: none.",
        ),
    ] = None,
    quota_now: Annotated[
        bool,
        typer.Option("--quota-now", help="Apply the quota after the start, without `tare cluster load`."),
    ] = False,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Memory of each node, page cache included, such as 512MiB."),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="Rate of each node's link, each way, such as 100Mbit."),
    ] = None,
    read_ahead: Annotated[
        int | None,
        typer.Option(metavar="KIB", help="Read-ahead of each node's disk in KiB. Default: the kernel's."),
    ] = None,
    version: Annotated[
        str | None,
        typer.Option(
            metavar="MAJOR",
            help="Version of the shards, such as 18 or 15. Default: as in `tare server start`.",
        ),
    ] = None,
    disk_size: Annotated[
        float, typer.Option(metavar="GIB", help="Size of each node's disk in GiB. Its file is sparse.")
    ] = 8.0,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of all servers; repeatable."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Start a cluster and print the URL of its coordinator.

    Example: tare cluster start postgresql --shards 2 --cpus 0.4 --rate 100Mbit

    The coordinator runs a version that has postgres_fdw. Needs root. Nothing is reachable from outside of this machine.
    """
    from tare.cluster import units
    from tare.cluster.engine import engine as find
    from tare.cluster.record import Limits
    from tare.cluster.request import ClusterRequest
    from tare.cluster.start import start as start_cluster

    limits = Limits(
        disk_bytes=round(disk_size * (1 << 30)),
        cpus=cpus,
        memory_bytes=None if memory is None else units.size_bytes(memory, "--memory"),
        rate_bits=None if rate is None else units.rate_bits(rate, "--rate"),
        read_ahead_kib=read_ahead,
    )
    request = ClusterRequest(
        str(engine), name, shards, limits, dir_, version, pairs(setting or (), "--set"), quota_now
    )
    cluster = start_cluster(request, _report)
    url = find(cluster.engine).url(cluster.coordinator)
    if as_json:
        typer.echo(json.dumps({"name": cluster.name, "url": url, "directory": str(cluster.directory)}))
        return
    typer.echo(url)
    typer.echo(f"load data with: tare cluster load tpch --name {cluster.name} --scale 0.1", err=True)
    typer.echo(f"stop it with:   tare cluster stop --name {cluster.name}", err=True)


@app.command()
def load(
    workload: Annotated[Workload, typer.Argument(help="Data to load.")],
    scale: Annotated[
        float, typer.Option(min=0.01, max=10_000, metavar="N", help="Scale factor; 1 is about 1 GB.")
    ],
    name: Name = "main",
    as_json: options.AsJson = False,
) -> None:
    """Load a workload's tables, partitioned over the shards, then apply the CPU quota.

    Example: tare cluster load tpch --scale 0.1
    """
    from tare.cluster.load import load_tpch

    cluster = load_tpch(name, scale, _report)
    applied = cluster.limits.cpus if cluster.quota_applied else None
    if as_json:
        typer.echo(
            json.dumps({"name": name, "workload": str(workload), "scale": scale, "quota_cpus": applied})
        )
    else:
        quota = "without a CPU quota" if applied is None else f"with a quota of {applied:g} CPUs a node"
        typer.echo(f"cluster {name} has {workload} at scale {scale:g}, {quota}")


@app.command()
def status(
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="This cluster alone. Default: all.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show clusters and their nodes. The exit code is 3 if one of them is not ready."""
    from tare.cluster import status as states

    found = states.statuses() if name is None else [states.status(name)]
    if as_json:
        typer.echo(json.dumps([_as_json(one) for one in found], indent=2))
    elif not found:
        typer.echo("there is no cluster; start one with: tare cluster start postgresql --shards 2", err=True)
    else:
        for one in found:
            _show(one)
    if not all(one.is_ready for one in found):
        raise typer.Exit(NOT_READY)


@app.command()
def stop(
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="Name of the cluster.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Stop all clusters of this machine.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Stop a cluster and remove all of it, its data included. Safe to repeat.

    A start or a load that still runs is ended, too.
    """
    from tare.cluster import record, rights
    from tare.cluster.request import check_name
    from tare.cluster.stop import stop as stop_cluster
    from tare.cluster.stop import stop_all

    if (name is None) != every:
        have = ", ".join(record.names()) or "none"
        raise UsageError(f"give either --name or --all (clusters: {have})", "tare cluster stop --all")
    rights.check()
    if name is None:
        stopped = stop_all()
    else:
        check_name(name)
        stopped = [name] if stop_cluster(name) else []
    if as_json:
        typer.echo(json.dumps({"stopped": stopped}))
    elif stopped:
        typer.echo(f"stopped and removed: {', '.join(stopped)}")
    else:
        typer.echo("there is no cluster" if name is None else f"there is no cluster {name}")


def _report(step: str) -> None:
    if sys.stderr.isatty():
        typer.echo(f"{step} …", err=True)


def _show(found: ClusterStatus) -> None:
    from tare.cluster.units import rate_text, size_text

    cluster = found.cluster
    if cluster is None:
        typer.echo(f"{found.name}: its start was killed before anything was made")
        return
    state = "ready" if found.is_ready else "busy" if found.is_busy else f"not ready ({cluster.step})"
    data = f"{cluster.workload} at scale {cluster.scale:g}" if cluster.workload else "no data"
    typer.echo(f"{cluster.name}: {cluster.engine}, {state}, {data}, since {cluster.since}")
    typer.echo(f"  {found.url}")
    limits = cluster.limits
    memory = "no limit" if limits.memory_bytes is None else size_text(limits.memory_bytes)
    rate = "no limit" if limits.rate_bits is None else rate_text(limits.rate_bits)
    for one in found.nodes:
        quota = _quota_text(one, limits.cpus)
        typer.echo(
            f"  {one.node.name:4} {one.node.role:11} {cluster.engine} {one.node.version}: {_answer_text(one)}"
        )
        typer.echo(f"       namespace {one.node.namespace} ({one.node.address}), link {rate}")
        typer.echo(f"       cgroup {one.node.cgroup}, CPU {quota}, memory {memory}")
        read_ahead = "unknown" if one.read_ahead_kib is None else f"{one.read_ahead_kib} KiB"
        typer.echo(
            f"       disk {one.loop or 'none'} of {size_text(limits.disk_bytes)} at {one.node.mount}, "
            f"read-ahead {read_ahead}"
        )


def _answer_text(one: NodeStatus) -> str:
    if one.pid is None:
        return "its server has ended"
    return f"PID {one.pid}, {'answers' if one.answers else 'does not answer'}"


def _quota_text(one: NodeStatus, requested: float | None) -> str:
    if one.cpus is not None:
        return f"{one.cpus:g}, throttled {one.throttled_periods:,} times for {one.throttled_s:.2f} s in all"
    return "no quota" if requested is None else f"{requested:g} once data are loaded"


def _as_json(found: ClusterStatus) -> dict[str, object]:
    cluster = found.cluster
    if cluster is None:
        return {"name": found.name, "ready": False, "busy": found.is_busy, "nodes": []}
    return {
        "name": found.name,
        "engine": cluster.engine,
        "ready": found.is_ready,
        "busy": found.is_busy,
        "step": cluster.step,
        "since": cluster.since,
        "url": found.url,
        "directory": str(cluster.directory),
        "workload": cluster.workload,
        "scale": cluster.scale,
        "quota_cpus": cluster.limits.cpus,
        "quota_applied": cluster.quota_applied,
        "memory_bytes": cluster.limits.memory_bytes,
        "rate_bits": cluster.limits.rate_bits,
        "disk_bytes": cluster.limits.disk_bytes,
        "switch": cluster.switch,
        "nodes": [_node_as_json(one) for one in found.nodes],
    }


def _node_as_json(one: NodeStatus) -> dict[str, object]:
    return {
        "name": one.node.name,
        "role": one.node.role,
        "version": one.node.version,
        "pid": one.pid,
        "answers": one.answers,
        "processes": one.processes,
        "roles": dict(one.roles),
        "namespace": one.node.namespace,
        "namespace_inode": one.namespace_inode,
        "address": one.node.address,
        "cgroup": one.node.cgroup,
        "cpus": one.cpus,
        "throttled_periods": one.throttled_periods,
        "throttled_s": one.throttled_s,
        "loop": one.loop,
        "mount": str(one.node.mount),
        "read_ahead_kib": one.read_ahead_kib,
    }
