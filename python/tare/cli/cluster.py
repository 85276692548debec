"""`tare cluster`: engines with several nodes on this machine, each node a network namespace."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tare.cli import destinations, options
from tare.cli.command import Commands
from tare.cli.help import ADVANCED
from tare.errors import UsageError

if TYPE_CHECKING:
    from tare.cluster.cluster import Cluster

STOPPED = 3
"""Exit code of `status`, as of `tare server status`."""

app = Commands(
    help="Start, show and stop clusters whose nodes are network namespaces of this machine. Needs root.\n\n"
    "Example: tare cluster start postgresql --shards 4",
    no_args_is_help=True,
)


class EngineName(StrEnum):
    POSTGRESQL = "postgresql"


Name = Annotated[
    str, typer.Option(metavar="NAME", help="Name of the cluster, of at most 20 letters, digits and hyphens.")
]


@app.command()
def start(
    engine: Annotated[EngineName, typer.Argument(metavar="ENGINE", help="Engine to start: postgresql.")],
    shards: Annotated[
        int, typer.Option(min=1, max=64, metavar="N", help="Number of shards beside the coordinator.")
    ] = 4,
    name: Name = "tare",
    cpus: Annotated[
        float | None,
        typer.Option(min=0.05, metavar="N", help="CPU quota of each node, in CPUs. Default: none."),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Memory limit of each node: 512MB, 2GB. Default: none."),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE", help="Rate of each node's link, as tc reads it: 100mbit. Default: none."
        ),
    ] = None,
    delay: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Delay of each node's link, as tc reads it: 1ms. Default: none."),
    ] = None,
    disk: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Give each node a loop device of this size with its own read-ahead. The file is sparse. "
            "Default: a plain folder.",
        ),
    ] = None,
    read_ahead: Annotated[
        int | None,
        typer.Option(min=0, metavar="KIB", help="Read-ahead of each node's loop device. Needs --disk."),
    ] = None,
    dir_: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            metavar="DIR",
            help="Folder in which the cluster's folder is made. Default: the temporary folder.",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    json: options.Json = None,
) -> None:
    """Start a cluster and print the URL of its coordinator, which every command takes as --db.

    Example: tare cluster start postgresql --shards 4 --cpus 0.4 --memory 1GB
    """
    from tare.cluster import cluster as clusters
    from tare.cluster.cgroups import Limits
    from tare.cluster.node import Disk, Link

    destinations.check({"json": json})
    if read_ahead is not None and disk is None:
        raise UsageError("--read-ahead is for nodes with a disk of their own", "add --disk 8GB")
    request = clusters.Request(
        engine=engine,
        workers=shards,
        name=_checked(name),
        limits=Limits(cpus, _size("--memory", memory)),
        link=Link(rate, delay),
        disk=None if disk is None else Disk(_size("--disk", disk) or 0, read_ahead),
        directory=dir_,
    )
    cluster = clusters.start(request)
    if destinations.write_json(_as_json(cluster), json):
        typer.echo(cluster.url)
        for missing in cluster.missing:
            typer.echo(f"missing: {missing.ability}: {missing.reason}", err=True)
        typer.echo(f"stop it with: tare cluster stop --name {cluster.name}", err=True)


@app.command()
def status(name: Name = "tare", json: options.Json = None) -> None:
    """Show a cluster's nodes and whether each answers: 0 is the exit code if all do, else 3.

    Example: tare cluster status
    """
    from tare.cluster import cgroups
    from tare.cluster import cluster as clusters

    destinations.check({"json": json})
    cluster = clusters.find(_checked(name))
    engine = clusters.ENGINES[cluster.engine]()
    ready = {node.name: engine.is_ready(node) for node in cluster.nodes}
    document = {
        **_as_json(cluster),
        "ready": ready,
        "throttled_s": {node.name: cgroups.throttled_s(node.cgroup) for node in cluster.nodes},
    }
    if destinations.write_json(document, json):
        typer.echo(f"{cluster.engine} {cluster.version}\n  url: {cluster.url}\n  dir: {cluster.directory}")
        for node in cluster.nodes:
            state = "ready" if ready[node.name] else "does not answer"
            typer.echo(f"  {node.name}  {node.address}  {node.role}  {state}")
        for missing in cluster.missing:
            typer.echo(f"  missing: {missing.ability}: {missing.reason}")
    raise typer.Exit(0 if all(ready.values()) else STOPPED)


@app.command()
def stop(name: Name = "tare", json: options.Json = None) -> None:
    """Stop a cluster and remove its data, processes, namespaces, mounts and cgroups, also after a crash.

    Example: tare cluster stop
    """
    from tare.cluster import cluster as clusters

    destinations.check({"json": json})
    stopped = clusters.stop(_checked(name))
    if destinations.write_json({"name": name, "stopped": stopped}, json):
        typer.echo(f"stopped and removed {name}" if stopped else f"there is no cluster {name}")


def _checked(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,19}", name):
        raise UsageError(
            f"--name {name!r} is no name of a cluster", "use at most 20 lower-case letters, digits, hyphens"
        )
    return name


def _size(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)(MB|GB)", text)
    if match is None or int(match[1]) == 0:
        raise UsageError(f"{option} {text} is no size", "write for example 512MB or 2GB")
    return int(match[1]) * {"MB": 2**20, "GB": 2**30}[match[2]]


def _as_json(cluster: Cluster) -> dict[str, object]:
    return {
        "name": cluster.name,
        "engine": cluster.engine,
        "version": cluster.version,
        "url": cluster.url,
        "directory": str(cluster.directory),
        "nodes": [
            {"name": node.name, "role": node.role, "address": node.address, "namespace": node.namespace}
            for node in cluster.nodes
        ],
        "missing": [{"ability": lack.ability, "reason": lack.reason} for lack in cluster.missing],
    }
