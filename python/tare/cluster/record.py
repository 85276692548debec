"""State file of a cluster: the names of all that may exist of it, written before any of it is made."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from tare import files
from tare.errors import ServerFailed, UsageError

ROOT = Path("/var/lib/tare/clusters")
"""Folder of all clusters of this machine. It outlives a restart of the machine, as the images of disks do."""

FORMAT = 1
COORDINATOR, SHARD = "coordinator", "shard"
WORK = "work"
"""Folder in the directory of a cluster for files that are needed for a while."""

_NAME = "cluster.json"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of each node; None: no limit of its own."""

    disk_bytes: int
    cpus: float | None = None
    memory_bytes: int | None = None
    rate_bits: int | None = None
    read_ahead_kib: int | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """Node of a cluster: a server, and the names of what is its own."""

    name: str  # "c", "s1", "s2", …
    role: str
    namespace: str
    cgroup: str
    address: str
    image: Path  # file below its loop device
    mount: Path  # its disk
    version: str
    binaries: Path

    @property
    def data(self) -> Path:
        return self.mount / "data"

    @property
    def sockets(self) -> Path:
        return self.mount / "socket"

    @property
    def log(self) -> Path:
        return self.mount / "log" / "server.log"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Cluster as it was requested, and how far it has come."""

    name: str
    tag: str  # part of all names, so that no other program has them
    engine: str
    index: int  # third byte of the addresses
    directory: Path
    directory_existed: bool
    switch: str  # namespace of the bridge
    helpers: str  # cgroup of programs that belong to no node
    limits: Limits
    settings: Mapping[str, str]
    nodes: tuple[Node, ...]
    since: str
    step: str = ""  # what is being made, or `READY`
    workload: str | None = None
    scale: float | None = None
    quota_applied: bool = False
    throttled_before: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Throttled periods and ns of each node when its quota was set."""

    @property
    def coordinator(self) -> Node:
        return next(node for node in self.nodes if node.role == COORDINATOR)

    @property
    def shards(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.role == SHARD)


READY = "ready"
"""Last step of a start."""


def folder(name: str) -> Path:
    return ROOT / name


def lock_file(name: str) -> Path:
    """File whose lock is held by whoever starts, loads or stops the cluster, and by the programs that do it."""
    return folder(name) / "lock"


def registry_file() -> Path:
    """File whose lock is held while a name and an index are taken or given back."""
    return ROOT / "registry"


def write(cluster: Cluster) -> None:
    """Write the record, whole or not at all. Raises ExportFailed."""
    values = {"format": FORMAT, **asdict(cluster)}
    files.write(folder(cluster.name) / _NAME, json.dumps(values, indent=2, default=str))


def read(name: str) -> Cluster | None:
    """Return the record of a cluster; None if there is none, or nothing of it was made. Raises ServerFailed."""
    path = folder(name) / _NAME
    try:
        values: dict[str, Any] = json.loads(path.read_text())
        if values.pop("format") != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        values["directory"] = Path(values["directory"])
        values["limits"] = Limits(**values["limits"])
        values["nodes"] = tuple(_node(node) for node in values["nodes"])
        values["throttled_before"] = {
            name: (periods, ns) for name, (periods, ns) in values["throttled_before"].items()
        }
        return Cluster(**{one.name: values[one.name] for one in fields(Cluster)})
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise ServerFailed(
            f"{path} cannot be read: {error!r}",
            "another version of Tare may have written it: stop the cluster with that one",
        ) from error


def known(name: str) -> Cluster:
    """Return the record of a cluster. Raises UsageError if there is no such cluster."""
    cluster = read(name)
    if cluster is None:
        have = ", ".join(names()) or "none"
        raise UsageError(f"there is no cluster {name} (clusters: {have})", "see: tare cluster status")
    return cluster


def names() -> list[str]:
    """Return the names of all clusters, also of those that were left by a killed command."""
    return sorted(path.name for path in ROOT.glob("*") if path.is_dir())


def remove(name: str) -> None:
    shutil.rmtree(folder(name), ignore_errors=True)


def _node(values: dict[str, Any]) -> Node:
    return Node(**values | {name: Path(values[name]) for name in ("image", "mount", "binaries")})
