"""Nodes of a trace: processes, a cgroup's processes, or a network namespace, each under a name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.dbms import local
from tare.errors import UsageError

NAMESPACES = Path("/run/netns")
CGROUPS = (Path("/sys/fs/cgroup"), *sorted(Path("/sys/fs/cgroup").glob("*")))


@dataclass(frozen=True, slots=True)
class Node:
    """`processes`: traced with all their descendants. `namespace`: inode number of a network namespace, all of whose
    processes are traced."""

    name: str
    processes: tuple[int, ...] = ()
    namespace: int | None = None


def node_of_process(name: str, pid: int) -> Node:
    """A process and its descendants. Raises UsageError if there is none."""
    if not Path("/proc", str(pid)).exists():
        raise UsageError(f"no process {pid}", "see the process ids with `ps`")
    return Node(name, (pid, *descendants(pid)))


def parse_node(text: str) -> Node:
    """NAME=pid:N, NAME=netns:NAME|PATH or NAME=cgroup:PATH. Raises UsageError."""
    name, equals, scope = text.partition("=")
    kind, colon, place = scope.partition(":")
    if not (name and equals and colon and place):
        raise _malformed(text)
    if kind == "pid":
        if not place.isascii() or not place.isdigit():
            raise _malformed(text)
        return node_of_process(name, int(place))
    if kind == "netns":
        return node_of_namespace(name, place)
    if kind == "cgroup":
        return _node_of_cgroup(name, place)
    raise _malformed(text)


def node_of_namespace(name: str, place: str) -> Node:
    file = Path(place) if "/" in place else NAMESPACES / place
    try:
        return Node(name, namespace=file.stat().st_ino)
    except OSError as error:
        raise UsageError(
            f"no network namespace {place}: {error.strerror}",
            "see `ip netns list`, or give /proc/PID/ns/net of one of its processes",
        ) from error


def _node_of_cgroup(name: str, place: str) -> Node:
    relative = place.lstrip("/")
    for root in CGROUPS:
        file = root / relative / "cgroup.procs"
        if relative and file.is_file():
            processes = [int(line) for line in file.read_text().split()]
            if not processes:
                raise UsageError(f"the cgroup {place} has no process", "start its programs first")
            return Node(name, tuple(dict.fromkeys(p for pid in processes for p in (pid, *descendants(pid)))))
    raise UsageError(f"no cgroup {place} in {CGROUPS[0]}", "give its path as /proc/PID/cgroup shows it")


def _malformed(text: str) -> UsageError:
    return UsageError(
        f"--node {text} names no node",
        "write NAME=pid:NUMBER, NAME=netns:NAME or NAME=cgroup:PATH",
    )


def check_apart(nodes: Sequence[Node]) -> None:
    """Raises UsageError if two nodes have a name, a process or a namespace in common."""
    names = [node.name for node in nodes]
    if len(set(names)) < len(names):
        raise UsageError("two nodes have the same name", "name each node once")
    processes = [pid for node in nodes for pid in node.processes]
    namespaces = [node.namespace for node in nodes if node.namespace is not None]
    if len(set(processes)) < len(processes) or len(set(namespaces)) < len(namespaces):
        raise UsageError("two nodes share a process or a namespace", "give each node its own")


def descendants(pid: int) -> list[int]:
    """Ids of all processes that the process and its children started, and that live."""
    children: dict[int, list[int]] = {}
    for child in local.processes():
        parent = local.parent_of(child)
        if parent is not None:
            children.setdefault(parent, []).append(child)
    found, waiting = [], [pid]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            found.append(child)
            waiting.append(child)
    return found
