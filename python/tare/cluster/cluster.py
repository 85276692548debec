"""Start, description and stop of a cluster."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tare.cluster import node as nodes_
from tare.cluster import removal
from tare.cluster.cgroups import Limits
from tare.cluster.engine import Engine
from tare.cluster.journal import ROOT, Journal, Kind, Resource, locked
from tare.cluster.node import Disk, Link, Missing, Node
from tare.cluster.postgresql import KIND as POSTGRESQL
from tare.cluster.postgresql import PostgreSQL
from tare.dbms.servers import owner as owners
from tare.errors import PrivilegeMissing, ServerFailed

ENGINES: dict[str, Callable[[], Engine]] = {POSTGRESQL: PostgreSQL}
_RECORD = "cluster.json"


@dataclass(frozen=True, slots=True)
class Request:
    engine: str
    workers: int
    name: str = "tare"
    limits: Limits = field(default_factory=Limits)
    link: Link = field(default_factory=Link)
    disk: Disk | None = None
    directory: Path | None = None  # parent of the cluster's folder


@dataclass(frozen=True, slots=True)
class Cluster:
    name: str
    engine: str
    version: str
    url: str
    directory: Path
    nodes: Sequence[Node]
    missing: Sequence[Missing]


def start(request: Request) -> Cluster:
    """Make the nodes, start the engine on them and return when it answers. Raises ServerFailed, PrivilegeMissing.

    Remains of a start that was killed are removed first; after a failure nothing stays."""
    _require_root()
    engine = ENGINES[request.engine]()
    with locked(request.name):
        journal = Journal(request.name)
        if (journal.folder / _RECORD).exists():
            raise ServerFailed(
                f"the cluster {request.name} exists already",
                f"stop it with `tare cluster stop --name {request.name}`, or choose another --name",
            )
        if journal.folder.exists():
            removal.remove(journal)
        journal.folder.mkdir(parents=True)
        try:
            cluster = _made(request, engine, journal)
            _write(journal, cluster)
        except BaseException:
            removal.remove(journal)
            raise
        return cluster


def stop(name: str) -> bool:
    """Kill the cluster's processes and remove all that it made. False if there is no such cluster."""
    _require_root()
    with locked(name):
        journal = Journal(name)
        if not journal.folder.exists():
            return False
        removal.remove(journal)
    return True


def names() -> list[str]:
    """Names of clusters that run, and of those whose start or stop was cut short."""
    return sorted(path.name for path in ROOT.glob("*") if path.is_dir())


def read(name: str) -> Cluster | None:
    """None if there is no such cluster, or its start was cut short."""
    try:
        values: dict[str, Any] = json.loads((ROOT / name / _RECORD).read_text())
    except FileNotFoundError:
        return None
    nodes = [Node(**{**node, "directory": Path(node["directory"])}) for node in values.pop("nodes")]
    missing = [Missing(**entry) for entry in values.pop("missing")]
    return Cluster(**{**values, "directory": Path(values["directory"]), "nodes": nodes, "missing": missing})


def find(name: str) -> Cluster:
    """Raises ServerFailed."""
    cluster = read(name)
    if cluster is None:
        raise ServerFailed(
            f"no cluster {name} runs here (there are: {', '.join(names()) or 'none'})",
            "start it with `tare cluster start postgresql --shards 4`",
        )
    return cluster


def _made(request: Request, engine: Engine, journal: Journal) -> Cluster:
    owner = owners.choose("postgres")
    root = _directory(request, journal)
    switch = nodes_.make_switch(journal, request.name)
    nodes: list[Node] = []
    missing: dict[str, Missing] = {}
    for number, place in enumerate(engine.places(request.workers), start=1):
        node = nodes_.make_node(
            journal, request.name, switch, number, place.name, place.role, root, request.limits
        )
        lacks = nodes_.shape(node, request.link)
        if request.disk is not None:
            lacks += nodes_.mount_disk(journal, node, request.disk)
        shutil.chown(node.directory, owner.uid, owner.gid)
        node.directory.chmod(0o700)
        missing |= {lack.ability: lack for lack in lacks}
        nodes.append(node)
    engine.lay_out(nodes, owner)
    engine.start(nodes, owner)
    engine.connect_nodes(nodes)
    url = engine.url(nodes)
    return Cluster(request.name, engine.kind, engine.version, url, root, nodes, list(missing.values()))


def _directory(request: Request, journal: Journal) -> Path:
    """Folder of the cluster, which its servers' user may enter but not change."""
    parent = (request.directory or Path(tempfile.gettempdir())).absolute()
    root = parent / f"tare-cluster-{request.name}-{os.getpid()}"
    if root.exists():
        raise ServerFailed(f"{root} exists already", "remove it, or choose another --dir")
    journal.note(Resource(Kind.DIRECTORY, str(root)))
    root.mkdir(parents=True)
    root.chmod(0o755)
    return root


def _write(journal: Journal, cluster: Cluster) -> None:
    temporary = journal.folder / "cluster.json.new"
    temporary.write_text(json.dumps(asdict(cluster), default=str, indent=2))
    temporary.replace(journal.folder / _RECORD)


def _require_root() -> None:
    if os.geteuid() != 0:
        raise PrivilegeMissing(
            "a cluster's nodes are network namespaces, which need root (CAP_SYS_ADMIN and CAP_NET_ADMIN)",
            "run `sudo tare cluster …`; the servers themselves run as an ordinary user",
        )
