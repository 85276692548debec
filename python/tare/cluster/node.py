"""Node of a cluster: a network namespace on the cluster's bridge, a cgroup, and a folder for data.

The bridge is in a namespace of its own, so no address, link or route of a cluster appears on the machine itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.cluster import cgroups, system
from tare.cluster.cgroups import Limits
from tare.cluster.journal import Journal, Kind, Resource
from tare.cluster.removal import NAMESPACES, loop_devices
from tare.dbms.servers.owner import Owner
from tare.errors import ServerFailed

NETWORK = "10.77.0.0/24"


@dataclass(frozen=True, slots=True)
class Link:
    """Shape of a node's link."""

    rate: str | None = None  # as `tc` reads it: "100mbit"
    delay: str | None = None  # "1ms"


@dataclass(frozen=True, slots=True)
class Disk:
    """Disk of a node: a file of its own behind a loop device."""

    size_bytes: int
    read_ahead_kb: int | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """Ability that was requested and that this machine lacks."""

    ability: str
    reason: str


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    role: str
    namespace: str
    address: str
    cgroup: str
    directory: Path

    def command(self, owner: Owner, command: Sequence[str | Path]) -> list[str | Path]:
        """Command line that runs `command` on the node as an ordinary user.

        The process has its own IPC namespace and /dev/shm: shared memory of a killed server ends with it. It enters
        the cgroup first, so that all that it starts is counted and can be killed."""
        groups = [folder / "cgroup.procs" for folder in cgroups.folders(self.cgroup)]
        enter = "".join(f"echo $$ > {group} && " for group in groups)
        script = (
            f"{enter}mount -t tmpfs tmpfs /dev/shm && exec setpriv --reuid={owner.uid} --regid={owner.gid} "
            '--clear-groups "$@"'
        )
        enter_network = ("nsenter", f"--net={NAMESPACES / self.namespace}")
        return [*enter_network, "unshare", "--ipc", "--mount", "sh", "-c", script, "sh", *command]


def make_switch(journal: Journal, cluster: str) -> str:
    """Namespace that holds the bridge."""
    namespace = f"tare-{cluster}-switch"
    _make_namespace(journal, namespace)
    system.run("ip", "-n", namespace, "link", "add", "bridge", "type", "bridge")
    system.run("ip", "-n", namespace, "link", "set", "bridge", "up")
    return namespace


def make_node(
    journal: Journal, cluster: str, switch: str, number: int, name: str, role: str, root: Path, limits: Limits
) -> Node:
    namespace = f"tare-{cluster}-{name}"
    address = f"10.77.0.{number}"
    node = Node(name, role, namespace, address, namespace, root / name)
    _make_namespace(journal, namespace)
    inner = ("ip", "-n", namespace)
    pair = ("link", "add", f"port{number}", "type", "veth", "peer", "name", "eth0", "netns", namespace)
    system.run("ip", "-n", switch, *pair)
    system.run("ip", "-n", switch, "link", "set", f"port{number}", "master", "bridge", "up")
    system.run(*inner, "address", "add", f"{address}/24", "dev", "eth0")
    system.run(*inner, "link", "set", "eth0", "up")
    system.run(*inner, "link", "set", "lo", "up")
    for folder in cgroups.folders(node.cgroup):
        journal.note(Resource(Kind.CGROUP, str(folder)))
        cgroups.make(folder, limits)
    node.directory.mkdir(mode=0o700)
    return node


def shape(node: Node, link: Link) -> list[Missing]:
    """Shape what the node sends. Return the abilities that the kernel lacks."""
    missing = []
    queue = ("tc", "-n", node.namespace, "qdisc", "add", "dev", "eth0")
    parent: tuple[str, ...] = ("root",)
    if link.rate is not None:
        try:
            bucket = ("handle", "1:", "tbf", "rate", link.rate, "burst", "128kb", "latency", "50ms")
            system.run(*queue, *parent, *bucket)
            parent = ("parent", "1:1")
        except ServerFailed as error:
            missing.append(Missing("link rate (tbf)", error.what))
    if link.delay is not None:
        try:
            system.run(*queue, *parent, "netem", "delay", link.delay)
        except ServerFailed as error:
            missing.append(Missing("link delay (netem)", error.what))
    return missing


def mount_disk(journal: Journal, node: Node, disk: Disk) -> list[Missing]:
    """Put the node's folder on a loop device of its own. Return what the machine lacks; the folder is plain then."""
    image = node.directory.with_suffix(".disk")
    with image.open("wb") as file:
        os.truncate(file.fileno(), disk.size_bytes)  # sparse
    try:
        system.run("mkfs.ext4", "-q", "-F", "-m", "0", image)
        journal.note(Resource(Kind.LOOP, str(image)))
        device = system.run("losetup", "--direct-io=on", "--find", "--show", image).strip()
        journal.note(Resource(Kind.MOUNT, str(node.directory)))
        system.run("mount", "-o", "noatime", device, node.directory)
    except ServerFailed as error:
        for device in loop_devices(image):
            system.run("losetup", "--detach", device)
        return [Missing("disk of its own (loop device)", error.what)]
    if disk.read_ahead_kb is not None:
        setting = Path("/sys/block", Path(device).name, "queue/read_ahead_kb")
        journal.note(Resource(Kind.READ_AHEAD, str(setting), setting.read_text().strip()))
        setting.write_text(str(disk.read_ahead_kb))
    return []


def _make_namespace(journal: Journal, name: str) -> None:
    journal.note(Resource(Kind.NAMESPACE, name))
    system.run("ip", "netns", "add", name)
