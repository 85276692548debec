"""Rights and programs that a cluster needs, checked before anything is made."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tare.errors import MissingProgram, UsageError

CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}
"""Bits of the capabilities in CapEff."""

_PROGRAMS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "losetup": "util-linux",
    "mount": "util-linux",
    "umount": "util-linux",
    "mkfs.ext4": "e2fsprogs",
}
_FOLDERS = ("/usr/sbin", "/sbin", "/usr/bin", "/bin")


def check(status: Path = Path("/proc/self/status")) -> None:
    """Raise UsageError without the rights, MissingProgram without a program."""
    lacking = lacking_capabilities(status.read_text())
    if lacking or os.geteuid() != 0:
        named = " and ".join(lacking or CAPABILITIES)
        raise UsageError(
            f"a cluster needs root with {named}: for network namespaces, mounts, loop devices and cgroups",
            "run it with sudo; in a container, run that with --privileged",
        )
    for name in _PROGRAMS:
        program(name)


def lacking_capabilities(status: str) -> list[str]:
    """Return the needed capabilities that /proc/PID/status does not show as effective."""
    line = next((line for line in status.splitlines() if line.startswith("CapEff:")), "CapEff: 0")
    effective = int(line.split()[1], 16)
    return [name for name, bit in CAPABILITIES.items() if not effective >> bit & 1]


def program(name: str) -> str:
    """Return the path of a program of the system. Raises MissingProgram."""
    found = shutil.which(name) or shutil.which(name, path=os.pathsep.join(_FOLDERS))
    if found is None:
        raise MissingProgram(
            f"the program {name} is not installed", f"install the system's package {_PROGRAMS[name]}"
        )
    return found
