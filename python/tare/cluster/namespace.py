"""Network namespaces by name, in the place where iproute2 looks for them.

They are made by unshare, since `ip netns add` would leave a mount of /run/netns behind. `ip netns exec` would hide the
cgroups: it mounts /sys again.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tare.cluster import rights
from tare.errors import ServerFailed

if TYPE_CHECKING:
    from tare.cluster.helpers import Helpers

ROOT = Path("/run/netns")


def path(name: str) -> Path:
    return ROOT / name


def make(name: str, helpers: Helpers) -> None:
    """Make a namespace. Raises ServerFailed, also where another has made one of this name."""
    try:
        ROOT.mkdir(mode=0o755, exist_ok=True)
        os.close(os.open(path(name), os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444))
    except OSError as error:
        raise ServerFailed(
            f"the network namespace {name} could not be made: {error}", "choose another --name"
        ) from error
    helpers.run(
        [rights.program("unshare"), f"--net={path(name)}", "true"],
        what=f"the network namespace {name} could not be made",
    )


def inode(name: str) -> int | None:
    """Number by which the kernel knows the namespace; None if it has gone."""
    with suppress(OSError):
        return path(name).stat().st_ino
    return None


def named(prefix: str) -> list[str]:
    """Return the namespaces whose name begins so."""
    return sorted(found.name for found in ROOT.glob(f"{prefix}*"))


def remove(name: str) -> None:
    """Remove a namespace, also one that was made half. The kernel ends it with its last process."""
    file = path(name)
    while os.path.ismount(file):  # Path.is_mount knows directories only
        subprocess.run(
            [rights.program("umount"), "--lazy", file],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    file.unlink(missing_ok=True)
