"""Nodes of an observation: processes by id, by control group or by network namespace."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tare.dbms import local
from tare.errors import UsageError
from tare.meant import meant

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")
NAMESPACES = Path("/run/netns")
_KTHREADD = 2
_KINDS = ("pid", "cgroup", "netns")


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """A node as the user named it. `place`: ids with commas, a path, or a namespace."""

    name: str
    kind: str
    place: str


@dataclass(frozen=True, slots=True)
class Node:
    """Processes that are observed under one name, in ascending order of their ids."""

    name: str
    processes: tuple[int, ...]


def parse_node(text: str) -> NodeSpec:
    """Return the node that `NAME=KIND:PLACE` names. Raises UsageError."""
    name, has_name, rest = text.partition("=")
    kind, has_kind, place = rest.partition(":")
    if not (has_name and has_kind and name.strip() and place.strip()):
        raise UsageError(
            f"--node {text} is not NAME=KIND:PLACE",
            "write NAME=pid:P[,P], NAME=cgroup:PATH or NAME=netns:NAME",
        )
    if kind not in _KINDS:
        raise UsageError(
            f"--node {text}: there is no kind {kind!r}",
            meant(kind, _KINDS, "take pid, cgroup or netns"),
        )
    return NodeSpec(name.strip(), kind, place.strip())


def resolve(specs: Iterable[NodeSpec]) -> tuple[Node, ...]:
    """Return the nodes with the processes that they have now.

    Raises UsageError for a node without processes and for nodes that share a name or a process."""
    parents = parents_now()
    nodes: list[Node] = []
    for spec in specs:
        if any(node.name == spec.name for node in nodes):
            raise UsageError(
                f"two nodes are named {spec.name}",
                f"name all its processes at once, as in {spec.name}=pid:12,15, or give two names",
            )
        nodes.append(_node(spec, parents))
    check_apart(nodes)
    return tuple(nodes)


def check_apart(nodes: Iterable[Node]) -> None:
    """Raises UsageError where two nodes share a process."""
    owners: dict[int, str] = {}
    for node in nodes:
        for pid in node.processes:
            other = owners.setdefault(pid, node.name)
            if other != node.name:
                raise UsageError(
                    f"the nodes {other} and {node.name} share the process {pid} ({local.command_name(pid)})",
                    "give each process to one node; a process brings its descendants with it",
                )


def parents_now() -> dict[int, int]:
    """Parents of all processes of this moment."""
    found = ((pid, local.parent_of(pid)) for pid in local.processes())
    return {pid: parent for pid, parent in found if parent is not None}


def with_descendants(roots: Iterable[int], parents: Mapping[int, int]) -> set[int]:
    """Return the processes and all their descendants. Tare's own process and what it started are left out, unless
    they are among the roots."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    own = os.getpid()
    found = set(roots) & parents.keys()
    waiting = list(found)
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child != own and child not in found:
                found.add(child)
                waiting.append(child)
    return found


def check_process(pid: int, parents: Mapping[int, int]) -> None:
    """Raises UsageError for an id that is no process which can be observed."""
    if pid == os.getpid():
        raise UsageError(f"{pid} is Tare itself", "name the process of the database")
    if pid in parents and not _is_zombie(pid):
        return
    process = local.process_of_thread(pid)
    if process is not None and process != pid:
        raise UsageError(f"{pid} is a thread of the process {process}", f"name the process: {process}")
    raise UsageError(
        f"there is no process {pid}", "it has ended or never was; `ps -e` lists those that there are"
    )


def _node(spec: NodeSpec, parents: Mapping[int, int]) -> Node:
    if spec.kind == "pid":
        pids = _ids(spec)
        for pid in pids:
            check_process(pid, parents)
        return Node(spec.name, tuple(sorted(with_descendants(pids, parents))))
    find: Callable[[NodeSpec], set[int]] = _in_cgroup if spec.kind == "cgroup" else _in_namespace
    members = find(spec) & parents.keys() - {os.getpid()}
    pids = sorted(pid for pid in members if not _is_of_kernel(pid, parents))
    if not pids:
        raise UsageError(
            f"the node {spec.name} has no process: nothing runs in {spec.kind} {spec.place}",
            "start the server first, or correct the place",
        )
    return Node(spec.name, tuple(pids))


def _ids(spec: NodeSpec) -> list[int]:
    words = [word.strip() for word in spec.place.split(",")]
    wrong = next((word for word in words if not (word.isascii() and word.isdigit() and int(word))), None)
    if wrong is not None:
        raise UsageError(
            f"--node {spec.name}=pid:{spec.place}: {wrong!r} is no id of a process",
            f"write ids with commas between, as in {spec.name}=pid:12,15",
        )
    return [int(word) for word in words]


def _in_cgroup(spec: NodeSpec) -> set[int]:
    """Processes of a control group and of all groups below it, in version 1 as in version 2."""
    place = Path(spec.place)
    folders = [place, CGROUPS / spec.place.lstrip("/")] if place.is_absolute() else [CGROUPS / place]
    folder = next((one for one in folders if _has_members(one)), None)
    if folder is None:
        raise UsageError(
            f"--node {spec.name}=cgroup:{spec.place}: {folders[0]} is no control group",
            f"give a path below {CGROUPS}, such as cpu/NAME with version 1 or system.slice/NAME.service",
        )
    found: set[int] = set()
    for group in (folder, *_folders_below(folder)):
        found |= set(_members(group))
    return found


def _has_members(folder: Path) -> bool:
    return (folder / "cgroup.procs").is_file() or (folder / "tasks").is_file()


def _folders_below(folder: Path) -> Iterator[Path]:
    for root, names, _ in os.walk(folder):
        yield from (Path(root, name) for name in names)


def _members(group: Path) -> Iterator[int]:
    try:
        yield from map(int, (group / "cgroup.procs").read_text().split())
    except (
        OSError
    ):  # a threaded group of version 2 lists threads only; some folders of version 1 have tasks only
        for name in ("cgroup.threads", "tasks"):
            if (group / name).is_file():
                threads = map(int, (group / name).read_text().split())
                yield from (pid for tid in threads if (pid := local.process_of_thread(tid)) is not None)
                return


def _in_namespace(spec: NodeSpec) -> set[int]:
    """Processes whose network namespace is that one."""
    place = Path(spec.place) if "/" in spec.place else NAMESPACES / spec.place
    try:
        wanted = place.stat()
    except OSError as error:
        raise UsageError(
            f"--node {spec.name}=netns:{spec.place}: {place} cannot be read: {error.strerror}",
            "`ip netns list` shows the names; or give a path such as /proc/PID/ns/net",
        ) from None
    found, hidden = set(), 0
    for pid in local.processes():
        try:
            namespace = (PROC / str(pid) / "ns/net").stat()
        except PermissionError:
            hidden += 1
        except OSError:
            continue
        else:
            if (namespace.st_dev, namespace.st_ino) == (wanted.st_dev, wanted.st_ino):
                found.add(pid)
    if not found and hidden:
        raise UsageError(
            f"--node {spec.name}=netns:{spec.place}: the namespaces of {hidden} processes are hidden from this user",
            "run as root or as the server's user",
        )
    return found


def _is_of_kernel(pid: int, parents: Mapping[int, int]) -> bool:
    return pid == _KTHREADD or parents.get(pid) == _KTHREADD


def _is_zombie(pid: int) -> bool:
    return not local.is_alive(pid, local.born_at(pid))
