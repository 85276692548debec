"""Start of a cluster: its name is taken and all is recorded first, then namespaces, cgroups, disks and servers."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from tare.cluster import cgroup, disk, link, lock, namespace, quota, record, rights
from tare.cluster.engine import Engine, Report, engine
from tare.cluster.helpers import Helpers
from tare.cluster.record import COORDINATOR, READY, SHARD, Cluster, Node
from tare.cluster.request import ClusterRequest
from tare.cluster.stop import clear
from tare.errors import ServerFailed, UsageError
from tare.interruption import deferred

REGISTRY_WAIT_S = 10.0
PREFIX = "tare"


def start(request: ClusterRequest, report: Report = lambda step: None) -> Cluster:
    """Start a cluster and return its record. `report` receives each step, once it is recorded.

    A start that fails leaves nothing. Raises UsageError before anything is made, MissingProgram, ServerFailed."""
    request.check()
    rights.check()
    chosen, where = engine(request.engine), cgroup.layout()
    cluster, held = _claim(request, chosen, where)
    with held:
        try:
            return _make(cluster, request, chosen, Helpers(cluster, held, where), report)
        except BaseException:
            with deferred():
                clear(cluster, where)
            raise


def _claim(request: ClusterRequest, chosen: Engine, where: cgroup.Layout) -> tuple[Cluster, lock.Lock]:
    """Take the name, and record all that is going to be made. Return the record and the cluster's lock."""
    record.ROOT.mkdir(mode=0o755, parents=True, exist_ok=True)
    programs = chosen.programs(request.version)
    with lock.take(record.registry_file(), REGISTRY_WAIT_S):
        _refuse_taken(request.name, where)
        others = [other for name in record.names() if (other := record.read(name)) is not None]
        if request.limits.cpus is not None:
            quota.refuse_too_much(request.limits.cpus, request.shards + 1, others)
        index = link.free_index(other.index for other in others)
        if index is None:
            raise UsageError("all networks of clusters are taken", "stop one: tare cluster stop --name NAME")
        tag = secrets.token_hex(2)
        directory, existed = request.place(tag, chosen.owner())
        names = ["c", *(f"s{number}" for number in range(1, request.shards + 1))]
        nodes = tuple(
            Node(
                name=name,
                role=SHARD if place else COORDINATOR,
                namespace=_full(request.name, tag, name),
                cgroup=_full(request.name, tag, name),
                address=link.address(index, place),
                image=directory / f"{name}.img",
                mount=directory / name,
                version=programs[min(place, 1)].version,
                binaries=programs[min(place, 1)].binaries,
            )
            for place, name in enumerate(names)
        )
        cluster = Cluster(
            name=request.name,
            tag=tag,
            engine=request.engine,
            index=index,
            directory=directory,
            directory_existed=existed,
            switch=_full(request.name, tag, "switch"),
            helpers=_full(request.name, tag, "helpers"),
            limits=request.limits,
            settings=dict(request.settings),
            nodes=nodes,
            since=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        record.folder(request.name).mkdir(mode=0o700)
        held = lock.take(record.lock_file(request.name))
        record.write(cluster)
        return cluster, held


def _refuse_taken(name: str, where: cgroup.Layout) -> None:
    """Raise UsageError if a cluster, or anything of another program, has the name."""
    if record.folder(name).exists():
        raise UsageError(
            f"there is a cluster {name} already",
            f"choose another --name, or end it: tare cluster stop --name {name}",
        )
    prefix = f"{PREFIX}-{name}-"
    foreign = [f"the network namespace {found}" for found in namespace.named(prefix)]
    foreign += [f"the cgroup {found}" for found in cgroup.named(prefix, where)]
    if foreign:
        raise UsageError(
            f"{foreign[0]} exists, and no cluster of Tare's has made it",
            "choose another --name, or remove it by the means that made it",
        )


def _full(name: str, tag: str, part: str) -> str:
    return f"{PREFIX}-{name}-{tag}-{part}"


def _make(
    cluster: Cluster, request: ClusterRequest, chosen: Engine, helpers: Helpers, report: Report
) -> Cluster:
    steps: list[tuple[str, Callable[[], None]]] = [
        ("making cgroups", lambda: _make_groups(helpers)),
        ("making namespaces", lambda: _make_namespaces(helpers)),
        ("linking nodes", lambda: link.make(helpers)),
        ("making disks", lambda: _make_disks(helpers, chosen)),
        ("making data directories", lambda: chosen.lay_out(helpers)),
        ("starting servers", lambda: chosen.start(helpers)),
    ]
    for step, work in steps:
        record.write(replace(cluster, step=step))
        report(step)
        work()
    cluster = replace(cluster, step=READY)
    record.write(cluster)
    return quota.apply(cluster, helpers.layout) if request.quota_now else cluster


def _make_groups(helpers: Helpers) -> None:
    helpers.group(None).make()
    for node in helpers.cluster.nodes:
        group = helpers.group(node)
        group.make()
        if helpers.cluster.limits.memory_bytes is not None:
            group.set_memory(helpers.cluster.limits.memory_bytes)


def _make_namespaces(helpers: Helpers) -> None:
    for name in (helpers.cluster.switch, *(node.namespace for node in helpers.cluster.nodes)):
        namespace.make(name, helpers)


def _make_disks(helpers: Helpers, chosen: Engine) -> None:
    directory: Path = helpers.cluster.directory
    try:
        directory.mkdir(mode=0o711, parents=True, exist_ok=helpers.cluster.directory_existed)
    except OSError as error:
        raise ServerFailed(f"{directory} could not be made: {error}", "choose another --dir") from error
    for node in helpers.cluster.nodes:
        disk.make(node, chosen.owner(), helpers)
