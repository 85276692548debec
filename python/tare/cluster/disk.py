"""Disk of a node: ext4 in a sparse file below a loop device, with a read-ahead and counters of its own."""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tare.cluster import rights
from tare.cluster.record import Node
from tare.dbms import local
from tare.dbms.servers.owner import Owner
from tare.errors import ServerFailed

if TYPE_CHECKING:
    from tare.cluster.helpers import Helpers

BLOCKS = Path("/sys/block")
_FREE_S = 3.0
_PAUSE_S = 0.005
_SHUT_DOWN = 0x8004587D  # EXT4_IOC_SHUTDOWN
_WITHOUT_LOG = 2


def make(node: Node, owner: Owner, helpers: Helpers) -> None:
    """Make the image, its file system and its loop device, and mount it. Raises ServerFailed."""
    limits = helpers.cluster.limits
    what = f"the disk of node {node.name} could not be made"
    try:
        with node.image.open("xb") as image:
            image.truncate(limits.disk_bytes)
        node.mount.mkdir()
    except OSError as error:
        raise ServerFailed(f"{what}: {error}", "choose another --dir, with free space") from error
    # Tables of inodes are written now: the kernel would write them while the cluster is measured.
    extended = f"lazy_itable_init=0,lazy_journal_init=0,root_owner={owner.uid}:{owner.gid}"
    helpers.run([rights.program("mkfs.ext4"), "-q", "-F", "-m", "0", "-E", extended, node.image], what=what)
    device = helpers.run(
        [rights.program("losetup"), "--find", "--show", "--direct-io=on", node.image],
        what=what,
        advice="choose a --dir on a disk that allows direct I/O (ext4, xfs), not in memory",
    )
    if limits.read_ahead_kib is not None:
        (_queue(Path(device).name) / "read_ahead_kb").write_text(str(limits.read_ahead_kib))
    helpers.run(
        [rights.program("mount"), "-t", "ext4", "-o", "noatime,nodev,nosuid", device, node.mount], what=what
    )
    node.mount.chmod(0o700)


def loops(image: Path) -> list[str]:
    """Return the loop devices over this image, also where its file was deleted."""
    names = {str(image), f"{image} (deleted)"}
    found = []
    for file in BLOCKS.glob("loop*/loop/backing_file"):
        with suppress(OSError):
            if file.read_text().rstrip("\n") in names:
                found.append(file.parents[1].name)
    return sorted(found)


def read_ahead_kib(image: Path) -> int | None:
    """Read-ahead of the loop device over this image; None if there is none."""
    for name in loops(image):
        with suppress(OSError, ValueError):
            return int((_queue(name) / "read_ahead_kb").read_text())
    return None


def remove(node: Node) -> None:
    """Unmount the disk, free its loop device and delete its image, as far as they exist.

    Raises ServerFailed if somebody uses the disk."""
    until = time.monotonic() + _FREE_S
    _drop_unwritten(node)
    while os.path.ismount(node.mount):
        if not _quiet("umount", node.mount) and time.monotonic() > until:
            raise _in_use(node)
        if os.path.ismount(node.mount):
            time.sleep(_PAUSE_S)
    while names := loops(node.image):
        for name in names:
            _quiet("losetup", "--detach", f"/dev/{name}")
        if loops(node.image) and time.monotonic() > until:
            raise _in_use(node)
        time.sleep(_PAUSE_S)
    node.image.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        shutil.rmtree(node.mount)


def users(mount: Path) -> list[int]:
    """Return the processes that have a file, or their working directory, on a disk."""
    return [pid for pid in local.processes() if _uses(pid, mount)]


def _uses(pid: int, mount: Path) -> bool:
    links = [f"/proc/{pid}/cwd", f"/proc/{pid}/root", f"/proc/{pid}/exe"]
    with suppress(OSError):
        links += [f"/proc/{pid}/fd/{name}" for name in os.listdir(f"/proc/{pid}/fd")]  # noqa: PTH208
    for link in links:
        with suppress(OSError):
            if Path(os.readlink(link)).is_relative_to(mount):  # noqa: PTH115
                return True
    return False


def _drop_unwritten(node: Node) -> None:
    """Have the file system forget what it has not written yet: its data are about to be deleted."""
    if os.path.ismount(node.mount):
        with suppress(OSError):  # not every kernel can
            descriptor = os.open(node.mount, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.ioctl(descriptor, _SHUT_DOWN, struct.pack("I", _WITHOUT_LOG))
            finally:
                os.close(descriptor)


def _in_use(node: Node) -> ServerFailed:
    pids = ", ".join(map(str, users(node.mount))) or "unknown, perhaps in another mount namespace"
    return ServerFailed(
        f"the disk of node {node.name} ({node.mount}) is in use by other processes (PID {pids})",
        "end them, then repeat: tare cluster stop",
    )


def _queue(device: str) -> Path:
    return BLOCKS / device / "queue"


def _quiet(name: str, *arguments: str | Path) -> bool:
    command = [rights.program(name), *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode == 0
